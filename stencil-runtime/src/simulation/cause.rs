//! What made a value that is infinite or not a number, in words, with the way out.

use stencil_compiler::algorithm::{Algorithm, FnId, Origin, Role, StateId};
use stencil_compiler::expr::Op;
use stencil_compiler::model::{Comparison, Model};

use super::{Setup, Simulation};
use crate::backend::Machine;
use crate::backend::cpu::{BadValue, Patch};
use crate::backend::cuda::Moment;
use crate::mesh::{Axis, Face, Mesh, Side};
use crate::report::{told, told_point};
use crate::{Error, Number};

impl<T: Number> Simulation<T> {
    /// Traces a value that a substep has made from the fields on the processor to its origin; `None` where that cannot be told,
    /// or values have become too large little by little.
    pub(super) fn cause(&self, bad: &BadValue, substep: usize, dt: f64, t: f64) -> Option<String> {
        let Machine::Cpu(machine) = &self.machine else {
            return None;
        };
        cause(&self.setup, &machine.patch, bad, (substep, dt, t))
    }

    /// Traces a value on a card to its origin. Its fields are those before the step: the substeps before the bad one are done again, and
    /// undone afterwards.
    pub(super) fn cause_on_card(
        &mut self,
        bad: &BadValue,
        substep: usize,
        moment: Moment,
    ) -> Option<String> {
        let Machine::Cuda(machine) = &mut self.machine else {
            return None;
        };
        machine.begin_again(moment).ok()?;
        let found = self.cause_after_substeps(bad, substep, moment);
        let undone = self.undo();
        found
            .and_then(|found| undone.map(|()| found))
            .ok()
            .flatten()
    }

    /// Does the substeps of a step that are before the bad one, and looks at the fields after them.
    fn cause_after_substeps(
        &mut self,
        bad: &BadValue,
        substep: usize,
        moment: Moment,
    ) -> Result<Option<String>, Error> {
        let Moment { t, dt, .. } = moment;
        for earlier in 0..substep {
            let at = self.rules.time(earlier, t, dt);
            self.sample_unsteady(at)?;
            if let Machine::Cuda(machine) = &mut self.machine {
                machine.substep_again(earlier, at)?;
            }
        }
        let at = self.rules.time(substep, t, dt);
        self.sample_unsteady(at)?;
        let (setup, pool) = (&self.setup, &self.pool);
        let Machine::Cuda(machine) = &mut self.machine else {
            return Ok(None);
        };
        machine.on_host_amid(|patch| {
            let halo = patch.shape.halo;
            let is_field = |name: &str| setup.system.algorithm().find_state(name).is_some();
            let jobs = patch.jobs(|name| is_field(name).then_some(halo));
            pool.install(|| patch.fill(&jobs, at));
            cause(setup, patch, bad, (substep, dt, at))
        })
    }
}

/// Traces a value to its origin: a substep of a step of length `dt` made it from these fields, at the time `t`.
fn cause<T: Number>(
    setup: &Setup,
    patch: &Patch<T>,
    bad: &BadValue,
    (substep, dt, t): (usize, f64, f64),
) -> Option<String> {
    let algorithm = setup.system.algorithm();
    let updates = &algorithm.substeps.get(substep)?.updates;
    let is_it =
        |(state, _): &&(StateId, FnId)| algorithm.states[state.0 as usize].name == bad.component;
    let (_, function) = updates.iter().find(is_it)?;
    let uniforms =
        algorithm.uniform_values(T::PRECISION, &setup.params, setup.mesh.spacing(), (dt, t));
    let uniforms: Vec<T> = uniforms.into_iter().map(T::from_f64).collect();
    let mut is_beyond = false;
    let mut read = |state: StateId, cell: [isize; 3]| {
        let state = &algorithm.states[state.0 as usize];
        let cell = around(patch, cell);
        let value = patch.value(&state.name, cell);
        is_beyond |= value.is_none();
        let value = value.unwrap_or(T::ZERO);
        // What is updated in place is no longer as it was read, and was finite.
        let spoilt = state.role.is_in_place() && !value.to_f64().is_finite();
        if spoilt { T::ZERO } else { value }
    };
    let cell = bad.cell.map(|i| i as isize);
    let origin = algorithm.origin(*function, cell, &uniforms, &mut read)?;
    if is_beyond {
        return None;
    }
    match &origin {
        Origin::Outside { cell, sides } => {
            let place = place(algorithm, &setup.mesh, *cell);
            left(setup.system.model(), sides, &place)
        }
        _ => in_words(algorithm, &setup.mesh, &origin),
    }
}

/// The cell with the values of one beyond periodic ends, where there may be no ghost cells.
fn around<T: Number>(patch: &Patch<T>, cell: [isize; 3]) -> [isize; 3] {
    let periodic = patch.domain().boundaries.periodic;
    std::array::from_fn(|axis| match periodic[axis] {
        true => cell[axis].rem_euclid(patch.shape.cells[axis] as isize),
        false => cell[axis],
    })
}

/// The ranges that a step leaves, of which both sides of the comparison are known, with the way out.
fn left(model: &Model, sides: &[[f64; 2]], place: &str) -> Option<String> {
    if sides.len() != model.ranges.len() {
        return None;
    }
    let values = model
        .ranges
        .iter()
        .zip(sides)
        .filter_map(|(range, [low, high])| {
            let (value, holds) = match range.comparison {
                Comparison::Greater => (high, low < high),
                Comparison::GreaterEqual => (high, low <= high),
                Comparison::Less => (low, low < high),
                Comparison::LessEqual => (low, low <= high),
            };
            let [of, range] = model.range_text(range);
            (!holds).then(|| format!("{of} = {}, which is kept {range}", told(*value)))
        });
    let values: Vec<String> = values.collect();
    let values = Some(values.join(" and ")).filter(|values| !values.is_empty());
    values.map(|values| {
        format!(
            "The step makes {values}, {place}, even with repaired fluxes: take smaller time steps, or look for what else takes from the cell"
        )
    })
}

/// An origin in words, with the way out.
fn in_words(algorithm: &Algorithm, mesh: &Mesh, origin: &Origin) -> Option<String> {
    match origin {
        Origin::Outside { .. } => None,
        Origin::Read { state, cell, value } => {
            let state = &algorithm.states[state.0 as usize];
            let (name, place) = (&state.name, place(algorithm, mesh, *cell));
            let beyond = beyond(mesh, *cell);
            Some(match (state.role, beyond) {
                (Role::Given, None) => format!(
                    "The source `{name}` is {} {place}: give it values that are finite in all cells",
                    told(*value)
                ),
                (Role::Given, Some(face)) => format!(
                    "The source `{name}` is {} {place}: it follows from its values next to {face}, which are to be finite",
                    told(*value)
                ),
                (_, Some(face)) => format!(
                    "The ghost value of `{name}` is {} {place}: it is the boundary of {face} that makes it",
                    told(*value)
                ),
                (_, None) => return None,
            })
        }
        Origin::Made {
            function,
            cell,
            op,
            of,
        } => {
            let what = failed(*op, of)?;
            let name = &algorithm.function(*function).name;
            let place = place(algorithm, mesh, *cell);
            let way_out = match beyond(mesh, *cell) {
                Some(face) => format!(
                    "it is made of ghost values, so the boundary of {face} does not fit the equation there: choose another one, or values on the face that are nearer to those in cells"
                ),
                None => "the equation has no value there: look at the initial values, guard the term with `if` or `max`, or take a smaller time step if the run came there by itself".to_string(),
            };
            Some(format!("`{name}` takes {what} {place}: {way_out}"))
        }
    }
}

/// An operation that has no value for finite numbers; `None` if its value is too large.
fn failed(op: Op, of: &[f64]) -> Option<String> {
    match (op, of) {
        (Op::Sqrt, [value]) => Some(format!("the square root of {}", told(*value))),
        (Op::Log, [value]) => Some(format!("the logarithm of {}", told(*value))),
        (Op::Div, [value, 0.0]) => Some(format!("the quotient of {} by zero", told(*value))),
        (Op::Pow, [base, exponent]) if *base < 0.0 || (*base == 0.0 && *exponent < 0.0) => {
            Some(format!("the power {} of {}", told(*exponent), told(*base)))
        }
        _ => None,
    }
}

/// The face that a ghost cell lies beyond, the one that acts last.
fn beyond(mesh: &Mesh, cell: [isize; 3]) -> Option<Face> {
    let mut faces = Axis::ALL.into_iter().rev().filter_map(|axis| {
        let at = cell[axis.index()];
        let side = match at {
            ..0 => Side::Lo,
            _ if at >= mesh.cells[axis.index()] as isize => Side::Hi,
            _ => return None,
        };
        Some(Face::new(axis, side))
    });
    faces.next()
}

/// Where a cell or ghost cell is.
fn place(algorithm: &Algorithm, mesh: &Mesh, cell: [isize; 3]) -> String {
    let point = &mesh.point(cell)[..algorithm.dimension];
    match beyond(mesh, cell) {
        None => format!("at {}", told_point(point)),
        Some(face) => format!("at {}, beyond {face}", told_point(point)),
    }
}
