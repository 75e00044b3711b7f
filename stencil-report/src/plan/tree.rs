//! Trees as text, with branches of box-drawing characters.

use crate::table::{WIDTH, wrap};

/// A label and the labels below it. A name may stand in front of a label; labels beside each other are aligned by it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tree {
    name: String,
    text: String,
    children: Vec<Tree>,
}

impl Tree {
    /// A branch.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Tree { text: text.into(), ..Tree::default() }
    }

    /// A leaf with a name.
    pub(super) fn leaf(name: &str, text: impl Into<String>) -> Self {
        Tree { name: name.to_string(), text: text.into(), children: Vec::new() }
    }

    /// Adds what is below.
    pub(super) fn push(&mut self, child: Tree) {
        self.children.push(child);
    }

    /// The lines, at most as wide as a page where words allow it.
    pub(super) fn print(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, ("", ""), 0);
        out
    }

    /// `first` stands before the first line, `next` before all others.
    fn write(&self, out: &mut String, (first, next): (&str, &str), column: usize) {
        let name = match self.name.is_empty() {
            true => String::new(),
            false => format!("{:<column$}  ", self.name),
        };
        let stem = if self.children.is_empty() { "" } else { "│" };
        let indent = name.chars().count();
        let width = WIDTH.saturating_sub(next.chars().count() + indent.max(2)).max(20);
        for (at, line) in wrap(&self.text, width).iter().enumerate() {
            let line = match at {
                0 => format!("{first}{name}{line}"),
                _ => format!("{next}{stem:<indent$}{line}", indent = indent.max(2)),
            };
            out.push_str(line.trim_end());
            out.push('\n');
        }
        let names = self.children.iter().map(|child| child.name.chars().count());
        let column = names.max().unwrap_or(0);
        let last = self.children.len().saturating_sub(1);
        for (at, child) in self.children.iter().enumerate() {
            let (branch, below) = match at == last {
                true => ("└─ ", "   "),
                false => ("├─ ", "│  "),
            };
            let (branch, below) = (format!("{next}{branch}"), format!("{next}{below}"));
            child.write(out, (&branch, &below), column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_join_and_names_are_aligned() {
        let mut tree = Tree::new("step");
        let mut kernel = Tree::new("kernel");
        kernel.push(Tree::leaf("bytes", "1"));
        kernel.push(Tree::leaf("registers", ["word"; 40].join(" ")));
        tree.push(kernel);
        tree.push(Tree::new("end"));
        let text = tree.print();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..3], ["step", "├─ kernel", "│  ├─ bytes      1"]);
        assert!(lines[3].starts_with("│  └─ registers  word"));
        assert!(lines[4].starts_with("│                word"), "{text}");
        assert_eq!(lines.last(), Some(&"└─ end"));
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH));
    }
}
