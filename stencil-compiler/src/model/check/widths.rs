//! Counts the components of a system's vectors: one for each axis, or three.

use crate::catalogue::Rank;
use crate::diag::{Code, Diagnostic, Diagnostics, Span, counted};
use crate::model::Model;
use crate::model::parse::ast::{Name, System, Width};
use crate::model::parse::rank_name;

/// A declaration with a type: its name, its rank and the type's text.
type Declared<'a> = (&'a Name, Rank, Width);

/// The number of components; fields and sources decide it, and have to agree.
pub(super) fn components(
    system: &System,
    dimension: usize,
    diagnostics: &mut Diagnostics,
) -> usize {
    let fields = system.fields.iter();
    let fields = fields.filter_map(|item| Some((&item.name, item.kind?.0, item.width)));
    let sources = system.sources.iter();
    let sources = sources.filter_map(|item| Some((&item.name, item.rank?, item.width)));
    let all = fields.chain(sources);
    let all: Vec<Declared<'_>> = all.filter(|(_, rank, _)| *rank != Rank::Scalar).collect();
    // They are all alike in space.
    if dimension == 3 {
        return 3;
    }
    let Some(wide) = all.iter().find(|(_, _, width)| width.three) else {
        functions(system, dimension, diagnostics);
        return dimension;
    };
    for narrow in all.iter().filter(|(_, _, width)| !width.three) {
        diagnostics.push(mixed(narrow, wide, dimension));
    }
    3
}

impl Model {
    /// `<3>` of a type, where vectors have more components than there are axes.
    pub(in crate::model) fn width_text(&self, rank: Rank) -> &'static str {
        match rank != Rank::Scalar && self.components != self.dimension {
            true => "<3>",
            false => "",
        }
    }
}

fn mixed(
    (name, rank, width): &Declared<'_>,
    (wide, of, declared): &Declared<'_>,
    dimension: usize,
) -> Diagnostic {
    let (rank, of) = (rank_name(*rank), rank_name(*of));
    let (name, wide) = (&name.text, &wide.text);
    let axes = counted(dimension, "axis");
    let message = format!("`{name}` is a `{rank}` of {axes}, and `{wide}` is a `{of}<3>`");
    Diagnostic::new(Code::RankMismatch, width.span, message)
        .note_at(declared.span, "three components are asked for here")
        .help(format!(
            "all vectors of a system have equally many components: write `{name}: {rank}<3>`, or `{wide}: {of}`"
        ))
}

/// Reports functions of vectors of three components, where the system has none.
fn functions(system: &System, dimension: usize, diagnostics: &mut Diagnostics) {
    let functions = system.functions.iter();
    let wide = functions.filter_map(|item| item.meaning.as_ref()?.three);
    let report = |span: Span| {
        let components = counted(dimension, "component");
        let message =
            format!("three components, and vectors of `{}` have {components}", system.name.text);
        let help =
            "write `vector`, which is that of the system, or declare its fields as `vector<3>`";
        Diagnostic::new(Code::RankMismatch, span, message).help(help)
    };
    for span in wide {
        diagnostics.push(report(span));
    }
}
