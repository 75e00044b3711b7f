//! Plans as text that parses back.

use std::fmt::Write as _;

use super::{Buffer, BufferRole, Launch, Phase, Plan, Region, Step};
use crate::schedule::Layout;
use crate::schedule::text::{
    layout_line, overlap_line, parse_blocking, parse_layout, parse_overlap, parse_placement,
    placement_words, print_blocking,
};
use crate::syntax::{Lexer, TextError, Token};

const ROLES: &[(BufferRole, &str)] = &[
    (BufferRole::Field, "field"),
    (BufferRole::NewField, "new"),
    (BufferRole::Accumulator, "accumulator"),
    (BufferRole::Kept, "kept"),
    (BufferRole::Count, "count"),
    (BufferRole::Derived, "derived"),
    (BufferRole::Given, "given"),
];

const PHASES: &[(Phase, &str)] = &[(Phase::Post, "post"), (Phase::Wait, "wait")];

const REGIONS: &[(Region, &str)] =
    &[(Region::Whole, ""), (Region::Interior, " interior"), (Region::Rim, " rim")];

/// Returns the word of a value in a table.
fn word<T: PartialEq>(words: &[(T, &'static str)], of: T) -> &'static str {
    let found = words.iter().find(|(value, _)| *value == of);
    found.map_or("", |(_, word)| word)
}

const AXES: [&str; 3] = ["x", "y", "z"];

/// Prints a plan.
pub fn print(plan: &Plan) -> String {
    let mut out = String::from("plan\n");
    if plan.time_steps != 1 {
        let _ = writeln!(out, "steps {}", plan.time_steps);
    }
    for line in [layout_line(plan.layout), plan.overlap.map(overlap_line)].into_iter().flatten() {
        let _ = writeln!(out, "{line}");
    }
    for buffer in &plan.buffers {
        let role = word(ROLES, buffer.role);
        let within = buffer.within.as_ref();
        let _ = writeln!(
            out,
            "buffer {} {role} halo {}{}",
            buffer.name,
            triple(buffer.halo),
            within.map_or(String::new(), |home| format!(" in {home}"))
        );
    }
    for launch in &plan.launches {
        let _ = writeln!(
            out,
            "launch {} substep {} kernel {} extend {} {{",
            launch.name,
            launch.substep,
            launch.kernel,
            triple(launch.extend)
        );
        for (axis, name) in AXES.iter().enumerate() {
            if launch.wrapped[axis] {
                let _ = writeln!(out, "    wrap {name}");
            }
        }
        for (buffer, read) in &launch.inputs {
            let _ = writeln!(out, "    read {buffer} {}", triple(*read));
        }
        for (name, placement) in &launch.placements {
            let _ = writeln!(out, "    place {name} {}", placement_words(*placement));
        }
        for (buffer, function) in &launch.outputs {
            let _ = writeln!(out, "    write {buffer} = {function}");
        }
        let _ = writeln!(out, "    kernel {}\n}}", print_blocking(&launch.blocking));
    }
    for step in &plan.steps {
        let _ = match step {
            Step::Fill { buffers, depth } => {
                writeln!(out, "fill {} {}", triple(*depth), buffers.join(", "))
            }
            Step::Exchange { phase, buffers, depth } => {
                let (depth, buffers) = (triple(*depth), buffers.join(", "));
                writeln!(out, "{} {depth} {buffers}", word(PHASES, *phase))
            }
            Step::Launch { launch, region } => {
                let name = plan.launches.get(*launch).map_or("", |l| l.name.as_str());
                writeln!(out, "run {name}{}", word(REGIONS, *region))
            }
            Step::Reduce { quantities } => writeln!(out, "reduce {}", quantities.join(", ")),
            Step::Accept => writeln!(out, "accept"),
            Step::Uniforms => writeln!(out, "uniforms"),
            Step::Swap { fields, kept } => {
                let kept = kept.iter().map(|(field, kept)| format!("{field} in {kept}"));
                let kept: Vec<String> = kept.collect();
                let words = if kept.is_empty() { "" } else { " keep " };
                writeln!(out, "swap {}{words}{}", fields.join(", "), kept.join(", "))
            }
        };
    }
    out
}

fn triple(value: [u32; 3]) -> String {
    format!("[{}, {}, {}]", value[0], value[1], value[2])
}

/// Parses a plan.
///
/// # Errors
/// If the text is no plan; the message has the line.
pub fn parse(text: &str) -> Result<Plan, TextError> {
    let mut lexer = Lexer::new(text)?;
    lexer.keyword("plan")?;
    let mut plan = Plan {
        time_steps: 1,
        layout: Layout::default(),
        overlap: None,
        buffers: Vec::new(),
        launches: Vec::new(),
        steps: Vec::new(),
    };
    // A word may give the default.
    let (mut steps, mut layout) = (None, None);
    while *lexer.peek() != Token::End {
        let word = lexer.name()?;
        match word.as_str() {
            "steps" if steps.is_some() => return lexer.error("`steps` is given twice"),
            "layout" if layout.is_some() => return lexer.error("`layout` is given twice"),
            "overlap" if plan.overlap.is_some() => return lexer.error("`overlap` is given twice"),
            "steps" => plan.time_steps = *steps.insert(lexer.count()?),
            "layout" => plan.layout = *layout.insert(parse_layout(&mut lexer)?),
            "overlap" => plan.overlap = Some(parse_overlap(&mut lexer)?),
            "buffer" => plan.buffers.push(parse_buffer(&mut lexer)?),
            "launch" => plan.launches.push(parse_launch(&mut lexer)?),
            "fill" => {
                let depth = parse_triple(&mut lexer)?;
                plan.steps.push(Step::Fill { buffers: names(&mut lexer)?, depth });
            }
            "run" => {
                let name = lexer.name()?;
                let Some(at) = plan.launches.iter().position(|l| l.name == name) else {
                    return lexer.error(format!("no launch `{name}`"));
                };
                let part = |(_, word): &&(Region, &str)| match word.trim() {
                    "" => false,
                    word => lexer.eat_name(word),
                };
                let region = REGIONS.iter().find(part).map_or(Region::Whole, |(region, _)| *region);
                plan.steps.push(Step::Launch { launch: at, region });
            }
            "post" | "wait" => {
                let phase = if word == "post" { Phase::Post } else { Phase::Wait };
                let depth = parse_triple(&mut lexer)?;
                plan.steps.push(Step::Exchange { phase, buffers: names(&mut lexer)?, depth });
            }
            "reduce" => plan.steps.push(Step::Reduce { quantities: names(&mut lexer)? }),
            "accept" => plan.steps.push(Step::Accept),
            "uniforms" => plan.steps.push(Step::Uniforms),
            "swap" => {
                let (fields, mut kept) = (names(&mut lexer)?, Vec::new());
                let mut more = lexer.eat_name("keep");
                while more {
                    let field = lexer.name()?;
                    lexer.keyword("in")?;
                    kept.push((field, lexer.name()?));
                    more = lexer.eat(',');
                }
                plan.steps.push(Step::Swap { fields, kept });
            }
            _ => {
                return lexer.error(format!(
                    "expected steps, layout, overlap, buffer, launch, reduce, accept, uniforms, fill, post, wait, run or swap, found `{word}`"
                ));
            }
        }
    }
    Ok(plan)
}

fn parse_triple(lexer: &mut Lexer) -> Result<[u32; 3], TextError> {
    let value = lexer.offset()?;
    if value.iter().any(|v| *v < 0) {
        return lexer.error("a depth is negative");
    }
    Ok(value.map(i32::unsigned_abs))
}

fn names(lexer: &mut Lexer) -> Result<Vec<String>, TextError> {
    let mut out = vec![lexer.name()?];
    while lexer.eat(',') {
        out.push(lexer.name()?);
    }
    Ok(out)
}

fn parse_buffer(lexer: &mut Lexer) -> Result<Buffer, TextError> {
    let name = lexer.name()?;
    let word = lexer.name()?;
    let Some((role, _)) = ROLES.iter().find(|(_, w)| *w == word) else {
        return lexer.error(format!("no role `{word}`"));
    };
    lexer.keyword("halo")?;
    let halo = parse_triple(lexer)?;
    let within = match lexer.eat_name("in") {
        true => Some(lexer.name()?),
        false => None,
    };
    Ok(Buffer { name, role: *role, halo, within })
}

fn parse_launch(lexer: &mut Lexer) -> Result<Launch, TextError> {
    let name = lexer.name()?;
    lexer.keyword("substep")?;
    let substep = lexer.count()?;
    lexer.keyword("kernel")?;
    let kernel = lexer.count()?;
    lexer.keyword("extend")?;
    let extend = parse_triple(lexer)?;
    lexer.expect('{')?;
    let (mut inputs, mut placements, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
    let mut wrapped = [false; 3];
    loop {
        let word = lexer.name()?;
        match word.as_str() {
            "wrap" => {
                let axis = lexer.name()?;
                match AXES.iter().position(|name| *name == axis) {
                    Some(at) => wrapped[at] = true,
                    None => return lexer.error(format!("no axis `{axis}`")),
                }
            }
            "read" => inputs.push((lexer.name()?, parse_triple(lexer)?)),
            "place" => {
                let name = lexer.name()?;
                placements.push((name, parse_placement(lexer)?));
            }
            "write" => {
                let buffer = lexer.name()?;
                lexer.expect('=')?;
                outputs.push((buffer, lexer.name()?));
            }
            "kernel" => {
                let blocking = parse_blocking(lexer)?;
                lexer.expect('}')?;
                return Ok(Launch {
                    name,
                    substep,
                    kernel,
                    outputs,
                    inputs,
                    extend,
                    wrapped,
                    placements,
                    blocking,
                });
            }
            _ => {
                return lexer
                    .error(format!("expected wrap, read, place, write or kernel, found `{word}`"));
            }
        }
    }
}
