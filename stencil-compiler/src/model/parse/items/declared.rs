//! Items with a type: `field`, `param` and `source`; and `unit none`.

use super::{equals, name, split};
use crate::catalogue::{Centering, Rank};
use crate::diag::{Code, Diagnostic, Span, nearest};
use crate::model::parse::ast::{
    Ast, AstKind, FieldItem, Name, ParamItem, RangeItem, SourceItem, System, Width,
};
use crate::model::parse::expression;
use crate::model::parse::tokens::{Cursor, Kind, Parsed};
use crate::model::parse::unit::bracketed;
use crate::model::{Comparison, Symmetry};

/// The types of fields, by name.
const TYPES: &[(&str, Rank, Symmetry)] = &[
    ("scalar", Rank::Scalar, Symmetry::General),
    ("vector", Rank::Vector, Symmetry::General),
    ("tensor", Rank::Tensor, Symmetry::General),
    ("symmetric", Rank::Tensor, Symmetry::Symmetric),
    ("antisymmetric", Rank::Tensor, Symmetry::Antisymmetric),
];

/// The name of a field's type in the language.
pub(in crate::model) fn type_name(rank: Rank, symmetry: Symmetry) -> &'static str {
    let found = TYPES.iter().find(|(_, r, s)| (*r, *s) == (rank, symmetry));
    found.map_or("", |(name, ..)| name)
}

/// A type as it was read: its rank, its symmetry and its text.
type Typed = (Rank, Symmetry, Width);

/// Reads `scalar`, `vector`, `vector<3>` and so on; only the general ones where `symmetries` is false.
fn typed(cursor: &mut Cursor, symmetries: bool) -> Parsed<Typed> {
    let allowed = |symmetry: Symmetry| symmetries || symmetry == Symmetry::General;
    let found = match cursor.peek() {
        Kind::Word(word) => {
            TYPES.iter().find(|(name, _, symmetry)| name == word && allowed(*symmetry))
        }
        _ => None,
    };
    if let Some((_, rank, symmetry)) = found {
        return Ok((*rank, *symmetry, width(cursor, *rank)?));
    }
    let names: Vec<&str> = TYPES
        .iter()
        .filter(|(_, _, symmetry)| allowed(*symmetry))
        .map(|(name, ..)| *name)
        .collect();
    let near = match cursor.peek() {
        Kind::Word(word) if word.ends_with("symmetric") => Some("tensor"),
        Kind::Word(word) => nearest(word, names.iter().copied()),
        _ => None,
    };
    let (last, rest) = names.split_last().unwrap_or((&"", &[]));
    let message = format!("expected `{}` or `{last}`, found {}", rest.join("`, `"), cursor.found());
    let diagnostic = Diagnostic::new(Code::Syntax, cursor.span(), message)
        .help_if(near.map(|near| format!("did you mean `{near}`?")));
    Err(cursor.report(diagnostic))
}

/// Reads a type's word, and `<3>` behind it.
fn width(cursor: &mut Cursor, rank: Rank) -> Parsed<Width> {
    let start = cursor.span();
    cursor.advance();
    let mut width = Width { three: false, span: start };
    if !cursor.eat_punct('<') {
        return Ok(width);
    }
    width.three = matches!(cursor.peek(), Kind::Number(text) if text == "3");
    let given = start.join(cursor.span());
    cursor.advance();
    width.span = start.join(cursor.span());
    cursor.expect_punct('>')?;
    if width.three && rank != Rank::Scalar {
        return Ok(width);
    }
    let message = "a vector or a tensor is one of the axes of the mesh, or one of three components";
    let help = "write `vector` or `vector<3>`; a scalar has one component";
    Err(cursor.report(Diagnostic::new(Code::Syntax, given, message).help(help)))
}

/// A rank by name, where symmetries have no meaning, and how it is written.
pub(super) fn rank(cursor: &mut Cursor) -> Parsed<(Rank, Width)> {
    typed(cursor, false).map(|(rank, _, width)| (rank, width))
}

/// `u: vector [m/s]`, or `rho: scalar where rho > 0`
pub(super) fn field(
    cursor: &mut Cursor,
    system: &mut System,
    (conserved, centering): (bool, Centering),
) -> Parsed<()> {
    let name = name(cursor, "a name")?;
    // Declared even if the rest is wrong, so that its uses are not reported as well.
    system.fields.push(FieldItem {
        name,
        conserved,
        centering,
        kind: None,
        width: Width::default(),
        unit: None,
    });
    cursor.expect_punct(':')?;
    let (rank, symmetry, width) = typed(cursor, true)?;
    let unit = bracketed(cursor);
    let mut declared = None;
    if let Some(field) = system.fields.last_mut() {
        field.kind = Some((rank, symmetry));
        field.width = width;
        field.unit = unit?;
        declared = Some(field.name.clone());
    }
    match declared {
        Some(name) => ranges(cursor, system, &name),
        None => Ok(()),
    }
}

/// `where h > 0`, if it is there.
pub(super) fn ranges(cursor: &mut Cursor, system: &mut System, name: &Name) -> Parsed<()> {
    for bound in bounds(cursor, name)? {
        let name = name.clone();
        system.ranges.push(RangeItem { name, bound });
    }
    Ok(())
}

/// `f: vector [m/s^2] = [sin(x), 0, 0]`
pub(super) fn source(cursor: &mut Cursor, system: &mut System, at: usize) -> Parsed<()> {
    let name = name(cursor, "a name")?;
    system.sources.push(SourceItem {
        name,
        rank: None,
        width: Width::default(),
        unit: None,
        value: None,
        at,
    });
    cursor.expect_punct(':')?;
    let (rank, width) = rank(cursor)?;
    let unit = bracketed(cursor)?;
    let (value, outcome) = match cursor.is_punct('=') {
        true => split(equals(cursor)),
        false => (None, Ok(())),
    };
    if let Some(source) = system.sources.last_mut() {
        source.rank = Some(rank);
        source.width = width;
        source.unit = unit;
        source.value = value;
    }
    outcome
}

/// `none`: units are kept as text and not checked, with or without this.
pub(super) fn unit(cursor: &mut Cursor) -> Parsed<()> {
    cursor.expect_word("none")
}

/// `gamma: real = 5/3 where gamma > 1`
pub(super) fn param(cursor: &mut Cursor, system: &mut System) -> Parsed<()> {
    let name = name(cursor, "a name")?;
    system.params.push(ParamItem {
        name: name.clone(),
        unit: None,
        default: None,
        bounds: Vec::new(),
    });
    cursor.expect_punct(':')?;
    if !cursor.eat_word("real") {
        return Err(cursor.expected("`real`"));
    }
    let unit = bracketed(cursor)?;
    let mut default = None;
    if cursor.eat_punct('=') {
        default = Some(expression::whole(cursor)?);
    }
    let bounds = bounds(cursor, &name)?;
    if let Some(param) = system.params.last_mut() {
        param.unit = unit;
        param.default = default;
        param.bounds = bounds;
    }
    Ok(())
}

/// `where nu >= 0 and nu < 1`, if it is there.
fn bounds(cursor: &mut Cursor, name: &Name) -> Parsed<Vec<(Comparison, Ast, Span)>> {
    let mut bounds = Vec::new();
    if cursor.eat_word("where") {
        loop {
            bounds.push(bound(cursor, name)?);
            if !cursor.eat_word("and") && !cursor.eat_punct(',') {
                break;
            }
        }
    }
    Ok(bounds)
}

/// `nu >= 0`
fn bound(cursor: &mut Cursor, name: &Name) -> Parsed<(Comparison, Ast, Span)> {
    let start = cursor.span();
    if !cursor.eat_word(&name.text) {
        return Err(cursor.expected(&format!("`{}`", name.text)));
    }
    let or_equal = matches!(cursor.peek_at(1), Kind::Punct('=', _));
    let comparison = match (cursor.peek(), or_equal) {
        (Kind::Punct('<', true), true) => Comparison::LessEqual,
        (Kind::Punct('>', true), true) => Comparison::GreaterEqual,
        (Kind::Punct('<', _), false) => Comparison::Less,
        (Kind::Punct('>', _), false) => Comparison::Greater,
        _ => return Err(cursor.expected("`<`, `<=`, `>` or `>=`")),
    };
    cursor.advance();
    if or_equal {
        cursor.advance();
    }
    let value = expression::whole(cursor)?;
    let span = start.join(value.span);
    if matches!(&value.kind, AstKind::Binary(operator, ..) if operator.is_condition()) {
        let message = "more than one comparison in a bound";
        let diagnostic = Diagnostic::new(Code::Syntax, span, message)
            .help(format!("write `{0} > 0 and {0} < 1`", name.text));
        return Err(cursor.report(diagnostic));
    }
    Ok((comparison, value, span))
}
