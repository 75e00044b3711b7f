//! The oracle: evaluates an [`Algorithm`] grid function by grid function over whole periodic arrays. It defines the
//! meaning of the algorithm, and is written for clarity only.

use super::{Access, Algorithm, Atom, Def, FnId, StateId, Substep, SumTerm};
use crate::expr::Real;

/// An array of cells with ghost cells around them; x is the fastest axis.
#[derive(Clone, Debug)]
pub struct Grid<T> {
    cells: [usize; 3],
    halo: [i32; 3],
    data: Vec<T>,
}

impl<T: Real> Grid<T> {
    /// Computes a grid of interior `cells` with `halo` ghost cells on both sides, cell by cell.
    /// Interior cells count from zero; ghost cells lie below zero and beyond the last.
    pub fn from_fn(
        cells: [usize; 3],
        halo: [i32; 3],
        mut value: impl FnMut([i32; 3]) -> T,
    ) -> Self {
        let end = |axis: usize| cells[axis] as i32 + halo[axis];
        let size = [0, 1, 2].map(|axis| cells[axis] + 2 * halo[axis] as usize);
        let mut data = Vec::with_capacity(size.iter().product());
        for z in -halo[2]..end(2) {
            for y in -halo[1]..end(1) {
                for x in -halo[0]..end(0) {
                    data.push(value([x, y, z]));
                }
            }
        }
        Grid { cells, halo, data }
    }

    /// The value of a cell or ghost cell.
    pub fn at(&self, cell: [i32; 3]) -> T {
        let size = |axis: usize| self.cells[axis] + 2 * self.halo[axis] as usize;
        let place = |axis: usize| (cell[axis] + self.halo[axis]) as usize;
        self.data[(place(2) * size(1) + place(1)) * size(0) + place(0)]
    }
}

/// The reference meaning of an algorithm on a periodic box.
#[derive(Clone, Debug)]
pub struct Oracle<'a, T> {
    alg: &'a Algorithm,
    cells: [usize; 3],
    params: Vec<f64>,
    spacing: [f64; 3],
    dt: f64,
    t: f64,
    uniforms: Vec<T>,
    /// Interior values of each state variable.
    states: Vec<Vec<T>>,
}

impl<'a, T: Real> Oracle<'a, T> {
    /// An oracle with all states zero, at time zero.
    ///
    /// # Errors
    /// If the algorithm is not well-formed, or cells or parameters do not fit it.
    pub fn new(
        alg: &'a Algorithm,
        cells: [usize; 3],
        params: &[f64],
        spacing: [f64; 3],
        dt: f64,
    ) -> Result<Self, String> {
        alg.check()?;
        if params.len() != alg.params.len() {
            return Err(format!(
                "`{}` has {} parameters, not {}",
                alg.name,
                alg.params.len(),
                params.len()
            ));
        }
        if cells.iter().any(|n| !(1..=1 << 20).contains(n))
            || cells[alg.dimension..].iter().any(|n| *n != 1)
        {
            return Err(format!(
                "`{}` has {} dimensions and cannot run on {cells:?} cells",
                alg.name, alg.dimension
            ));
        }
        let states = vec![vec![T::ZERO; cells.iter().product()]; alg.states.len()];
        Ok(Oracle {
            alg,
            cells,
            params: params.to_vec(),
            spacing,
            dt,
            t: 0.0,
            uniforms: Vec::new(),
            states,
        })
    }

    /// Sets the interior values of a state, x fastest.
    ///
    /// # Panics
    /// If there are not as many values as cells.
    pub fn set(&mut self, state: StateId, values: &[T]) {
        self.states[state.0 as usize].copy_from_slice(values);
    }

    /// The interior values of a state, x fastest.
    pub fn get(&self, state: StateId) -> Vec<T> {
        self.states[state.0 as usize].clone()
    }

    /// Runs all substeps of one time step.
    pub fn step(&mut self) {
        for index in 0..self.alg.substeps.len() {
            self.substep(index);
        }
        self.t += self.dt;
    }

    /// Runs one substep: reads the old values of all states, then writes the new ones.
    pub fn substep(&mut self, index: usize) {
        let alg = self.alg;
        let Substep { at, updates } = &alg.substeps[index];
        let t = self.dt.mul_add(*at, self.t);
        let values = alg.uniform_values(T::PRECISION, &self.params, self.spacing, (self.dt, t));
        self.uniforms = values.into_iter().map(T::from_f64).collect();
        let roots: Vec<FnId> = updates.iter().map(|(_, value)| *value).collect();
        let mut values: Vec<Option<Grid<T>>> = Vec::new();
        let mut room = Vec::new();
        for (i, halo) in needed_halos(alg, &roots).into_iter().enumerate() {
            let grid = halo.map(|halo| {
                Grid::from_fn(self.cells, halo, |cell| {
                    self.value(&alg.functions[i].def, cell, &values, &mut room)
                })
            });
            values.push(grid);
        }
        for (state, value) in updates {
            if let Some(grid) = &values[value.0 as usize] {
                let interior = Grid::from_fn(self.cells, [0; 3], |cell| grid.at(cell));
                self.states[state.0 as usize] = interior.data;
            }
        }
    }

    /// The value of a function in a cell from those before it; an expression is evaluated in the room.
    fn value(&self, def: &Def, cell: [i32; 3], values: &[Option<Grid<T>>], room: &mut Vec<T>) -> T {
        let read = |access: Access| {
            let at = [cell[0] + access.at[0], cell[1] + access.at[1], cell[2] + access.at[2]];
            values[access.of.0 as usize].as_ref().map_or(T::ZERO, |grid| grid.at(at))
        };
        match def {
            Def::State(state) => self.periodic(*state, cell),
            Def::Point(expr) => expr.eval_in(room, |atom| match atom {
                Atom::Access(access) => read(*access),
                Atom::Uniform(uniform) => self.uniforms[uniform.0 as usize],
            }),
            Def::Sum(terms) => {
                let first = self.product(&terms[0], read(terms[0].value));
                terms[1..].iter().fold(first, |sum, term| self.add(sum, term, read(term.value)))
            }
        }
    }

    fn product(&self, term: &SumTerm, value: T) -> T {
        let product = term.factor.map_or(value, |factor| self.uniforms[factor.0 as usize] * value);
        if term.negative { -product } else { product }
    }

    fn add(&self, sum: T, term: &SumTerm, value: T) -> T {
        match term.factor.map(|factor| self.uniforms[factor.0 as usize]) {
            Some(factor) if term.negative => (-factor).fma(value, sum),
            Some(factor) => factor.fma(value, sum),
            None if term.negative => sum - value,
            None => sum + value,
        }
    }

    /// The value of a state in a cell; ghost cells repeat the box, however far away they are.
    fn periodic(&self, state: StateId, cell: [i32; 3]) -> T {
        let wrap = |axis: usize| cell[axis].rem_euclid(self.cells[axis] as i32) as usize;
        self.states[state.0 as usize][(wrap(2) * self.cells[1] + wrap(1)) * self.cells[0] + wrap(0)]
    }
}

/// The cells beyond the interior on which each function must be evaluated for `roots` to be known on it; `None` where
/// it is not needed.
pub fn needed_halos(alg: &Algorithm, roots: &[FnId]) -> Vec<Option<[i32; 3]>> {
    let mut halos: Vec<Option<[i32; 3]>> = vec![None; alg.functions.len()];
    for root in roots {
        halos[root.0 as usize] = Some([0; 3]);
    }
    for i in (0..alg.functions.len()).rev() {
        let Some(own) = halos[i] else { continue };
        for access in alg.functions[i].def.accesses() {
            let halo = halos[access.of.0 as usize].get_or_insert([0; 3]);
            for axis in 0..3 {
                halo[axis] = halo[axis].max(own[axis] + access.at[axis].abs());
            }
        }
    }
    halos
}
