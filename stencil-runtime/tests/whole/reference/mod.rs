//! The reference of a step on a mesh with boundaries: every ghost value by recursion, every grid function cell by cell.
//! It shares no code with the engines but the operations themselves.

use std::collections::BTreeMap;

use stencil_runtime::compiler::algorithm::{Algorithm, Atom, Def, FnId, Role, SumTerm};
use stencil_runtime::compiler::catalogue::weights::{OnFace, beyond_face};
use stencil_runtime::compiler::expr::{Rational, Real};

/// The boundary condition of a face, for one component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Periodic,
    Outflow,
    Even,
    Odd,
    Extrapolate,
    /// This value at time zero, growing with y + z and time.
    Dirichlet(f64),
    Neumann(f64),
}

/// Returns a [`Kind::Dirichlet`] value on the face, which grows.
pub(crate) fn on_face(value: f64, y: f64, z: f64, t: f64) -> f64 {
    value + 0.25 * y - 0.5 * z + 3.0 * t
}

fn number(weight: &Rational) -> f64 {
    *weight.numer() as f64 / *weight.denom() as f64
}

/// Returns a ghost value, corrected by the differences of further cells from the nearest one.
fn extended<T: Real>(ghost: T, weights: &[Rational], mut inner: impl FnMut(isize) -> T) -> T {
    let nearest = inner(0);
    let rest = weights.iter().enumerate().skip(1);
    rest.fold(ghost, |ghost, (cell, weight)| {
        T::from_f64(number(weight)) * (inner(cell as isize) - nearest) + ghost
    })
}

/// The mesh and the boundaries of each component: lower and upper along x, y, z.
pub(crate) struct Box {
    pub(crate) cells: [usize; 3],
    pub(crate) spacing: [f64; 3],
    pub(crate) kinds: Vec<[[Kind; 2]; 3]>,
    /// The order of polynomials through numbers on faces, of each component; `None` if ghost cells are mirror images.
    pub(crate) orders: Vec<Option<usize>>,
}

/// The state of a run.
pub(crate) struct Reference<'a, T> {
    algorithm: &'a Algorithm,
    domain: &'a Box,
    /// Values by state, interior cells, x fastest.
    states: Vec<Vec<T>>,
    uniforms: Vec<T>,
    t: f64,
    known: BTreeMap<(FnId, [isize; 3]), T>,
}

impl<'a, T: Real> Reference<'a, T> {
    pub(crate) fn new(algorithm: &'a Algorithm, domain: &'a Box, fields: &[Vec<T>]) -> Self {
        let cells = domain.cells.iter().product();
        let mut states = vec![vec![T::ZERO; cells]; algorithm.states.len()];
        for ((id, _), values) in algorithm.states_of(Role::Field).zip(fields) {
            states[id.0 as usize].clone_from(values);
        }
        Reference {
            algorithm,
            domain,
            states,
            uniforms: Vec::new(),
            t: 0.0,
            known: BTreeMap::new(),
        }
    }

    /// Does one time step from the time `t`.
    pub(crate) fn step(&mut self, t: f64, dt: f64) {
        let params: Vec<f64> = self.algorithm.params.iter().map(|p| p.default.unwrap()).collect();
        for substep in &self.algorithm.substeps {
            self.t = dt.mul_add(substep.at, t);
            let values = self.algorithm.uniform_values(
                T::PRECISION,
                &params,
                self.domain.spacing,
                (dt, self.t),
            );
            self.uniforms = values.into_iter().map(T::from_f64).collect();
            self.known.clear();
            let [nx, ny, nz] = self.domain.cells.map(|n| n as isize);
            let mut new = Vec::new();
            for (state, function) in &substep.updates {
                let mut values = Vec::new();
                for z in 0..nz {
                    for y in 0..ny {
                        values.extend((0..nx).map(|x| self.function(*function, [x, y, z])));
                    }
                }
                new.push((state.0 as usize, values));
            }
            new.into_iter().for_each(|(state, values)| self.states[state] = values);
        }
    }

    /// Returns the interior values of all fields.
    pub(crate) fn fields(&self) -> Vec<Vec<T>> {
        let fields = self.algorithm.states_of(Role::Field);
        fields.map(|(id, _)| self.states[id.0 as usize].clone()).collect()
    }

    fn function(&mut self, id: FnId, cell: [isize; 3]) -> T {
        if let Some(value) = self.known.get(&(id, cell)) {
            return *value;
        }
        let algorithm = self.algorithm;
        let value = match &algorithm.function(id).def {
            Def::State(state) => self.state(state.0 as usize, cell),
            Def::Point(expr) => expr.eval(|atom| match atom {
                Atom::Access(access) => self.function(access.of, plus(cell, access.at)),
                Atom::Uniform(uniform) => self.uniforms[uniform.0 as usize],
            }),
            Def::Sum(terms) => {
                let mut sum = None;
                for term in terms {
                    let value = self.function(term.value.of, plus(cell, term.value.at));
                    sum = Some(self.term(sum, term, value));
                }
                sum.unwrap()
            }
        };
        self.known.insert((id, cell), value);
        value
    }

    fn term(&self, sum: Option<T>, term: &SumTerm, value: T) -> T {
        let factor = term.factor.map(|factor| self.uniforms[factor.0 as usize]);
        let signed = |v: T| if term.negative { -v } else { v };
        match (sum, factor) {
            (None, Some(factor)) => signed(factor * value),
            (None, None) => signed(value),
            (Some(sum), Some(factor)) => signed(factor).fma(value, sum),
            (Some(sum), None) => sum + signed(value),
        }
    }

    /// Returns a state in a cell or ghost cell: faces of z act last, so they are evaluated first.
    fn state(&self, state: usize, cell: [isize; 3]) -> T {
        let domain = self.domain;
        for axis in [2, 1, 0] {
            let n = domain.cells[axis] as isize;
            let i = cell[axis];
            if (0..n).contains(&i) {
                continue;
            }
            let (side, k) = if i < 0 { (0, -1 - i) } else { (1, i - n) };
            let inner = |j: isize| {
                let mut at = cell;
                at[axis] = if side == 0 { j } else { n - 1 - j };
                self.state(state, at)
            };
            let h = domain.spacing[axis];
            return match domain.kinds[state][axis][side] {
                Kind::Periodic => {
                    let mut at = cell;
                    at[axis] = i.rem_euclid(n);
                    self.state(state, at)
                }
                Kind::Outflow => inner(0),
                Kind::Even => inner(k),
                Kind::Odd => -inner(k),
                Kind::Extrapolate => T::from_f64((k + 1) as f64) * (inner(0) - inner(1)) + inner(0),
                Kind::Dirichlet(value) => {
                    // The wall is half a cell beyond the outermost cell.
                    let wall = match side {
                        0 => 0.0 - 0.5 * h,
                        _ => (n - 1) as f64 * h + 0.5 * h,
                    };
                    let place = |a: usize| match a == axis {
                        true => wall,
                        false => cell[a] as f64 * domain.spacing[a],
                    };
                    let (y, z) = (place(1), place(2));
                    let value = on_face(value, y, z, self.t);
                    match domain.orders[state] {
                        None => T::from_f64(2.0 * value) - inner(k),
                        Some(order) => {
                            let weights = beyond_face(OnFace::Value, order - 1, k as usize);
                            let nearest = inner(0);
                            let by_face = T::from_f64(number(&weights.face));
                            let ghost = by_face * (T::from_f64(value) - nearest) + nearest;
                            extended(ghost, &weights.cells, inner)
                        }
                    }
                }
                Kind::Neumann(slope) => match domain.orders[state] {
                    None => T::from_f64(slope * ((2 * k + 1) as f64 * h)) + inner(k),
                    Some(order) => {
                        let weights = beyond_face(OnFace::Slope, order, k as usize);
                        let distance = number(&weights.face) * h;
                        let ghost = T::from_f64(slope * distance) + inner(0);
                        extended(ghost, &weights.cells, inner)
                    }
                },
            };
        }
        let [nx, ny, _] = domain.cells;
        let [x, y, z] = cell.map(|i| i as usize);
        self.states[state][(z * ny + y) * nx + x]
    }
}

fn plus(cell: [isize; 3], at: [i32; 3]) -> [isize; 3] {
    std::array::from_fn(|axis| cell[axis] + at[axis] as isize)
}
