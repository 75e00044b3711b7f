//! Drives the row engine over one periodic box, with plain padded arrays.

use super::{Case, each};
use crate::OrPanic;
use stencil_compiler::algorithm::rows::{Layout, RowProgram};
use stencil_compiler::algorithm::{Algorithm, Def, FnId, Role, StateId};
use stencil_compiler::expr::Real;

/// Drives the row engine over one periodic box.
pub(super) struct Rows<'a, T> {
    algorithm: &'a Algorithm,
    programs: Vec<RowProgram>,
    states: Vec<Vec<T>>,
    case: Case,
    t: f64,
    uniforms: Vec<T>,
    cells: [usize; 3],
    halo: [usize; 3],
}

impl<'a, T: Real> Rows<'a, T> {
    pub(super) fn new(algorithm: &'a Algorithm, case: &Case) -> Self {
        let programs: Vec<RowProgram> = (0..algorithm.substeps.len())
            .map(|s| RowProgram::new(algorithm, s).or_panic())
            .collect();
        let mut halo = [0; 3];
        for program in &programs {
            let needed = program.halo().map(|n| n as usize);
            halo = std::array::from_fn(|axis| needed[axis].max(halo[axis]));
        }
        let len = (0..3).map(|a| case.cells[a] + 2 * halo[a]).product();
        let states = vec![vec![T::ZERO; len]; algorithm.states.len()];
        let mut this = Rows {
            algorithm,
            programs,
            states,
            case: case.clone(),
            t: 0.0,
            uniforms: Vec::new(),
            cells: case.cells,
            halo,
        };
        for (i, state) in case.set_states(algorithm) {
            let values = case.initial::<T>(i);
            let mut next = values.into_iter();
            each(case.cells, |at| {
                let place = this.place(at);
                this.states[state.0 as usize][place] = next.next().expect("a value for each cell");
            });
        }
        this
    }

    fn layout(&self) -> Layout {
        let pitch = self.cells[0] + 2 * self.halo[0];
        let plane = pitch * (self.cells[1] + 2 * self.halo[1]);
        let origin = self.halo[2] * plane + self.halo[1] * pitch + self.halo[0];
        Layout { origin, pitch, plane }
    }

    fn place(&self, at: [i64; 3]) -> usize {
        let layout = self.layout();
        (layout.origin as i64 + at[0] + at[1] * layout.pitch as i64 + at[2] * layout.plane as i64)
            as usize
    }

    fn fill(&mut self, state: StateId) {
        let n = self.cells.map(|n| n as i64);
        let h = self.halo.map(|h| h as i64);
        for z in -h[2]..n[2] + h[2] {
            for y in -h[1]..n[1] + h[1] {
                for x in -h[0]..n[0] + h[0] {
                    let from =
                        self.place([x.rem_euclid(n[0]), y.rem_euclid(n[1]), z.rem_euclid(n[2])]);
                    let to = self.place([x, y, z]);
                    self.states[state.0 as usize][to] = self.states[state.0 as usize][from];
                }
            }
        }
    }

    fn state_of(&self, id: FnId) -> StateId {
        match self.algorithm.function(id).def {
            Def::State(state) => state,
            Def::Point(_) | Def::Sum(_) => panic!("an input is no state"),
        }
    }

    fn substep(&mut self, program: &RowProgram) {
        let filled = self.case.set_states(self.algorithm);
        filled.into_iter().for_each(|(_, s)| self.fill(s));
        let old = self.states.clone();
        let inputs: Vec<&[T]> = program
            .inputs()
            .iter()
            .map(|id| old[self.state_of(*id).0 as usize].as_slice())
            .collect();
        let mut scratch = program.scratch(&self.uniforms);
        let nx = self.cells[0];
        for z in 0..self.cells[2] as i64 {
            for y in 0..self.cells[1] as i64 {
                let at = self.place([0, y, z]);
                let states: Vec<StateId> = program
                    .outputs()
                    .iter()
                    .map(|o| o.state.expect("a substep updates states"))
                    .collect();
                let mut rows: Vec<Vec<T>> = states
                    .iter()
                    .map(|s| self.states[s.0 as usize][at..at + nx].to_vec())
                    .collect();
                let mut slices: Vec<&mut [T]> = rows.iter_mut().map(Vec::as_mut_slice).collect();
                program.run(
                    &mut scratch,
                    &inputs,
                    self.layout(),
                    [0, y as isize, z as isize],
                    &mut slices,
                );
                for (state, row) in states.iter().zip(rows) {
                    self.states[state.0 as usize][at..at + nx].copy_from_slice(&row);
                }
            }
        }
    }

    pub(super) fn run(mut self, steps: usize) -> Vec<Vec<T>> {
        let programs = std::mem::take(&mut self.programs);
        for _ in 0..steps {
            for (program, substep) in programs.iter().zip(&self.algorithm.substeps) {
                let t = self.case.dt.mul_add(substep.at, self.t);
                self.uniforms = self.case.uniforms_at(self.algorithm, t);
                self.substep(program);
            }
            self.t += self.case.dt;
        }
        let fields: Vec<StateId> = self.algorithm.states_of(Role::Field).map(|(s, _)| s).collect();
        let interior = |state: &StateId| {
            let mut out = Vec::new();
            each(self.cells, |at| out.push(self.states[state.0 as usize][self.place(at)]));
            out
        };
        fields.iter().map(interior).collect()
    }
}
