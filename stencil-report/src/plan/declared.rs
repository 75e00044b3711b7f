//! The way from kernels back to the declaration: to its equations, intermediates and lines.

use std::collections::BTreeSet;

use stencil_compiler::algorithm::footprint::needed;
use stencil_compiler::algorithm::{Algorithm, FnId, NEW};
use stencil_compiler::diag::Span;
use stencil_compiler::plan::{BufferRole, Launch, Plan};

use super::candidates::Problem;

/// Something that the user has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    /// Its name.
    pub(super) name: String,
    /// Its first and last line, if known.
    pub(super) lines: Option<(u32, u32)>,
}

impl Declared {
    fn new(name: impl Into<String>, span: Span) -> Self {
        let lines = span.is_known().then_some((span.start.line, span.end.line));
        Declared { name: name.into(), lines }
    }
}

impl Problem<'_> {
    /// The line on which a grid function is declared.
    pub(super) fn line(&self, name: &str) -> Option<u32> {
        let id = self.algorithm.find(name)?;
        let span = self.algorithm.function(id).span;
        span.is_known().then_some(span.start.line)
    }

    /// The equations whose new values a kernel gives, in the order of the declaration.
    pub(super) fn equations(&self, launch: &Launch) -> Vec<Declared> {
        let component = |buffer: &str| buffer.strip_suffix(NEW).map(str::to_string);
        let new: Vec<String> =
            launch.outputs.iter().filter_map(|(buffer, _)| component(buffer)).collect();
        let of_field = |field: &str, name: &String| match name.strip_prefix(field) {
            Some("") => true,
            Some(rest) => {
                let axes = rest.strip_prefix('_').unwrap_or_default();
                !axes.is_empty() && axes.chars().all(|c| "xyz".contains(c))
            }
            None => false,
        };
        let equations = self.model.equations.iter().filter_map(|equation| {
            let field = self.model.fields.get(equation.field)?;
            let own: Vec<&String> = new.iter().filter(|n| of_field(&field.name, n)).collect();
            let all = self.components(&field.name, of_field);
            let name = match own.len() {
                0 => return None,
                n if n == all => format!("ddt({})", field.name),
                _ => {
                    let own: Vec<&str> = own.iter().map(|n| n.as_str()).collect();
                    format!("ddt({}) of {}", field.name, own.join(", "))
                }
            };
            Some(Declared::new(name, equation.span))
        });
        equations.collect()
    }

    fn components(&self, field: &str, of: impl Fn(&str, &String) -> bool) -> usize {
        let states = self.algorithm.states.iter();
        states.filter(|state| of(field, &state.name)).count()
    }

    /// Grid functions that a kernel stores and that are no new values.
    pub(super) fn stores(&self, launch: &Launch) -> Vec<Declared> {
        let own = launch.outputs.iter().filter(|(buffer, name)| buffer == name);
        own.filter_map(|(_, name)| {
            let function = self.algorithm.function(self.algorithm.find(name)?);
            Some(Declared::new(name, function.span))
        })
        .collect()
    }

    /// Named intermediates of the declaration that a kernel evaluates: those in which a grid function
    /// begins that it needs.
    pub(super) fn lets(&self, launch: &Launch) -> Vec<Declared> {
        let needed = computed(self.algorithm, launch);
        let inside =
            |span: Span, at: Span| at.is_known() && span.start <= at.start && at.start < span.end;
        let lets = self.model.lets.iter().filter(|one| {
            let span = one.span.join(one.value.span);
            let spans = needed.iter().map(|id| self.algorithm.function(*id).span);
            let mut spans = spans;
            spans.any(|at| inside(span, at))
        });
        lets.map(|one| Declared::new(&one.name, one.span.join(one.value.span))).collect()
    }
}

/// Grid functions that a kernel gives, and those that it reads from memory.
pub(crate) fn ends(algorithm: &Algorithm, launch: &Launch) -> (Vec<FnId>, BTreeSet<FnId>) {
    let find = |name: &String| algorithm.find(name);
    let outputs = launch.outputs.iter().filter_map(|(_, name)| find(name));
    let inputs = launch.inputs.iter().filter_map(|(name, _)| find(name));
    (outputs.collect(), inputs.collect())
}

/// Grid functions that a plan stores beside the states.
pub(crate) fn derived(plan: &Plan) -> Vec<&str> {
    let buffers = plan.buffers.iter();
    let derived = buffers.filter(|buffer| buffer.role == BufferRole::Derived);
    derived.map(|buffer| buffer.name.as_str()).collect()
}

/// Grid functions that a kernel evaluates.
pub(super) fn computed(algorithm: &Algorithm, launch: &Launch) -> Vec<FnId> {
    let (roots, stored) = ends(algorithm, launch);
    let all = needed(algorithm, &roots, &stored).into_iter();
    all.filter(|id| !stored.contains(id)).collect()
}
