//! Schedules as text: stored by the tuner, edited by users and quoted in bug reports.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::retired::way_out;
use super::{Blocking, Carry, Halo, Layout, Overlap, Placement, Schedule};
use crate::syntax::{Lexer, TextError, Token};

/// The words of each placement.
pub fn placement_words(placement: Placement) -> &'static str {
    match placement {
        Placement::Inline => "inline",
        Placement::Register => "register",
        Placement::Carried(Carry::Behind) => "carried",
        Placement::Carried(Carry::Ahead) => "carried ahead",
        Placement::Shared => "shared",
        Placement::Global(Halo::Exchange) => "global exchange",
        Placement::Global(Halo::Recompute) => "global recompute",
    }
}

/// Returns the line of a layout that is not the default.
pub fn layout_line(layout: Layout) -> Option<String> {
    (layout != Layout::default()).then(|| format!("layout {}", layout.word()))
}

/// Returns the line of an overlap.
pub(crate) fn overlap_line(overlap: Overlap) -> String {
    format!("overlap {}", overlap.word())
}

/// Prints a schedule.
pub fn print(schedule: &Schedule) -> String {
    let mut out = String::from("schedule\n");
    if schedule.fuse != 1 {
        let _ = writeln!(out, "fuse {}", schedule.fuse);
    }
    let lines = [layout_line(schedule.layout), schedule.overlap.map(overlap_line)];
    for line in lines.into_iter().flatten() {
        let _ = writeln!(out, "{line}");
    }
    for (name, placement) in &schedule.placements {
        let _ = writeln!(out, "place {name} {}", placement_words(*placement));
    }
    for (field, pass) in &schedule.passes {
        let _ = writeln!(out, "pass {field} {pass}");
    }
    for blocking in &schedule.kernels {
        let _ = writeln!(out, "kernel {}", print_blocking(blocking));
    }
    out
}

/// Prints a blocking on one line.
pub fn print_blocking(blocking: &Blocking) -> String {
    let params = blocking.params.iter().map(|(name, value)| format!(" {name}={value}"));
    params.fold(blocking.strategy.clone(), |line, param| line + &param)
}

/// Parses a schedule.
///
/// # Errors
/// If the text is not a schedule; the message has the line.
pub fn parse(text: &str) -> Result<Schedule, TextError> {
    let mut lexer = Lexer::new(text)?;
    lexer.keyword("schedule")?;
    let mut schedule = Schedule::default();
    // A line may give the default.
    let (mut fuse, mut layout) = (None, None);
    loop {
        if lexer.eat_name("fuse") {
            if fuse.is_some() {
                return lexer.error("`fuse` is given twice");
            }
            schedule.fuse = *fuse.insert(lexer.count()?);
        } else if lexer.eat_name("layout") {
            if layout.is_some() {
                return lexer.error("`layout` is given twice");
            }
            schedule.layout = *layout.insert(parse_layout(&mut lexer)?);
        } else if lexer.eat_name("overlap") {
            if schedule.overlap.is_some() {
                return lexer.error("`overlap` is given twice");
            }
            schedule.overlap = Some(parse_overlap(&mut lexer)?);
        } else if lexer.eat_name("place") {
            let name = lexer.name()?;
            let placement = parse_placement(&mut lexer)?;
            if schedule.placements.insert(name.clone(), placement).is_some() {
                return lexer.error(format!("`{name}` is placed twice"));
            }
        } else if lexer.eat_name("pass") {
            let field = lexer.name()?;
            let pass = lexer.count()?;
            let Ok(pass) = u32::try_from(pass) else {
                return lexer.error(format!("{pass} is too large"));
            };
            if schedule.passes.insert(field.clone(), pass).is_some() {
                return lexer.error(format!("`{field}` has a pass already"));
            }
        } else if lexer.eat_name("kernel") {
            schedule.kernels.push(parse_blocking(&mut lexer)?);
        } else if *lexer.peek() == Token::End {
            return Ok(schedule);
        } else if let Token::Name(word) = lexer.peek()
            && let Some(way_out) = way_out(word)
        {
            return lexer.error(way_out);
        } else {
            return lexer.error(format!(
                "expected `fuse`, `layout`, `overlap`, `place`, `pass` or `kernel`, found {:?}",
                lexer.peek()
            ));
        }
    }
}

pub(crate) fn parse_layout(lexer: &mut Lexer) -> Result<Layout, TextError> {
    let word = lexer.name()?;
    let words = Layout::ALL.map(Layout::word).join(", ");
    Layout::find(&word)
        .map_or_else(|| lexer.error(format!("no layout `{word}`; there are {words}")), Ok)
}

pub(crate) fn parse_overlap(lexer: &mut Lexer) -> Result<Overlap, TextError> {
    let word = lexer.name()?;
    let words = Overlap::ALL.map(Overlap::word).join(", ");
    Overlap::find(&word)
        .map_or_else(|| lexer.error(format!("no overlap `{word}`; there are {words}")), Ok)
}

pub(crate) fn parse_placement(lexer: &mut Lexer) -> Result<Placement, TextError> {
    let word = lexer.name()?;
    match word.as_str() {
        "inline" => Ok(Placement::Inline),
        "register" => Ok(Placement::Register),
        "carried" if lexer.eat_name("ahead") => Ok(Placement::Carried(Carry::Ahead)),
        "carried" => Ok(Placement::Carried(Carry::Behind)),
        "shared" => Ok(Placement::Shared),
        "global" if lexer.eat_name("exchange") => Ok(Placement::Global(Halo::Exchange)),
        "global" if lexer.eat_name("recompute") => Ok(Placement::Global(Halo::Recompute)),
        "global" => lexer.error("`global` is followed by `exchange` or `recompute`"),
        _ => lexer.error(format!("no placement `{word}`; there are inline, register, carried, carried ahead, shared, global exchange, global recompute")),
    }
}

/// Parses the output of [`print_blocking`].
///
/// # Errors
/// If the text is not a blocking.
pub fn parse_blocking(lexer: &mut Lexer) -> Result<Blocking, TextError> {
    let strategy = lexer.name()?;
    let mut params = BTreeMap::new();
    while matches!(lexer.peek(), Token::Name(_)) && *lexer.peek_second() == Token::Punct('=') {
        let name = lexer.name()?;
        if let Some(way_out) = way_out(&name) {
            return lexer.error(way_out);
        }
        lexer.expect('=')?;
        let value = lexer.count()?;
        let value =
            u32::try_from(value).or_else(|_| lexer.error(format!("{value} is too large")))?;
        if params.insert(name.clone(), value).is_some() {
            return lexer.error(format!("`{name}` is given twice"));
        }
    }
    Ok(Blocking { strategy, params })
}
