//! The text of an [`Algorithm`]: transport, snapshot, fingerprint and bug report at once.

use std::collections::BTreeMap;

use super::{
    Access, Algorithm, Atom, Def, FnId, GridFn, Param, Role, State, StateId, Substep, SumTerm,
    Uniform, UniformAtom, UniformId, check::RESERVED,
};
use crate::catalogue::centering::CENTRE;
use crate::diag::{Place, Span};
use crate::expr;
use crate::hash::fnv1a;
use crate::syntax::{Lexer, TextError, Token, quote};

/// Prints an algorithm; [`parse`] reads the same value back.
pub fn print(alg: &Algorithm) -> String {
    let mut out =
        format!("algorithm {} {}d\nscheme {}\n", alg.name, alg.dimension, quote(&alg.scheme));
    if !alg.file.is_empty() {
        out += &format!("file {}\n", quote(&alg.file));
    }
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    for param in &alg.params {
        let default = param.default.map(|value| format!(" = {value:?}"));
        line(format!("param {}{}", param.name, default.unwrap_or_default()));
    }
    for state in &alg.states {
        let axes = (0..3).filter(|axis| state.halves[*axis]).map(|axis| ["x", "y", "z"][axis]);
        let above = axes.fold(String::new(), |text, axis| format!("{text} {axis}"));
        let above = if above.is_empty() { above } else { format!(" above{above}") };
        line(format!("state {} {}{above}", state.name, state.role.name()));
    }
    let defined = alg.defined();
    for looped in &defined.loops {
        line(format!("loop {}", expr::text::print_loop(looped)));
    }
    for routine in &defined.routines {
        line(format!("routine {}", expr::text::print_routine(routine)));
    }
    for uniform in &alg.uniforms {
        let value = expr::text::print(&uniform.value, &mut |atom| match atom {
            UniformAtom::Param(i) => alg.params[*i].name.clone(),
            UniformAtom::Spacing(axis) => RESERVED[*axis].to_string(),
            UniformAtom::Dt => RESERVED[3].to_string(),
            UniformAtom::Time => RESERVED[4].to_string(),
            UniformAtom::Epsilon => RESERVED[5].to_string(),
        });
        line(format!("uniform {} = {value}", uniform.name));
    }
    for function in &alg.functions {
        let span = print_span(&function.span);
        line(format!("fn {} = {}{span}", function.name, print_def(alg, &function.def)));
    }
    for substep in &alg.substeps {
        let update = |(state, value): &(StateId, FnId)| {
            format!("{} = {}", alg.state(*state).name, alg.function(*value).name)
        };
        let updates: Vec<String> = substep.updates.iter().map(update).collect();
        let at = match substep.at {
            0.0 => String::new(),
            at => format!(" {at:?}"),
        };
        line(format!("substep{at} {{ {} }}", updates.join(", ")));
    }
    out
}

/// Returns a hash that tells discrete problems apart, wherever they are declared: that of their text without the name
/// of the file, the places in it, and the words of the scheme, whose effect is in the functions.
///
/// ```
/// use stencil_compiler::algorithm::text::fingerprint;
/// use stencil_compiler::discretize::discretize;
/// use stencil_compiler::model::parse;
///
/// let of = |text: &str| discretize(&parse::parse_str(text).unwrap()).map(|a| fingerprint(&a));
/// let heat = "pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }
///     scheme fine for Heat { space: central<order = 4>; time: euler; }";
/// for same in [("; ", ";\n\n"), ("fine", "quick")] {
///     assert_eq!(of(heat), of(&heat.replace(same.0, same.1)));
/// }
/// for other in [("lap(q)", "2*lap(q)"), ("= 4", "= 6"), ("euler", "rk4")] {
///     assert_ne!(of(heat), of(&heat.replace(other.0, other.1)));
/// }
/// ```
pub fn fingerprint(alg: &Algorithm) -> u64 {
    let mut plain = alg.clone();
    plain.file.clear();
    // A declaration, a problem file and a command line name the same choice differently.
    plain.scheme.clear();
    for function in &mut plain.functions {
        function.span = Span::default();
    }
    fnv1a(print(&plain).as_bytes())
}

fn print_def(alg: &Algorithm, def: &Def) -> String {
    match def {
        Def::State(state) => format!("state {}", alg.state(*state).name),
        Def::Point(expr) => {
            let text = expr::text::print(expr, &mut |atom| match atom {
                Atom::Access(access) => print_access(alg, access),
                Atom::Uniform(uniform) => alg.uniform(*uniform).name.clone(),
            });
            // A function named `state`, alone, would read as the definition of the next name.
            if text == "state" { "(state)".to_string() } else { text }
        }
        Def::Sum(terms) => {
            let term = |term: &SumTerm| {
                let sign = if term.negative { '-' } else { '+' };
                let factor = term.factor.map(|u| format!("{} * ", alg.uniform(u).name));
                format!("{sign} {}{}", factor.unwrap_or_default(), print_access(alg, &term.value))
            };
            format!("sum {{ {} }}", terms.iter().map(term).collect::<Vec<_>>().join(", "))
        }
    }
}

fn print_access(alg: &Algorithm, access: &Access) -> String {
    let name = &alg.function(access.of).name;
    match access.at {
        [0, 0, 0] => name.clone(),
        [x, y, z] => format!("{name}[{x},{y},{z}]"),
    }
}

fn print_span(span: &Span) -> String {
    if *span == Span::default() {
        return String::new();
    }
    let (start, end) = (span.start, span.end);
    format!(" @{}:{}-{}:{}", start.line, start.column, end.line, end.column)
}

impl Role {
    /// Its name in texts.
    pub fn name(self) -> &'static str {
        match self {
            Role::Field => "field",
            Role::Accumulator => "accumulator",
            Role::Count => "count",
            Role::Given => "given",
        }
    }

    /// The role of this name.
    pub fn from_name(name: &str) -> Option<Role> {
        [Role::Field, Role::Accumulator, Role::Count, Role::Given]
            .into_iter()
            .find(|role| role.name() == name)
    }
}

/// Parses the text of an algorithm. The result is not yet checked.
///
/// # Errors
/// If the text does not follow the grammar, or uses a name before its definition.
pub fn parse(text: &str) -> Result<Algorithm, TextError> {
    let mut lexer = Lexer::new(text)?;
    lexer.keyword("algorithm")?;
    let name = lexer.name()?;
    let dimension = lexer.count()?;
    if !(1..=3).contains(&dimension) {
        return lexer.error(format!("{dimension} dimensions; 1 to 3 are possible"));
    }
    lexer.keyword("d")?;
    lexer.keyword("scheme")?;
    let scheme = lexer.quoted()?;
    let file = match lexer.eat_name("file") {
        true => lexer.quoted()?,
        false => String::new(),
    };
    let (params, states, uniforms, functions, substeps) = Default::default();
    let mut alg =
        Algorithm { name, file, dimension, scheme, params, states, uniforms, functions, substeps };
    let mut names = Names::default();
    loop {
        let read: Declaration = match lexer.peek() {
            Token::End => return Ok(alg),
            Token::Name(word) => match word.as_str() {
                "param" => parse_param,
                "state" => parse_state,
                "loop" => parse_loop,
                "routine" => parse_routine,
                "uniform" => parse_uniform,
                "fn" => parse_function,
                "substep" => parse_substep,
                _ => return lexer.error(format!("no declaration begins with `{word}`")),
            },
            other => return lexer.error(format!("expected a declaration, found {other:?}")),
        };
        lexer.take();
        read(&mut lexer, &mut alg, &mut names)?;
    }
}

/// The names that are defined so far.
#[derive(Default)]
struct Names {
    params: BTreeMap<String, usize>,
    states: BTreeMap<String, StateId>,
    uniforms: BTreeMap<String, UniformId>,
    functions: BTreeMap<String, FnId>,
    operations: expr::text::Operations,
}

type Parsed<T> = Result<T, TextError>;
type Declaration = fn(&mut Lexer, &mut Algorithm, &mut Names) -> Parsed<()>;

/// Takes a name that is not among `known`.
fn new_name<T>(lexer: &mut Lexer, known: &BTreeMap<String, T>) -> Parsed<String> {
    match lexer.peek() {
        Token::Name(name) if known.contains_key(name) => {
            lexer.error(format!("`{name}` is defined twice"))
        }
        _ => lexer.name(),
    }
}

/// Takes a name that is among `known`.
fn known_name<T: Copy>(lexer: &mut Lexer, known: &BTreeMap<String, T>, kind: &str) -> Parsed<T> {
    match lexer.peek() {
        Token::Name(name) => match known.get(name) {
            Some(&value) => {
                lexer.take();
                Ok(value)
            }
            None => lexer.error(format!("no {kind} `{name}`")),
        },
        other => lexer.error(format!("expected a {kind}, found {other:?}")),
    }
}

fn parse_param(lexer: &mut Lexer, alg: &mut Algorithm, names: &mut Names) -> Parsed<()> {
    let name = new_name(lexer, &names.params)?;
    let default = if lexer.eat('=') { Some(lexer.real()?) } else { None };
    names.params.insert(name.clone(), alg.params.len());
    alg.params.push(Param { name, default });
    Ok(())
}

fn parse_state(lexer: &mut Lexer, alg: &mut Algorithm, names: &mut Names) -> Parsed<()> {
    let name = new_name(lexer, &names.states)?;
    let role = lexer.name()?;
    let Some(role) = Role::from_name(&role) else {
        return lexer.error(format!(
            "state `{name}` is a `field`, an `accumulator` or `given`, not `{role}`"
        ));
    };
    let mut halves = CENTRE;
    if lexer.eat_name("above") {
        for (axis, half) in ["x", "y", "z"].into_iter().zip(&mut halves) {
            *half = lexer.eat_name(axis);
        }
        if halves == CENTRE {
            return lexer.error(format!("state `{name}` lies above the centre along no axis"));
        }
    }
    names.states.insert(name.clone(), StateId(alg.states.len() as u32));
    alg.states.push(State { name, role, halves });
    Ok(())
}

fn parse_loop(lexer: &mut Lexer, _: &mut Algorithm, names: &mut Names) -> Parsed<()> {
    expr::text::parse_loop(lexer, &mut names.operations)
}

fn parse_routine(lexer: &mut Lexer, _: &mut Algorithm, names: &mut Names) -> Parsed<()> {
    expr::text::parse_routine(lexer, &mut names.operations)
}

fn parse_uniform(lexer: &mut Lexer, alg: &mut Algorithm, names: &mut Names) -> Parsed<()> {
    let name = new_name(lexer, &names.uniforms)?;
    lexer.expect('=')?;
    let value = expr::text::parse(lexer, &names.operations, &mut |atom, offset| {
        if offset.is_some() {
            return Err(format!("`{atom}` is the same in every cell and has no offset"));
        }
        match RESERVED.iter().position(|reserved| *reserved == atom) {
            Some(3) => Ok(UniformAtom::Dt),
            Some(4) => Ok(UniformAtom::Time),
            Some(5) => Ok(UniformAtom::Epsilon),
            Some(axis) => Ok(UniformAtom::Spacing(axis)),
            None => match names.params.get(atom) {
                Some(&param) => Ok(UniformAtom::Param(param)),
                None => Err(format!("no parameter `{atom}`")),
            },
        }
    })?;
    names.uniforms.insert(name.clone(), UniformId(alg.uniforms.len() as u32));
    alg.uniforms.push(Uniform { name, value });
    Ok(())
}

fn parse_function(lexer: &mut Lexer, alg: &mut Algorithm, names: &mut Names) -> Parsed<()> {
    let name = new_name(lexer, &names.functions)?;
    lexer.expect('=')?;
    let def = if lexer.is_name("state") && matches!(lexer.peek_second(), Token::Name(_)) {
        lexer.take();
        Def::State(known_name(lexer, &names.states, "state")?)
    } else if lexer.is_name("sum") && *lexer.peek_second() == Token::Punct('{') {
        lexer.take();
        Def::Sum(parse_terms(lexer, names)?)
    } else {
        Def::Point(expr::text::parse(lexer, &names.operations, &mut |atom, offset| match (
            names.functions.get(atom),
            names.uniforms.get(atom),
        ) {
            (Some(&of), _) => Ok(Atom::Access(Access { of, at: offset.unwrap_or_default() })),
            (None, Some(&uniform)) if offset.is_none() => Ok(Atom::Uniform(uniform)),
            (None, Some(_)) => Err(format!("`{atom}` is the same in every cell and has no offset")),
            (None, None) => Err(format!("no function or uniform `{atom}`")),
        })?)
    };
    let span = parse_span(lexer)?;
    names.functions.insert(name.clone(), FnId(alg.functions.len() as u32));
    alg.functions.push(GridFn { name, def, span });
    Ok(())
}

fn parse_terms(lexer: &mut Lexer, names: &Names) -> Parsed<Vec<SumTerm>> {
    let mut terms = Vec::new();
    lexer.expect('{')?;
    while !lexer.eat('}') {
        if !terms.is_empty() {
            lexer.expect(',')?;
        }
        let negative = lexer.eat('-');
        if !negative {
            lexer.expect('+')?;
        }
        let factor = if *lexer.peek_second() == Token::Punct('*') {
            let factor = known_name(lexer, &names.uniforms, "uniform")?;
            lexer.expect('*')?;
            Some(factor)
        } else {
            None
        };
        let of = known_name(lexer, &names.functions, "function")?;
        let at = if lexer.is('[') { lexer.offset()? } else { [0; 3] };
        terms.push(SumTerm { negative, factor, value: Access { of, at } });
    }
    Ok(terms)
}

/// Takes `@line:column-line:column` if it follows.
fn parse_span(lexer: &mut Lexer) -> Parsed<Span> {
    let line = match lexer.peek() {
        Token::Name(name) => name.strip_prefix('@').map(str::to_string),
        _ => None,
    };
    let Some(line) = line else {
        return Ok(Span::default());
    };
    let Ok(line) = line.parse() else {
        return lexer.error(format!("expected a line after `@`, found `{line}`"));
    };
    lexer.take();
    let start = Place { line, column: after(lexer, ':')? };
    let end = Place { line: after(lexer, '-')?, column: after(lexer, ':')? };
    Ok(Span { start, end })
}

/// Takes a count after a punctuation character.
fn after<T: TryFrom<usize>>(lexer: &mut Lexer, punct: char) -> Parsed<T> {
    lexer.expect(punct)?;
    let value = lexer.count()?;
    T::try_from(value).or_else(|_| lexer.error(format!("{value} is too large")))
}

fn parse_substep(lexer: &mut Lexer, alg: &mut Algorithm, names: &mut Names) -> Parsed<()> {
    let at = if lexer.is('{') { 0.0 } else { lexer.real()? };
    let mut updates = Vec::new();
    lexer.expect('{')?;
    while !lexer.eat('}') {
        if !updates.is_empty() {
            lexer.expect(',')?;
        }
        let state = known_name(lexer, &names.states, "state")?;
        lexer.expect('=')?;
        updates.push((state, known_name(lexer, &names.functions, "function")?));
    }
    alg.substeps.push(Substep { at, updates });
    Ok(())
}
