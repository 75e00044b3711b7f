//! The `pde!` macro: tokens in, tokens out. Their meaning is the compiler's business.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use stencil_compiler::algorithm::text as algorithm_text;
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::diag::{Code, Diagnostic, Diagnostics};
use stencil_compiler::kernel::Kernel;
use stencil_compiler::model::Model;
use stencil_compiler::model::parse::{Dimensions, dimensions_of, parse_tokens_in};
use stencil_compiler::schedule::text as schedule_text;
use stencil_compiler::search::heuristic;
use stencil_compiler::{discretize, emit, model};

mod linked;
mod pointwise;
mod span;

use linked::Linked;

/// Declares a system of equations and the scheme that discretizes it, and compiles it.
///
/// ```text
/// stencil_runtime::pde! {
///     /// Diffusion.
///     pub system Heat in 3d {
///         field temperature: scalar [K];
///         param kappa: real [m^2/s] = 1 where kappa >= 0;
///         ddt(temperature) = kappa * lap(temperature);
///     }
///     scheme central6 for Heat { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
/// }
/// ```
///
/// gives the type `Heat`, which implements `stencil_runtime::System`. Kernels for the host's
/// processor become part of the program; with `#[interpreted]` before `system` they do not, which
/// builds faster and runs slower, with equal results.
///
/// A system `in nd` becomes a type with the number of dimensions as its parameter: `Heat<2>`. Its
/// kernels are compiled for one, two and three dimensions.
///
/// `use path::name;` before the system links a function that [`macro@pointwise`] has compiled, and
/// `use path::name as other;` under another name.
#[proc_macro]
pub fn pde(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = match Linked::of(input.into()) {
        Ok(linked) => linked,
        Err(error) => return error.into(),
    };
    let output = input.next("pde").unwrap_or_else(|| {
        let head = Head::of(input.all());
        expand(&head).unwrap_or_else(|errors| span::compile_errors(&head.rest, &errors))
    });
    output.into()
}

/// Makes a function of cell values that systems link by its path: `use path::name;` in [`macro@pde`].
///
/// ```text
/// /// The harmonic mean of slopes.
/// #[pointwise]
/// pub fn harmonic(a: scalar, b: scalar) -> scalar {
///     if a*b > 0 { 2*a*b/(a + b) } else { 0 }
/// }
/// ```
///
/// It is written in the language of equations, with types `scalar`, `vector` and `tensor`. Functions that it calls are
/// named: `#[pointwise(harmonic)]`. In Rust it is a function of `f32` and of `f64`, with arrays as vectors.
#[proc_macro_attribute]
pub fn pointwise(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    pointwise::expand(linked::uses(arguments.into(), item.into())).into()
}

/// [`macro@pointwise`] behind the functions that it calls.
#[doc(hidden)]
#[proc_macro]
pub fn pointwise_behind(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    pointwise::expand(input.into()).into()
}

/// The parts of the input that belong to Rust, and the rest.
struct Head {
    visibility: TokenStream,
    name: Ident,
    interpreted: bool,
    rest: TokenStream,
}

impl Head {
    fn of(input: TokenStream) -> Head {
        let trees: Vec<TokenTree> = input.into_iter().collect();
        let word = |i: usize| trees.get(i).map(ToString::to_string).unwrap_or_default();
        let group = |i: usize| matches!(trees.get(i), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis);
        let interpreted = (0..trees.len()).find(|i| {
            word(*i) == "#" && word(i + 1).replace(char::is_whitespace, "") == "[interpreted]"
        });
        let system = (0..trees.len()).find(|i| word(*i) == "system");
        let mut visibility = 0..0;
        if let Some(at) = system {
            let scoped = at >= 2 && group(at - 1) && word(at - 2) == "pub";
            let start = if scoped { at - 2 } else { at.saturating_sub(1) };
            if word(start) == "pub" {
                visibility = start..at;
            }
        }
        let name = match system.and_then(|at| trees.get(at + 1)) {
            Some(TokenTree::Ident(name)) => name.clone(),
            _ => Ident::new("System", Span::call_site()),
        };
        // `(crate)` and the attribute are Rust's; the language of the equations has neither.
        let is_rust = |i: usize| {
            interpreted.is_some_and(|at| i == at || i == at + 1)
                || (visibility.contains(&i) && group(i))
        };
        let rest = trees
            .iter()
            .enumerate()
            .filter(|(i, _)| !is_rust(*i))
            .map(|(_, tree)| tree.clone())
            .collect();
        Head {
            visibility: trees[visibility.clone()].iter().cloned().collect(),
            name,
            interpreted: interpreted.is_some(),
            rest,
        }
    }
}

fn expand(head: &Head) -> Result<TokenStream, Diagnostics> {
    let is_generic = dimensions_of(head.rest.clone()) == Some(Dimensions::Any);
    let choices = if is_generic { vec![Some(1), Some(2), Some(3)] } else { vec![None] };
    let mut text = String::new();
    for dimension in choices {
        let model = parse_tokens_in(head.rest.clone(), dimension)?;
        if text.is_empty() {
            text = declaration(&model, is_generic);
        }
        text += &implementation(&model, is_generic, head.interpreted)?;
    }
    let tokens: TokenStream = text.parse().map_err(|e: proc_macro2::LexError| bug(&e))?;
    Ok(place(tokens, head))
}

/// Returns an error that no declaration should cause.
fn bug(what: &dyn std::fmt::Display) -> Diagnostics {
    let span = stencil_compiler::diag::Span::default();
    Diagnostics::from(Diagnostic::new(Code::Syntax, span, what.to_string()))
}

/// Returns the type, with its documentation. A system for any number of dimensions has it as a parameter.
fn declaration(model: &Model, is_generic: bool) -> String {
    let mut out = String::new();
    for line in &model.doc {
        out += &format!("#[doc = {:?}]\n", format!(" {line}"));
    }
    let parameter = if is_generic { "<const D: usize>" } else { "" };
    out + "#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]\nsuper_visibility struct super_name"
        + parameter
        + ";\n"
}

/// Returns the system in one number of dimensions, and its kernels.
fn implementation(
    model: &Model,
    is_generic: bool,
    interpreted: bool,
) -> Result<String, Diagnostics> {
    let algorithm = discretize::discretize(model).map_err(Diagnostic::from)?;
    let schedule = heuristic::cpu(&algorithm);
    // Bodies are generic over the precision: kernels for the wider one serve both.
    let compiled = compile(&algorithm, &schedule, &Target::processor(8)).map_err(|e| bug(&e))?;
    let (mut items, mut kernels) = (String::new(), "::core::option::Option::None");
    if !interpreted {
        items = program(&compiled.kernels).map_err(|e| bug(&e))?;
        kernels = "::core::option::Option::Some(&KERNELS)";
    }
    let argument = if is_generic { format!("<{}>", model.dimension) } else { String::new() };
    Ok(format!(
        "#[allow(clippy::all, clippy::pedantic, missing_docs, unreachable_pub, dead_code, reason = \"generated\")]\nconst _: () = {{\n\
        {items}\nimpl ::stencil_runtime::System for super_name{argument} {{\n\
        const DEFINITION: ::stencil_runtime::Definition = ::stencil_runtime::Definition {{\n\
        name: {:?}, file: ::core::file!(), model: {:?}, algorithm: {:?}, schedule: {:?}, kernels: {kernels} }};\n}}\n}};\n",
        model.name,
        model::text::print(model),
        algorithm_text::print(&algorithm),
        schedule_text::print(&schedule),
    ))
}

/// Returns the kernels and the table of them.
fn program(kernels: &[Kernel]) -> Result<String, emit::EmitError> {
    emit::rust(&kernels.iter().collect::<Vec<_>>())
}

/// Puts the user's own tokens where the text has placeholders, so that rustc's messages point there.
fn place(tokens: TokenStream, head: &Head) -> TokenStream {
    let mut out = TokenStream::new();
    for tree in tokens {
        match tree {
            TokenTree::Ident(name) if name == "super_name" => {
                out.extend([TokenTree::Ident(head.name.clone())])
            }
            TokenTree::Ident(name) if name == "super_visibility" => {
                out.extend(head.visibility.clone())
            }
            TokenTree::Group(group) => {
                let mut inner =
                    proc_macro2::Group::new(group.delimiter(), place(group.stream(), head));
                inner.set_span(group.span());
                out.extend([TokenTree::Group(inner)]);
            }
            other @ (TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) => {
                out.extend([other])
            }
        }
    }
    out
}
