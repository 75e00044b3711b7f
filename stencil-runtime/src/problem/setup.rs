//! Simulations of a problem, and their errors against the exact solution.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use ndarray::{Array3, ArrayView3};
use rayon::prelude::*;

use super::boundary::{FaceKind, Kind};
use super::values::array_bytes;
use super::{Expression, Problem, Shown, TimeStep, open_faces};
use crate::io::{Npz, Value};
use crate::{Boundary, Builder, Error, Mesh, Number, Simulation, Source};

/// Norms of the difference between a component and its exact solution, in the component's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norms {
    /// The mean of the absolute values.
    pub l1: f64,
    /// The root of the mean square.
    pub l2: f64,
    /// The largest absolute value.
    pub linf: f64,
}

impl Problem {
    /// Returns a builder with the problem's mesh, boundaries, parameters, sources and time step.
    pub fn builder<T: Number>(&self) -> Builder<T> {
        let mut builder = Simulation::builder(&self.system)
            .cells(self.mesh.cells)
            .extent(self.mesh.extent)
            .origin(self.mesh.origin)
            .centered(self.mesh.centered)
            .devices(self.devices.clone())
            .stream(self.stream);
        if let Some(patches) = self.patches {
            builder = builder.patches(patches);
        }
        for plot in &self.plots {
            if let Shown::Quantity(quantity) = &plot.value {
                builder = builder.evaluates(quantity);
            }
        }
        for (name, value) in &self.params {
            builder = builder.param(name, *value);
        }
        let names: Vec<&str> = self.components().collect();
        for FaceKind { face, component, kind } in &self.boundary {
            let boundary = boundary(kind, &names);
            builder = match component {
                Some(component) => builder.boundary_of(component, *face, boundary),
                None => builder.boundary(*face, boundary),
            };
        }
        for (name, expression) in
            self.sources.iter().chain(self.varying.iter().map(|(n, e)| (n, e)))
        {
            builder = builder.source(name, source(expression));
        }
        if let Some(limit) = self.time.cfl_limit {
            builder = builder.cfl_limit(limit);
        }
        builder = builder
            .keep_last(self.time.keep_last)
            .cfl_axes(self.time.cfl_axes)
            .unchecked_step(self.time.unchecked_step);
        if let Some(steps) = self.time.look_every {
            builder = builder.look_every(steps);
        }
        match self.time.dt {
            TimeStep::Fixed(dt) => builder.dt(dt),
            TimeStep::Cfl(number) => builder.cfl(number),
            TimeStep::Auto => builder.auto_step(),
        }
    }

    /// Sets the initial values of all components, and names the run by [`Problem::run_id`].
    ///
    /// # Errors
    /// If the file of initial values cannot be read, or the simulation is of another system.
    pub fn initialize<T: Number>(&self, simulation: &mut Simulation<T>) -> Result<(), Error> {
        let mut file = match self.initial_file() {
            Some(path) => Some(Npz::open(path)?),
            None => None,
        };
        let random = self.random_values();
        let potentials = &self.initial.potentials;
        for (field, potential) in potentials {
            simulation.set_curl(field, |x, y, z| {
                std::array::from_fn(|axis| potential[axis].at([x, y, z], 0.0, &[]))
            })?;
        }
        let fields = &self.system.components();
        let given = |name: &&str| {
            let own = fields.iter().find(|component| component.name == **name);
            own.is_some_and(|own| potentials.contains_key(&own.field))
        };
        for name in self.components().filter(|name| !given(name)) {
            match (self.initial.values.get(name), &mut file) {
                (Some(value), _) if value.reads().is_empty() => {
                    let blocks = Blocks::of(value, simulation.mesh_of(name)?);
                    simulation.set_cells(name, |cell| blocks.at(cell))?;
                }
                (Some(value), _) => {
                    let values = made_of::<T>(value, &random, &simulation.mesh_of(name)?);
                    simulation.set_array(name, values.view())?;
                }
                (None, Some(file)) => {
                    let value = file.get_within(name, array_bytes(self.mesh.cells))?;
                    let values = array::<T>(name, value, self.mesh.cells)?;
                    simulation.set_array(name, values.view())?;
                }
                (None, None) => {
                    let message = format!("`{name}` has no initial value");
                    return Err(Error::Bug(message));
                }
            }
        }
        simulation.set_run_id(self.run_id()?);
        Ok(())
    }

    /// Returns norms of the errors of all components that have an exact solution, at the simulation's time. Sums are
    /// taken row by row, so that they do not depend on the number of threads.
    ///
    /// # Errors
    /// If the simulation is of another system.
    pub fn errors<T: Number>(
        &self,
        simulation: &Simulation<T>,
    ) -> Result<BTreeMap<String, Norms>, Error> {
        let t = simulation.t();
        let of = |(name, exact): (&String, &Expression)| {
            let values = simulation.field(name)?;
            Ok((name.clone(), norms(&values, exact, &simulation.mesh_of(name)?, t)))
        };
        self.exact.iter().map(of).collect()
    }
}

/// An expression in the cells of a mesh, evaluated in blocks of neighbours along x. A thread asks for the cells of a row in
/// their order, and keeps the block of the last one.
struct Blocks<'a> {
    /// No other blocks of this process have this number.
    number: u64,
    value: &'a Expression,
    mesh: Mesh,
    length: usize,
}

/// The block that a thread keeps.
#[derive(Default)]
struct Block {
    /// Number of its blocks, and its first cell.
    place: Option<(u64, [isize; 3])>,
    xs: Vec<f64>,
    values: Vec<f64>,
}

thread_local! {
    static BLOCK: RefCell<Block> = RefCell::default();
}

impl<'a> Blocks<'a> {
    /// Cells of a block at most.
    const MOST: usize = 64;
    /// Cells of the widest register.
    const LANES: usize = 8;

    fn of(value: &'a Expression, mesh: Mesh) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let length = mesh.cells[0].next_multiple_of(Self::LANES).min(Self::MOST);
        Blocks { number, value, mesh, length }
    }

    /// Returns the value in a cell.
    fn at(&self, [x, y, z]: [isize; 3]) -> f64 {
        let length = self.length as isize;
        let (first, at) = (x.div_euclid(length) * length, x.rem_euclid(length));
        let place = Some((self.number, [first, y, z]));
        BLOCK.with_borrow_mut(|block| {
            if block.place != place {
                block.fill(self, [first, y, z]);
                block.place = place;
            }
            block.values[at as usize]
        })
    }
}

impl Block {
    fn fill(&mut self, of: &Blocks<'_>, [first, y, z]: [isize; 3]) {
        let point = |x: isize| of.mesh.point([x, y, z]);
        let [_, y, z] = point(first);
        self.xs.clear();
        self.xs.extend((0..of.length as isize).map(|x| point(first + x)[0]));
        self.values.resize(of.length, 0.0);
        of.value.along_x(&self.xs, [y, z], 0.0, &mut self.values);
    }
}

/// Returns values of an expression that uses random fields with these components.
fn made_of<T: Number>(value: &Expression, random: &[Array3<f64>], mesh: &Mesh) -> Array3<T> {
    let [nx, ny, nz] = mesh.cells;
    let mut values = Array3::from_elem((nz, ny, nx), T::ZERO);
    let rows = values.as_slice_mut().unwrap_or_default().par_chunks_mut(nx);
    rows.enumerate().for_each(|(at, row)| {
        let (z, y) = (at / ny, at % ny);
        let mut own = vec![0.0; random.len()];
        for (x, cell) in row.iter_mut().enumerate() {
            let point = mesh.point([x as isize, y as isize, z as isize]);
            for (own, field) in own.iter_mut().zip(random) {
                *own = field[[z, y, x]];
            }
            *cell = T::from_f64(value.at(point, 0.0, &own));
        }
    });
    values
}

fn norms<T: Number>(values: &ArrayView3<'_, T>, exact: &Expression, mesh: &Mesh, t: f64) -> Norms {
    let (nz, ny, nx) = values.dim();
    let row = |at: usize| {
        let (z, y) = (at / ny, at % ny);
        let point = |x: usize| mesh.point([x as isize, y as isize, z as isize]);
        let xs: Vec<f64> = (0..nx).map(|x| point(x)[0]).collect();
        let [_, py, pz] = point(0);
        let mut of_row = vec![0.0; nx];
        exact.along_x(&xs, [py, pz], t, &mut of_row);
        (0..nx).fold([0.0_f64; 3], |[l1, l2, linf], x| {
            let error = (values[[z, y, x]].to_f64() - of_row[x]).abs();
            [l1 + error, error.mul_add(error, l2), linf.max(error)]
        })
    };
    let rows: Vec<[f64; 3]> = (0..nz * ny).into_par_iter().map(row).collect();
    let sum = |at: usize| rows.iter().map(|row| row[at]).sum::<f64>();
    let points = values.len() as f64;
    Norms {
        l1: sum(0) / points,
        l2: (sum(1) / points).sqrt(),
        linf: rows.iter().fold(0.0, |most, row| most.max(row[2])),
    }
}

fn boundary(kind: &Kind, components: &[&str]) -> Boundary {
    match kind {
        Kind::Named("wall") => Boundary::wall(),
        Kind::Named("outflow") => Boundary::outflow(),
        Kind::Named("extrapolate") => Boundary::extrapolate(),
        Kind::Named(_) => Boundary::periodic(),
        Kind::Dirichlet(value) => match value.constant() {
            Some(value) => Boundary::dirichlet(value),
            None => {
                let value = value.clone();
                Boundary::dirichlet_with(move |x, y, z, t| value.at([x, y, z], t, &[]))
            }
        },
        Kind::Neumann(slope) => match slope.constant() {
            Some(slope) => Boundary::neumann(slope),
            None => {
                let slope = slope.clone();
                Boundary::neumann_with(move |x, y, z, t| slope.at([x, y, z], t, &[]))
            }
        },
        Kind::Characteristic(far) => Boundary::characteristic(open_faces::numbers(far)),
        Kind::Absorbing(_) => Boundary::outflow(),
        Kind::Formula(ghost) => formula(ghost.clone(), components),
    }
}

/// Returns ghost values of mirror images and of values next to the face, in that order.
fn formula(ghost: Expression, components: &[&str]) -> Boundary {
    let count = components.len();
    let of = |at: &usize| at % count.max(1);
    let mut reads: Vec<usize> = ghost.reads().iter().map(of).collect();
    reads.sort_unstable();
    reads.dedup();
    let names: Vec<String> = reads.iter().map(|i| components[*i].to_string()).collect();
    Boundary::custom(names, move |at| {
        let mut values = vec![0.0; 2 * count];
        for (slot, component) in reads.iter().enumerate() {
            values[*component] = at.mirrored[slot];
            values[count + component] = at.nearest[slot];
        }
        ghost.at(at.position, at.t, &values)
    })
}

fn source(value: &Expression) -> Source {
    if let Some(value) = value.constant() {
        return Source::constant(value);
    }
    if let Some(formula) = value.to_formula() {
        return Source::formula(formula);
    }
    let function = value.clone();
    if value.uses_time() {
        Source::unsteady(move |x, y, z, t| function.at([x, y, z], t, &[]))
    } else {
        Source::steady(move |x, y, z| function.at([x, y, z], 0.0, &[]))
    }
}

/// Reads an array of a file as `[z, y, x]` in the precision of the run.
fn array<T: Number>(
    name: &str,
    value: Value,
    [nx, ny, nz]: [usize; 3],
) -> Result<Array3<T>, Error> {
    let misfit = |found: String| Error::Shape {
        name: name.to_string(),
        expected: format!("{:?}", (nz, ny, nx)),
        found,
        order: "[z, y, x]",
    };
    let shape = (nz, ny, nx);
    match value {
        Value::F32(array) => {
            let found = format!("{:?}", array.shape());
            let values = array.mapv(|v| T::from_f64(f64::from(v)));
            values.into_shape_with_order(shape).map_err(|_| misfit(found))
        }
        Value::F64(array) => {
            let found = format!("{:?}", array.shape());
            let values = array.mapv(T::from_f64);
            values.into_shape_with_order(shape).map_err(|_| misfit(found))
        }
        Value::U64(_) | Value::I64(_) | Value::Text(_) => Err(misfit("no array of numbers".into())),
    }
}
