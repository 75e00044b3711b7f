//! Puts many faults into one program: a function with faults keeps its body, has it once more with each of them, and chooses by a
//! number in the environment. So all faults are compiled together.
//!
//! The source is formatted, so a function begins with a line that names it and ends with the next brace at its depth.

use super::list::Fault;

/// The variable that holds the number of the fault that a program runs with.
pub(super) const VARIABLE: &str = "STENCIL_FAULT";

/// Returns the number of the fault that a program runs with.
fn number() -> String {
    format!(
        "static FAULT: std::sync::LazyLock<usize> = std::sync::LazyLock::new(|| \
         std::env::var(\"{VARIABLE}\").ok().and_then(|n| n.parse().ok()).unwrap_or(0));"
    )
}

/// Returns the text with such faults as can be chosen at run time, and their numbers. Numbers begin with 1.
///
/// Outside of functions such a fault is an expression in a closure. Other faults in a constant, in a `const fn` or in a
/// function that returns an `impl` type cannot be chosen.
pub(super) fn switch(text: &str, faults: &[(usize, &Fault)]) -> (String, Vec<usize>) {
    let lines: Vec<&str> = text.lines().collect();
    let mut bodies: Vec<(Body, Vec<(usize, &Fault)>)> = Vec::new();
    let (mut in_closures, mut numbers) = (Vec::new(), Vec::new());
    for (number, fault) in faults {
        let Some(at) = text.find(&fault.from) else {
            continue;
        };
        let line = text[..at].matches('\n').count();
        let is_in_closure = is_in_closure(&lines[..line], lines[line]);
        match Body::around(&lines, line, fault.from.lines().count()) {
            Some(body) => match bodies.iter_mut().find(|(known, _)| *known == body) {
                Some((_, all)) => all.push((*number, fault)),
                None => bodies.push((body, vec![(*number, fault)])),
            },
            None if is_in_closure => in_closures.push((*number, fault)),
            None => continue,
        }
        numbers.push(*number);
    }
    bodies.sort_by_key(|(body, _)| body.first);
    let mut out = String::new();
    let mut next = 0;
    for (body, faults) in &bodies {
        for line in &lines[next..body.first] {
            out += &format!("{line}\n");
        }
        out += &body.with(&lines, faults);
        next = body.end;
    }
    for line in &lines[next..] {
        out += &format!("{line}\n");
    }
    for (at, fault) in in_closures {
        let Fault { from, to, .. } = fault;
        let both = format!("{{ {} if *FAULT == {at} {{ {to} }} else {{ {from} }} }}", number());
        out = out.replace(from, &both);
    }
    (out, numbers)
}

/// Does a closure begin between the head of a constant and this line?
fn is_in_closure(before: &[&str], line: &str) -> bool {
    let heads = before.iter().rev().take_while(|line| !line.is_empty());
    let mut heads = heads.chain([&line]);
    heads.any(|line| line.matches('|').count() >= 2)
}

/// The lines between the braces of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Body {
    first: usize,
    end: usize,
}

impl Body {
    /// Returns the body of the innermost function around some lines, if it can be chosen at run time.
    fn around(lines: &[&str], at: usize, count: usize) -> Option<Self> {
        let begins = |line: &&str| {
            line.split_whitespace().take_while(|word| !word.contains('{')).any(|word| word == "fn")
        };
        let mut start = at;
        loop {
            start = (0..start).rev().find(|i| begins(&lines[*i]))?;
            let depth = indent(lines[start]);
            let end = (start..lines.len())
                .find(|i| indent(lines[*i]) == depth && lines[*i].trim() == "}")?;
            let open = (start..end).find(|i| lines[*i].ends_with('{'))?;
            let body = Body { first: open + 1, end };
            if body.first <= at && at + count <= body.end {
                let head = lines[start..=open].join(" ");
                return (!head.contains("const fn") && !head.contains("-> impl")).then_some(body);
            }
        }
    }

    /// Returns its text as a choice between itself and itself with each fault.
    fn with(&self, lines: &[&str], faults: &[(usize, &Fault)]) -> String {
        let body = lines[self.first..self.end].join("\n");
        let cases = faults.iter().map(|(number, fault)| {
            format!("{number} => {{\n{}\n}}\n", body.replace(&fault.from, &fault.to))
        });
        let number = number();
        format!("{number}\nmatch *FAULT {{\n{}_ => {{\n{body}\n}}\n}}\n", cases.collect::<String>())
    }
}

/// Returns the blanks before a line.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(from: &str, to: &str) -> Fault {
        Fault { tests: "a".into(), file: "a.rs".into(), from: from.into(), to: to.into() }
    }

    const TEXT: &str = "\
const TEN: i32 = 10;
fn outer(
    a: i32,
) -> i32 {
    fn inner(a: i32) -> i32 {
        a + 1
    }
    if a > 2 {
        return 3;
    }
    inner(a) * 4
}
fn each() -> impl Iterator<Item = i32> {
    0..5
}
";

    #[test]
    fn functions_choose_among_their_faults() {
        let (one, two, inner) =
            (fault("a > 2", "a < 2"), fault("* 4", "/ 4"), fault("a + 1", "a - 1"));
        let (text, numbers) = switch(TEXT, &[(1, &one), (5, &two)]);
        assert_eq!(numbers, [1, 5]);
        assert!(text.contains("1 => {\n    fn inner"), "{text}");
        assert_eq!(text.matches("a > 2").count(), 2);
        assert_eq!(text.matches("inner(a) / 4").count(), 1);
        let (text, numbers) = switch(TEXT, &[(2, &inner)]);
        assert_eq!(numbers, [2]);
        assert!(text.contains("2 => {\n        a - 1\n}\n_ => {\n        a + 1\n}"), "{text}");
    }

    #[test]
    fn expressions_in_closures_choose_by_themselves() {
        let text = "const TWICE: Table = Table {\n    of: |x| x + x,\n};\n";
        let (text, numbers) = switch(text, &[(4, &fault("x + x", "x - x"))]);
        assert_eq!(numbers, [4]);
        assert!(text.contains("of: |x| { static FAULT"), "{text}");
        assert!(text.contains("if *FAULT == 4 { x - x } else { x + x } },"), "{text}");
    }

    #[test]
    fn faults_outside_of_bodies_are_left_out() {
        let (constant, hidden) = (fault("= 10", "= 11"), fault("0..5", "0..6"));
        let (text, numbers) = switch(TEXT, &[(1, &constant), (2, &hidden)]);
        assert_eq!(numbers, [0usize; 0]);
        assert_eq!(text, TEXT);
    }
}
