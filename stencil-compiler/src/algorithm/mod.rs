//! The `Algorithm`: the discrete problem, free of schedule, as a DAG of grid functions.
//!
//! Invariants (kept by [`check`](Algorithm::check)): each grid function is defined once and reads
//! earlier ones at constant offsets; tensors are expanded; no operator is left; rounding is final:
//! nothing after this stage reassociates, factors, contracts or expands.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalogue::Halves;
use crate::diag::Span;
use crate::expr::real::Precision;
use crate::expr::{Defined, Expr, Node};

pub mod check;
mod divergence;
pub(crate) mod flat;
pub mod footprint;
mod fuse;
pub mod interp;
pub mod open_faces;
mod origin;
mod previous;
pub(crate) mod prune;
pub mod rows;
pub mod text;

#[cfg(test)]
pub(crate) mod tests;

pub use fuse::MOST_FUSED;
pub use origin::Origin;

/// The suffix of a field's name in that of the array of its new values.
pub const NEW: &str = "_new";

/// A constant displacement in cells along x, y, z.
pub type Offset = [i32; 3];

/// Index of a grid function in [`Algorithm::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FnId(pub u32);

/// Index of a uniform in [`Algorithm::uniforms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UniformId(pub u32);

/// Index of a state variable in [`Algorithm::states`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u32);

/// The discrete problem of one time step.
#[derive(Clone, Debug, PartialEq)]
pub struct Algorithm {
    /// Name of the system.
    pub name: String,
    /// The file that declares it, for messages and marks; empty if it is unknown.
    pub file: String,
    /// Number of space dimensions; axes beyond it have one cell and no offsets.
    pub dimension: usize,
    /// The resolved scheme in words, for reports and fingerprints.
    pub scheme: String,
    /// Parameters in the order of declaration.
    pub params: Vec<Param>,
    /// State variables: values that persist from substep to substep.
    pub states: Vec<State>,
    /// Numbers that are the same in every cell.
    pub uniforms: Vec<Uniform>,
    /// Grid functions; each reads earlier ones only.
    pub functions: Vec<GridFn>,
    /// Right-hand sides of the step, in order of execution.
    pub substeps: Vec<Substep>,
}

/// A parameter of the system.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// The value unless a run gives one.
    pub default: Option<f64>,
}

/// A state variable: one component of a field, or the integrator's accumulator of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its name: `u_x`, `u_x_acc`.
    pub name: String,
    /// Its role for the integrator.
    pub role: Role,
    /// The place of its values in their cells.
    pub halves: Halves,
}

/// The role of a state variable for the time integrator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A component of an evolved field: read with neighbours, so it has ghost cells, and written
    /// to a second array that is swapped in after the substep.
    Field,
    /// Carried from substep to substep and read only in its own cell; updated in place.
    Accumulator,
    /// Counts in its own cell from step to step; nothing else reads it. Updated in place.
    Count,
    /// Given from outside, a source: read with neighbours, so it has ghost cells, and never written.
    Given,
}

impl Role {
    /// Is it updated in place, and read in its own cell only?
    pub fn is_in_place(self) -> bool {
        match self {
            Role::Accumulator | Role::Count => true,
            Role::Field | Role::Given => false,
        }
    }
}

/// A number that is the same in every cell: computed once, in `f64`, and rounded once.
#[derive(Clone, Debug, PartialEq)]
pub struct Uniform {
    /// Its name in texts and sources.
    pub name: String,
    /// The expression of its value.
    pub value: Expr<UniformAtom>,
}

/// An operand of a uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UniformAtom {
    /// Index into [`Algorithm::params`].
    Param(usize),
    /// The grid spacing along an axis.
    Spacing(usize),
    /// The time step.
    Dt,
    /// The time of the substep.
    Time,
    /// The machine epsilon of the run's precision.
    Epsilon,
}

/// A named discrete quantity, stored or not.
#[derive(Clone, Debug, PartialEq)]
pub struct GridFn {
    /// Its name, unique in the algorithm.
    pub name: String,
    /// Its definition.
    pub def: Def,
    /// Its origin in the user's text.
    pub span: Span,
}

/// Definition of a grid function.
#[derive(Clone, Debug, PartialEq)]
pub enum Def {
    /// The value of a state variable at the start of the substep.
    State(StateId),
    /// A pointwise expression of accesses and uniforms.
    Point(Expr<Atom>),
    /// An ordered sum: the first term is a product, each further term one fused multiply-add.
    /// Terms are ordered by the plane they read along the slowest axis, lowest first, so a march
    /// may add them plane by plane.
    Sum(Vec<SumTerm>),
}

/// One term of an ordered sum: `± factor * value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumTerm {
    /// Subtract in place of add.
    pub negative: bool,
    /// The factor; `None` is one (a plain addition).
    pub factor: Option<UniformId>,
    /// The value that is multiplied.
    pub value: Access,
}

/// A grid function at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// The grid function.
    pub of: FnId,
    /// The offset from the cell that reads.
    pub at: Offset,
}

/// An operand of a pointwise definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Atom {
    /// A grid function at an offset.
    Access(Access),
    /// A number that is the same in every cell.
    Uniform(UniformId),
}

/// One right-hand side: the new value of each state variable that it changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Substep {
    /// Its time, in time steps from the start of the step.
    pub at: f64,
    /// State variables in order, each with the grid function that is its new value.
    pub updates: Vec<(StateId, FnId)>,
}

impl Algorithm {
    /// A grid function.
    pub fn function(&self, id: FnId) -> &GridFn {
        &self.functions[id.0 as usize]
    }

    /// A state variable.
    pub fn state(&self, id: StateId) -> &State {
        &self.states[id.0 as usize]
    }

    /// A uniform.
    pub fn uniform(&self, id: UniformId) -> &Uniform {
        &self.uniforms[id.0 as usize]
    }

    /// All grid functions with their ids.
    pub fn ids(&self) -> impl Iterator<Item = (FnId, &GridFn)> {
        self.functions.iter().enumerate().map(|(i, f)| (FnId(i as u32), f))
    }

    /// The grid function of this name.
    pub fn find(&self, name: &str) -> Option<FnId> {
        self.ids().find(|(_, f)| f.name == name).map(|(id, _)| id)
    }

    /// All grid functions by name: faster than finding many one by one.
    pub fn by_name(&self) -> BTreeMap<&str, FnId> {
        self.ids().map(|(id, function)| (function.name.as_str(), id)).collect()
    }

    /// The state variable of this name.
    pub fn find_state(&self, name: &str) -> Option<StateId> {
        self.states.iter().position(|s| s.name == name).map(|i| StateId(i as u32))
    }

    /// State variables of a role, in order.
    pub fn states_of(&self, role: Role) -> impl Iterator<Item = (StateId, &State)> {
        let all = self.states.iter().enumerate().map(|(i, s)| (StateId(i as u32), s));
        all.filter(move |(_, s)| s.role == role)
    }

    /// The axis that a march follows: the slowest one.
    pub fn slowest_axis(&self) -> usize {
        self.dimension - 1
    }

    /// Values of all uniforms in `f64`, before their one rounding to the precision of a run, at the time `t` of a substep.
    pub fn uniform_values(
        &self,
        precision: Precision,
        params: &[f64],
        spacing: [f64; 3],
        (dt, t): (f64, f64),
    ) -> Vec<f64> {
        let atom = |atom: &UniformAtom| match *atom {
            UniformAtom::Param(i) => params[i],
            UniformAtom::Spacing(axis) => spacing[axis],
            UniformAtom::Dt => dt,
            UniformAtom::Time => t,
            UniformAtom::Epsilon => precision.epsilon(),
        };
        self.uniforms.iter().map(|u| u.value.eval(atom)).collect()
    }

    /// Does any uniform change from substep to substep?
    pub fn depends_on_time(&self) -> bool {
        let mut atoms = self.uniforms.iter().flat_map(|u| u.value.atoms());
        atoms.any(|atom| *atom == UniformAtom::Time)
    }

    /// The loops and routines that grid functions call, by name.
    pub fn defined(&self) -> Defined {
        let mut found = Defined::default();
        for function in &self.functions {
            if let Def::Point(expr) = &function.def {
                found.add_all(&expr.nodes);
            }
        }
        found
    }

    /// Arithmetic operations to evaluate a grid function once, its inputs given.
    pub fn cost(&self, id: FnId) -> u32 {
        match &self.function(id).def {
            Def::State(_) => 0,
            Def::Sum(terms) => terms.len() as u32 - u32::from(terms[0].factor.is_none()),
            Def::Point(expr) => expr
                .nodes
                .iter()
                .map(|node| match node {
                    Node::Op(op, _) => op.cost(),
                    Node::Lit(_) | Node::Atom(_) => 0,
                })
                .sum(),
        }
    }

    /// Grid functions that read an accumulator, directly or through others.
    pub fn made_of_accumulators(&self) -> BTreeSet<FnId> {
        let mut found = BTreeSet::new();
        // Functions read those defined before them.
        for (id, function) in self.ids() {
            let is_made = match function.def {
                Def::State(state) => self.state(state).role.is_in_place(),
                Def::Point(_) | Def::Sum(_) => {
                    function.def.reads().any(|read| found.contains(&read.of))
                }
            };
            if is_made {
                found.insert(id);
            }
        }
        found
    }

    /// The same algorithm with every access at the cell itself: as many operations on the same arrays, but no stencil.
    /// Its cost under a schedule shows the cost of the stencil.
    ///
    /// ```
    /// use stencil_compiler::discretize::discretize;
    /// use stencil_compiler::model::parse;
    ///
    /// let model = parse::parse_str("pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }
    ///     scheme s for Heat { space: central<order = 2>; mixed: bidiagonal; time: euler; }")?;
    /// let bare = discretize(&model)?.without_neighbours();
    /// let mut reads = bare.functions.iter().flat_map(|f| f.def.accesses());
    /// assert!(reads.all(|access| access.at == [0; 3]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn without_neighbours(&self) -> Self {
        let mut bare = self.clone();
        for function in &mut bare.functions {
            let here = |access| Access { at: [0; 3], ..access };
            function.def = prune::map_reads(&function.def, here);
        }
        bare
    }

    /// Ids by name.
    pub fn names(&self) -> BTreeMap<&str, FnId> {
        self.ids().map(|(id, f)| (f.name.as_str(), id)).collect()
    }
}

impl Def {
    /// The accesses of a definition, in order of first use.
    pub fn accesses(&self) -> Vec<Access> {
        self.reads().collect()
    }

    /// The accesses of a definition, one by one, with repetitions.
    pub fn reads(&self) -> impl Iterator<Item = Access> + Clone {
        let (point, terms) = match self {
            Def::State(_) => (None, &[][..]),
            Def::Point(expr) => (Some(expr), &[][..]),
            Def::Sum(terms) => (None, &terms[..]),
        };
        let atoms = point.into_iter().flat_map(|expr| expr.atoms());
        let of_point = atoms.filter_map(|atom| match atom {
            Atom::Access(access) => Some(*access),
            Atom::Uniform(_) => None,
        });
        of_point.chain(terms.iter().map(|term| term.value))
    }
}
