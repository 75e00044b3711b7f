//! Values that lie on faces of the mesh, where no boundary gives them: at open faces, and where they are held.
//!
//! An array holds the value of the upper face of each cell. So the value on the lower face of the mesh stands in a ghost cell, which no equation
//! changes, and the one on the upper face in the last cell, which none but the equation does.
//!
//! | face | value | rule |
//! | --- | --- | --- |
//! | lower, open | normal component of a field whose divergence stays | the first cell has no divergence |
//! | upper | component with a given number there | it has this number after each substep |
//!
//! The first rule replaces a step of the value itself: as fluxes through edges cancel in the divergence of the first cell, the value is
//! the one that the equation would give. In the cells further out it goes on from cell to cell. A cell beside two open lower faces
//! shares between them what flows through the other pair of faces, and one beside three repeats its own values.
//!
//! Cells are told apart by a state that is given: its [marks](OpenFaces::marks).

use std::collections::BTreeSet;

use super::divergence::OnFaces;
use super::prune::{map_reads, prune};
use super::{
    Access, Algorithm, Atom, Def, FnId, GridFn, Offset, Role, State, StateId, Uniform, UniformAtom,
    UniformId,
};
use crate::catalogue::centering::CENTRE;
use crate::diag::Span;
use crate::expr::{Builder, Expr, Op, Ref};

const AXES: [&str; 3] = ["x", "y", "z"];
const HERE: Offset = [0; 3];

/// The values on faces of a mesh that follow from a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenFaces {
    /// The name of the given state that tells cells apart, which no other name equals: [`Algorithm::free_name`].
    ///
    /// | cell | mark |
    /// | --- | --- |
    /// | ghost cell beyond the lower face of an axis | [`below`](Self::below) of the axis |
    /// | last cell along some axes | the sum of [`last`](Self::last) of these |
    /// | other | 0 |
    pub marks: String,
    /// Fields on faces whose divergence stays, and the axes whose lower faces are open for them.
    pub closed: Vec<(String, [bool; 3])>,
    /// Components that lie on an upper face and have a number there.
    pub held: Vec<Held>,
}

/// A component with a number on an upper face of the mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The name of its state.
    pub state: String,
    /// The axis of the face.
    pub axis: usize,
    /// The number.
    pub value: f64,
}

impl OpenFaces {
    /// The mark of ghost cells beyond the lower face of an axis: 1, 2 or 3.
    pub fn below(axis: usize) -> f64 {
        1.0 + axis as f64
    }

    /// The part of an axis in the mark of a last cell along it: 4, 8 or 16.
    pub fn last(axis: usize) -> f64 {
        f64::from(4 << axis)
    }
}

impl Algorithm {
    /// A name that nothing has, for the state of marks.
    pub fn free_name(&self, like: &str) -> String {
        let params = self.params.iter().map(|param| &param.name);
        let states = self.states.iter().map(|state| &state.name);
        let uniforms = self.uniforms.iter().map(|uniform| &uniform.name);
        let functions = self.functions.iter().map(|function| &function.name);
        let taken: BTreeSet<&String> =
            params.chain(states).chain(uniforms).chain(functions).collect();
        let mut name = like.to_string();
        while taken.contains(&name) {
            name.push('_');
        }
        name
    }

    /// The same algorithm with the values on faces that follow from these rules; states keep their numbers, and the marks come
    /// last. Differences of the divergence are of second order.
    ///
    /// ```
    /// use stencil_compiler::algorithm::open_faces::OpenFaces;
    /// use stencil_compiler::discretize::discretize;
    /// use stencil_compiler::model::parse;
    ///
    /// let model = parse::parse_str("system Light in 2d { edge field e: vector<3>; face field b: vector<3>; field q: scalar;
    ///     ddt(e) = curl(b); ddt(b) = -curl(e); ddt(q) = div(b); }")?;
    /// let light = discretize(&model)?;
    /// let faces = OpenFaces {
    ///     marks: light.free_name("marks"),
    ///     closed: vec![("b".into(), [true, false, false])],
    ///     held: Vec::new(),
    /// };
    /// let closed = light.with_open_faces(&faces);
    /// assert_eq!(closed.check(), Ok(()));
    /// assert_eq!(closed.states.len(), light.states.len() + 1);
    /// // The divergence reads the lower faces of a cell.
    /// assert!(closed.find("b_x_closed").is_some() && closed.find("b_y_closed").is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_open_faces(&self, faces: &OpenFaces) -> Algorithm {
        let mut made = Making::new(self, faces);
        for of in self.on_faces() {
            let open = faces.closed.iter().find(|(name, _)| *name == of.name);
            if let Some((_, open)) =
                open.filter(|_| self.state(of.components[0]).role == Role::Field)
            {
                made.close(&of, *open);
            }
        }
        made.rest();
        for held in &faces.held {
            made.hold(held, &faces.held);
        }
        prune(made.algorithm)
    }

    /// The lowest offsets, along each axis, at which functions are evaluated for the new values of a cell.
    fn lowest(&self) -> Vec<Offset> {
        let mut lowest = vec![HERE; self.functions.len()];
        for at in (0..self.functions.len()).rev() {
            let own = lowest[at];
            for access in self.functions[at].def.accesses() {
                let read = &mut lowest[access.of.0 as usize];
                let here = *read;
                *read = std::array::from_fn(|axis| here[axis].min(own[axis] + access.at[axis]));
            }
        }
        lowest
    }
}

/// An algorithm in the making, from another one.
struct Making<'a> {
    from: &'a Algorithm,
    algorithm: Algorithm,
    marks: FnId,
    /// The new numbers of functions, as far as they are there.
    moved: Vec<Option<FnId>>,
    /// Functions of components that are closed: the axis of each, and the function to read instead.
    closed: Vec<(FnId, usize, FnId)>,
}

impl<'a> Making<'a> {
    /// Begins with all states, that of marks last, and their functions.
    fn new(from: &'a Algorithm, faces: &OpenFaces) -> Self {
        let mut algorithm =
            Algorithm { functions: Vec::new(), substeps: Vec::new(), ..from.clone() };
        let state = State { name: faces.marks.clone(), role: Role::Given, halves: CENTRE };
        algorithm.states.push(state);
        let mut made =
            Making { from, algorithm, marks: FnId(0), moved: Vec::new(), closed: Vec::new() };
        made.moved = from.functions.iter().map(|_| None).collect();
        for (at, function) in from.functions.iter().enumerate() {
            if let Def::State(_) = function.def {
                made.moved[at] = Some(made.push(function.clone()));
            }
        }
        let def = Def::State(StateId(from.states.len() as u32));
        made.marks = made.push(GridFn { name: faces.marks.clone(), def, span: Span::default() });
        made
    }

    fn push(&mut self, function: GridFn) -> FnId {
        self.algorithm.functions.push(function);
        FnId(self.algorithm.functions.len() as u32 - 1)
    }

    /// The function of a state.
    fn of_state(&self, state: StateId) -> Option<FnId> {
        let functions = &self.algorithm.functions;
        let found = functions.iter().position(|function| function.def == Def::State(state));
        found.map(|at| FnId(at as u32))
    }

    /// The number of a state, by its name, and its function.
    fn named(&self, state: &str) -> Option<(StateId, FnId)> {
        let id = self.algorithm.find_state(state)?;
        Some((id, self.of_state(id)?))
    }

    /// The spacing along an axis over that along another.
    fn ratio(&mut self, over: usize, under: usize) -> UniformId {
        let mut b = Builder::new();
        let spacings = [over, under].map(|axis| b.atom(UniformAtom::Spacing(axis)));
        let ratio = b.op(Op::Div, &spacings);
        let value = b.finish(ratio);
        let uniforms = &self.algorithm.uniforms;
        let at = uniforms.iter().position(|known| known.value == value).unwrap_or_else(|| {
            let like = format!("h{}_over_h{}", AXES[over], AXES[under]);
            let name = self.algorithm.free_name(&like);
            self.algorithm.uniforms.push(Uniform { name, value });
            self.algorithm.uniforms.len() - 1
        });
        UniformId(at as u32)
    }

    /// Adds the components of a field without divergence beside lower faces.
    fn close(&mut self, field: &OnFaces, open: [bool; 3]) {
        let components: Option<Vec<FnId>> =
            field.components.iter().map(|state| self.of_state(*state)).collect();
        let Some(components) = components else { return };
        for axis in (0..components.len()).filter(|axis| open[*axis]) {
            let expr = self.closing(&components, axis, open);
            let own = components[axis];
            let like = format!("{}_closed", self.algorithm.function(own).name);
            // Names of functions that are still to come are taken, too.
            let mut name = self.from.free_name(&like);
            while self.algorithm.find(&name).is_some() {
                name.push('_');
            }
            let made = self.push(GridFn { name, def: Def::Point(expr), span: Span::default() });
            self.closed.push((own, axis, made));
        }
    }

    /// The component along an axis in a cell; in a ghost cell beyond the lower face, what closes the next cell.
    fn closing(&mut self, components: &[FnId], axis: usize, open: [bool; 3]) -> Expr<Atom> {
        let others: Vec<usize> = (0..components.len()).filter(|other| *other != axis).collect();
        let ratios: Vec<UniformId> = others.iter().map(|other| self.ratio(axis, *other)).collect();
        let mut b = Builder::new();
        let read =
            |b: &mut Builder<Atom>, of: FnId, at: Offset| b.atom(Atom::Access(Access { of, at }));
        let mut next = HERE;
        next[axis] = 1;
        let beside = |other: usize| {
            let mut at = next;
            at[other] -= 1;
            at
        };
        let mut sum = read(&mut b, components[axis], next);
        for (other, ratio) in others.iter().zip(ratios) {
            let faces = [next, beside(*other)].map(|at| read(&mut b, components[*other], at));
            let mut flow = b.op(Op::Sub, &faces);
            for third in others.iter().filter(|third| *third != other && open[**third]) {
                let half = b.lit(0.5);
                let shared = b.op(Op::Mul, &[flow, half]);
                flow = self.marked(&mut b, (*third, beside(*third)), shared, flow);
            }
            if open[*other] {
                let nothing = b.lit(0.0);
                flow = self.marked(&mut b, (*other, beside(*other)), nothing, flow);
            }
            let ratio = b.atom(Atom::Uniform(ratio));
            sum = b.op(Op::Fma, &[ratio, flow, sum]);
        }
        let own = read(&mut b, components[axis], HERE);
        let closed = self.marked(&mut b, (axis, HERE), sum, own);
        b.finish(closed)
    }

    /// One value if a cell lies beyond the lower face of an axis, else another one.
    fn marked(
        &self,
        b: &mut Builder<Atom>,
        (axis, at): (usize, Offset),
        then: Ref,
        otherwise: Ref,
    ) -> Ref {
        let mark = b.atom(Atom::Access(Access { of: self.marks, at }));
        let below = b.lit(OpenFaces::below(axis));
        b.op(Op::Eq, &[mark, below, then, otherwise])
    }

    /// Adds all other functions and the substeps. Functions that are evaluated beyond a lower face read closed components.
    fn rest(&mut self) {
        let lowest = self.from.lowest();
        for (at, function) in self.from.functions.iter().enumerate() {
            if let Def::State(_) = function.def {
                continue;
            }
            let def = map_reads(&function.def, |access| {
                let of = self.moved[access.of.0 as usize].unwrap_or(access.of);
                let closed = self
                    .closed
                    .iter()
                    .find(|(own, axis, _)| *own == of && lowest[at][*axis] + access.at[*axis] < 0);
                Access { of: closed.map_or(of, |(.., closed)| *closed), ..access }
            });
            self.moved[at] = Some(self.push(GridFn { def, ..function.clone() }));
        }
        self.algorithm.substeps = self.from.substeps.clone();
        for (_, of) in self.algorithm.substeps.iter_mut().flat_map(|s| &mut s.updates) {
            *of = self.moved[of.0 as usize].unwrap_or(*of);
        }
    }

    /// Gives a component its number on an upper face after each substep that changes it.
    fn hold(&mut self, held: &Held, all: &[Held]) {
        let Some((state, _)) = self.named(&held.state) else { return };
        // The sums of marks that such a cell may have.
        let axes: BTreeSet<usize> = all.iter().map(|held| held.axis).collect();
        let mut sums = vec![OpenFaces::last(held.axis)];
        for axis in axes.into_iter().filter(|axis| *axis != held.axis) {
            sums.extend(sums.clone().into_iter().map(|sum| sum + OpenFaces::last(axis)));
        }
        for substep in 0..self.algorithm.substeps.len() {
            let updates = &self.algorithm.substeps[substep].updates;
            let Some(at) = updates.iter().position(|(of, _)| *of == state) else { continue };
            let (_, new) = updates[at];
            let mut b = Builder::new();
            let mut value = b.atom(Atom::Access(Access { of: new, at: HERE }));
            let mark = b.atom(Atom::Access(Access { of: self.marks, at: HERE }));
            let number = b.lit(held.value);
            for sum in &sums {
                let sum = b.lit(*sum);
                value = b.op(Op::Eq, &[mark, sum, number, value]);
            }
            let like = format!("{}_held", self.algorithm.function(new).name);
            let name = self.algorithm.free_name(&like);
            let span = self.algorithm.function(new).span;
            let made = self.push(GridFn { name, def: Def::Point(b.finish(value)), span });
            self.algorithm.substeps[substep].updates[at].1 = made;
        }
    }
}

#[cfg(test)]
mod tests;
