//! Finds the cause of a value that is infinite or NaN, in words, with the way out.

use stencil_compiler::algorithm::{Algorithm, FnId, Origin, Role, StateId};
use stencil_compiler::expr::Op;
use stencil_compiler::model::{Comparison, Model};

use super::{Setup, Simulation};
use crate::field::{BadValue, Fields};
use crate::mesh::{Axis, Face, Mesh, Side};
use crate::report::{told, told_point};
use crate::step::{After, Moment};
use crate::{Error, Number};

impl<T: Number> Simulation<T> {
    /// Traces a value that a substep has made to its origin; `None` if it is not found, or values have become too
    /// large little by little.
    pub(super) fn cause(
        &mut self,
        bad: &BadValue,
        (moment, substep): (Moment, usize),
        fields: After,
    ) -> Option<String> {
        match fields {
            After::Substep => self.cause_amid(bad, substep, moment),
            After::Step => self.cause_again(bad, substep, moment),
            After::Lost => Ok(None),
        }
        .ok()
        .flatten()
    }

    /// Traces it from the fields before the step: does the substeps before the bad one again, and undoes them.
    fn cause_again(
        &mut self,
        bad: &BadValue,
        substep: usize,
        moment: Moment,
    ) -> Result<Option<String>, Error> {
        self.device.begin_again(moment)?;
        let found = self.cause_after_substeps(bad, substep, moment);
        let undone = self.undo();
        found.and_then(|found| undone.map(|()| found))
    }

    /// Does the substeps of a step that are before the bad one, and uses the fields after them.
    fn cause_after_substeps(
        &mut self,
        bad: &BadValue,
        substep: usize,
        moment: Moment,
    ) -> Result<Option<String>, Error> {
        let Moment { t, dt, .. } = moment;
        for earlier in 0..substep {
            self.sample_unsteady(self.rules.time(earlier, t, dt))?;
            self.device.substep_again(moment, earlier)?;
        }
        self.sample_unsteady(self.rules.time(substep, t, dt))?;
        self.cause_amid(bad, substep, moment)
    }

    /// Traces it if the fields and given fields are those before the substep.
    fn cause_amid(
        &mut self,
        bad: &BadValue,
        substep: usize,
        moment: Moment,
    ) -> Result<Option<String>, Error> {
        let Moment { t, dt, .. } = moment;
        let at = self.rules.time(substep, t, dt);
        let setup = &self.setup;
        let mut found = None;
        self.device.on_host_amid(&mut |fields| {
            let halo = fields.shape().halo;
            let is_field = |name: &str| setup.system.algorithm().find_state(name).is_some();
            let ghosts = fields.ghosts(|name| is_field(name).then_some(halo.into()));
            fields.fill(&fields.filling(&ghosts), at);
            found = cause(setup, fields, bad, (substep, dt, at));
        })?;
        Ok(found)
    }
}

/// Traces a value to its origin: a substep of a step of length `dt` made it from these fields, at the time `t`.
fn cause<T: Number>(
    setup: &Setup,
    fields: &Fields<T>,
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
        let cell = around(fields, cell);
        let value = fields.value(&state.name, cell);
        is_beyond |= value.is_none();
        let value = value.unwrap_or(T::ZERO);
        // A value that was updated in place is not the one that was read, which was finite.
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

/// Returns the cell that equals one beyond periodic ends, which may have no ghost cells.
fn around<T: Number>(fields: &Fields<T>, cell: [isize; 3]) -> [isize; 3] {
    let domain = &fields.domain;
    std::array::from_fn(|axis| match domain.boundaries.periodic[axis] {
        true => cell[axis].rem_euclid(domain.mesh.cells[axis] as isize),
        false => cell[axis],
    })
}

/// Returns the ranges that a step leaves, if both sides of the comparison are known, with the way out.
fn left(model: &Model, sides: &[[f64; 2]], place: &str) -> Option<String> {
    if sides.len() != model.ranges.len() {
        return None;
    }
    let values = model.ranges.iter().zip(sides).filter_map(|(range, [low, high])| {
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

/// Returns an origin in words, with the way out.
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
        Origin::Made { function, cell, op, of } => {
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

/// Returns an operation without a value for finite numbers; `None` if its value is too large.
fn failed(op: Op, of: &[f64]) -> Option<String> {
    match (op, of) {
        (Op::Sqrt, [value]) => Some(format!("the square root of {}", told(*value))),
        (Op::Log, [value]) => Some(format!("the logarithm of {}", told(*value))),
        (Op::Div, [value, 0.0]) => Some(format!("the quotient of {} by zero", told(*value))),
        (Op::Reciprocal, [value]) => Some(format!("the reciprocal of {}", told(*value))),
        (Op::Mod, [value, 0.0]) => Some(format!("the remainder of {} by zero", told(*value))),
        (Op::Mod, [value, by]) => Some(format!(
            "the remainder of {} by {}, whose quotient has too many digits",
            told(*value),
            told(*by)
        )),
        (Op::Pow, [base, exponent]) if *base < 0.0 || (*base == 0.0 && *exponent < 0.0) => {
            Some(format!("the power {} of {}", told(*exponent), told(*base)))
        }
        _ => None,
    }
}

/// Returns the face that a ghost cell lies beyond, the one that acts last.
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

/// Returns the place of a cell or ghost cell in words.
fn place(algorithm: &Algorithm, mesh: &Mesh, cell: [isize; 3]) -> String {
    let point = &mesh.point(cell)[..algorithm.dimension];
    match beyond(mesh, cell) {
        None => format!("at {}", told_point(point)),
        Some(face) => format!("at {}, beyond {face}", told_point(point)),
    }
}
