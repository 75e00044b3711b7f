//! The oracle against loops written by hand, and the row engine against the oracle, bit for bit.

use std::collections::{BTreeMap, BTreeSet};

use super::{HEAT, coupled, grad_div, parsed};
use crate::algorithm::interp::Oracle;
use crate::algorithm::rows::{Layout, RowProgram};
use crate::algorithm::{Algorithm, Def, FnId, StateId};
use crate::expr::Real;

pub(super) const LINE: &str = r#"
algorithm Advection 1d
scheme "upwind"
param speed = 1.0
state q field
uniform c = speed * dt / dx
fn q = state q
fn flux = sum { - q[-1,0,0], + q }
fn limited = max(flux[-1,0,0], flux[2,0,0])
fn q_1 = sum { - c * flux[-2,0,0], - c * limited[-1,0,0], + q }
substep { q = q_1 }
"#;

pub(super) const PLANE: &str = r#"
algorithm Wave 2d
scheme "second order"
state p field
state v field
state p_acc accumulator
uniform kx = dt / dx / dx
uniform ky = dt / dy / dy
uniform h = dt
fn p = state p
fn v = state v
fn p_acc = state p_acc
fn x_pair = p[1,0,0] + p[-1,0,0] - 2.0 * p
fn lap = sum { + ky * p[0,-1,0], - ky * p, - ky * p, + kx * x_pair, + ky * p[0,1,0] }
fn smooth = sum { + lap[0,-2,0], + lap[1,0,0], - lap[0,2,0] }
fn v_1 = v + h * lap + kx * smooth
fn p_1 = fma(h, v_1, p)
fn sum_1 = p_acc + p_1
substep { p = p_1, v = v_1, p_acc = sum_1 }
"#;

/// Scattered initial values between 0 and 1, different for each state.
fn initial<T: Real>(cells: [usize; 3], state: usize) -> Vec<T> {
    let count: usize = cells.iter().product();
    let value = |i: usize| ((i + 31 * state) as u32).wrapping_mul(2_654_435_761) >> 8;
    (0..count).map(|i| T::from_f64(f64::from(value(i)) / f64::from(1 << 24))).collect()
}

/// Padded arrays, and substeps run by row programs, as a runtime would.
pub(crate) struct RowRunner<'a, T> {
    alg: &'a Algorithm,
    cells: [usize; 3],
    halo: [usize; 3],
    layout: Layout,
    programs: Vec<RowProgram>,
    uniforms: Vec<T>,
    states: Vec<Vec<T>>,
}

impl<'a, T: Real> RowRunner<'a, T> {
    /// Makes padded arrays of scattered values, the same ones each time.
    pub(crate) fn new(alg: &'a Algorithm, cells: [usize; 3], uniforms: Vec<T>) -> Self {
        let roots: Vec<FnId> =
            alg.substeps.iter().flat_map(|s| s.updates.iter().map(|u| u.1)).collect();
        let reads = super::footprint(alg, &roots, &BTreeSet::new());
        let halo = super::radius(&reads).map(|r| r as usize);
        let program = |substep| RowProgram::new(alg, substep).expect("well-formed");
        let programs: Vec<RowProgram> = (0..alg.substeps.len()).map(program).collect();
        for program in &programs {
            let own = program.halo();
            assert!((0..3).all(|axis| own[axis] <= halo[axis] as i32), "{own:?}");
        }
        let pitch = cells[0] + 2 * halo[0];
        let plane = pitch * (cells[1] + 2 * halo[1]);
        let layout = Layout { origin: halo[2] * plane + halo[1] * pitch + halo[0], pitch, plane };
        let size = plane * (cells[2] + 2 * halo[2]);
        let mut runner = RowRunner {
            alg,
            cells,
            halo,
            layout,
            programs,
            uniforms,
            states: vec![vec![T::ZERO; size]; alg.states.len()],
        };
        for state in 0..alg.states.len() {
            runner.set(StateId(state as u32), &initial(cells, state));
        }
        runner
    }

    /// Sets the values of a state in all cells, x fastest.
    pub(crate) fn set(&mut self, state: StateId, values: &[T]) {
        for (i, value) in values.iter().enumerate() {
            let at = self.index(self.cell(i));
            self.states[state.0 as usize][at] = *value;
        }
    }

    /// Returns the values of a state in all cells, x fastest.
    pub(crate) fn get(&self, state: StateId) -> Vec<T> {
        let values = &self.states[state.0 as usize];
        let cells = 0..self.cells.iter().product();
        cells.map(|i| values[self.index(self.cell(i))]).collect()
    }

    /// Runs all substeps of one time step.
    pub(crate) fn step(&mut self) {
        (0..self.programs.len()).for_each(|substep| self.substep(substep));
    }

    fn cell(&self, i: usize) -> [usize; 3] {
        let [nx, ny, _] = self.cells;
        [i % nx, i / nx % ny, i / nx / ny]
    }

    fn index(&self, cell: [usize; 3]) -> usize {
        self.layout.origin + cell[2] * self.layout.plane + cell[1] * self.layout.pitch + cell[0]
    }

    fn fill(&mut self, state: usize) {
        let size = [0, 1, 2].map(|a| self.cells[a] + 2 * self.halo[a]);
        let wrap = |i: usize, a: usize| {
            (i as i64 - self.halo[a] as i64).rem_euclid(self.cells[a] as i64) as usize
        };
        for z in 0..size[2] {
            for y in 0..size[1] {
                let row = self.index([0, wrap(y, 1), wrap(z, 2)]);
                for x in 0..size[0] {
                    let from = row + wrap(x, 0);
                    self.states[state][(z * size[1] + y) * size[0] + x] = self.states[state][from];
                }
            }
        }
    }

    fn substep(&mut self, index: usize) {
        (0..self.states.len()).for_each(|state| self.fill(state));
        let program = &self.programs[index];
        let old = self.states.clone();
        let state = |id: &FnId| match self.alg.function(*id).def {
            Def::State(state) => old[state.0 as usize].as_slice(),
            Def::Point(_) | Def::Sum(_) => panic!("no state"),
        };
        let inputs: Vec<&[T]> = program.inputs().iter().map(state).collect();
        let mut scratch = program.scratch(&self.uniforms);
        for (y, z) in (0..self.cells[2]).flat_map(|z| (0..self.cells[1]).map(move |y| (y, z))) {
            let at = self.index([0, y, z]);
            let mut rows: BTreeMap<usize, &mut [T]> = BTreeMap::new();
            for (state, values) in self.states.iter_mut().enumerate() {
                rows.insert(state, &mut values[at..at + self.cells[0]]);
            }
            let updated = program.outputs().iter().map(|o| o.state.expect("an update").0 as usize);
            let mut outputs: Vec<&mut [T]> =
                updated.map(|s| rows.remove(&s).expect("updated once")).collect();
            program.run(
                &mut scratch,
                &inputs,
                self.layout,
                [0, y as isize, z as isize],
                &mut outputs,
            );
        }
    }
}

fn params(alg: &Algorithm) -> Vec<f64> {
    alg.params.iter().map(|p| p.default.unwrap_or(1.0)).collect()
}

const SPACING: [f64; 3] = [0.9, 1.1, 1.3];
const DT: f64 = 0.01;

/// Runs both engines and compares all bits of all states.
fn engines_agree<T: Real>(source: &str, cells: [usize; 3], steps: usize) {
    let alg = parsed(source);
    let params = params(&alg);
    let mut oracle = Oracle::<T>::new(&alg, cells, &params, SPACING, DT).expect("well-formed");
    let uniforms = alg
        .uniform_values(T::PRECISION, &params, SPACING, (DT, 0.0))
        .into_iter()
        .map(T::from_f64)
        .collect();
    let mut rows = RowRunner::<T>::new(&alg, cells, uniforms);
    for state in 0..alg.states.len() {
        oracle.set(StateId(state as u32), &initial::<T>(cells, state));
    }
    for _ in 0..steps {
        oracle.step();
        rows.step();
    }
    for state in 0..alg.states.len() {
        let state = StateId(state as u32);
        let expected = oracle.get(state);
        assert!(expected.iter().all(|v| v.to_f64().is_finite()), "{} blew up", alg.name);
        for (i, (value, computed)) in expected.into_iter().zip(rows.get(state)).enumerate() {
            assert_eq!(
                computed.canonical_bits(),
                value.canonical_bits(),
                "{}, {}, cell {i}",
                alg.name,
                T::NAME
            );
        }
    }
}

#[test]
fn rows_equal_the_oracle() {
    for source in [HEAT, &coupled()] {
        engines_agree::<f32>(source, [37, 22, 19], 5);
        engines_agree::<f64>(source, [37, 22, 19], 5);
    }
    engines_agree::<f64>(&grad_div(), [13, 9, 8], 2);
    engines_agree::<f32>(PLANE, [70, 33, 1], 5);
    engines_agree::<f64>(PLANE, [70, 33, 1], 5);
    engines_agree::<f32>(LINE, [517, 1, 1], 5);
    engines_agree::<f64>(LINE, [517, 1, 1], 5);
}

#[test]
fn halos_may_be_larger_than_the_grid() {
    for source in [HEAT, &coupled(), &grad_div()] {
        engines_agree::<f64>(source, [2, 1, 3], 2);
        engines_agree::<f32>(source, [1, 2, 1], 2);
    }
    engines_agree::<f64>(PLANE, [1, 2, 1], 3);
    engines_agree::<f64>(LINE, [2, 1, 1], 3);
}

#[test]
fn long_rows_are_cut_into_chunks() {
    engines_agree::<f64>(LINE, [5000, 1, 1], 2);
    engines_agree::<f32>(&coupled(), [2100, 2, 2], 2);
}

#[test]
fn the_oracle_is_the_loop() {
    let n = 7_usize;
    let alg = parsed(HEAT);
    let params = params(&alg);
    let mut oracle = Oracle::<f64>::new(&alg, [n; 3], &params, SPACING, DT).expect("well-formed");
    let (t, acc) = (StateId(0), StateId(1));
    let mut values: Vec<f64> = initial([n; 3], 0);
    oracle.set(t, &values);
    oracle.step();

    let u = alg.uniform_values(f64::PRECISION, &params, SPACING, (DT, 0.0));
    let [w0, x1, x2, x3, z1, z2, z3, alpha, beta, h] = u.try_into().expect("ten uniforms");
    let mut sums = vec![0.0; values.len()];
    for substep in 0..2 {
        let old = values.clone();
        for i in 0..values.len() {
            let (x, y, z) = (i % n, i / n % n, i / n / n);
            let at = |dx: usize, dy: usize, dz: usize| {
                old[((z + dz) % n * n + (y + dy) % n) * n + (x + dx) % n]
            };
            let pair = |k: usize| at(k, 0, 0) + at(n - k, 0, 0) + (at(0, k, 0) + at(0, n - k, 0));
            let mut lap = z3 * at(0, 0, n - 3);
            lap = z2.mul_add(at(0, 0, n - 2), lap);
            lap = z1.mul_add(at(0, 0, n - 1), lap);
            lap = w0.mul_add(at(0, 0, 0), lap);
            for (w, k) in [(x1, 1), (x2, 2), (x3, 3)] {
                lap = w.mul_add(pair(k), lap);
            }
            for (w, k) in [(z1, 1), (z2, 2), (z3, 3)] {
                lap = w.mul_add(at(0, 0, k), lap);
            }
            sums[i] = if substep == 0 { h * lap } else { alpha.mul_add(sums[i], h * lap) };
            values[i] = beta.mul_add(sums[i], old[i]);
        }
    }
    assert_eq!(oracle.get(t), values);
    assert_eq!(oracle.get(acc), sums);
}

#[test]
fn stored_functions_are_read_from_arrays() {
    let alg = parsed(&grad_div());
    let id = |name: &str| alg.find(name).expect("defined");
    let (div, u) = (id("div"), [id("ux"), id("uy"), id("uz")]);
    let n = 13_usize;
    let layout = Layout { origin: 6 * (n * n + n + 1), pitch: n, plane: n * n };
    let fields: Vec<Vec<f64>> = (0..3).map(|s| initial([n; 3], s)).collect();
    let uniforms = alg.uniform_values(f64::PRECISION, &[], SPACING, (DT, 0.0));
    let run = |roots: &[FnId], stored: &[FnId], extra: &[f64], first: [isize; 3], cells: usize| {
        let program = RowProgram::of_functions(&alg, roots, &stored.iter().copied().collect())
            .expect("well-formed");
        let array =
            |f: &FnId| u.iter().position(|s| s == f).map_or(extra, |s| fields[s].as_slice());
        let inputs: Vec<&[f64]> = program.inputs().iter().map(array).collect();
        let mut rows = vec![vec![0.0; cells]; roots.len()];
        let mut outputs: Vec<&mut [f64]> = rows.iter_mut().map(|row| row.as_mut_slice()).collect();
        program.run(&mut program.scratch(&uniforms), &inputs, layout, first, &mut outputs);
        rows
    };
    let roots = [id("uy_1")];
    let inline = run(&roots, &[], &[], [0, 0, 0], 1);
    let mut stored = vec![0.0; n * n * n];
    for (z, y) in (-3..=3).flat_map(|z| (-3..=3).map(move |y| (z, y))) {
        let row = run(&[div], &[div], &[], [-3, y, z], 7).remove(0);
        let at = (layout.origin as isize + z * (n * n) as isize + y * n as isize - 3) as usize;
        stored[at..at + 7].copy_from_slice(&row);
    }
    assert_eq!(run(&roots, &[div], &stored, [0, 0, 0], 1), inline);
}
