//! A system on a periodic box, stepping in time.

use std::path::Path;

use ndarray::{Array3, ArrayView3};
use rayon::ThreadPool;
use stencil_compiler::model::Rank;
use stencil_compiler::plan::Plan;

use crate::backend::cpu::{Checked, Machine};
use crate::builder::number;
use crate::io::NpzWriter;
use crate::{Builder, Engine, Error, Instructions, Number, Schedule, SystemDef, ToSystem};

/// Steps after which a run looks whether all values are finite.
const LOOK: u64 = 16;

/// A run of a system on a periodic box with cells of equal size.
///
/// Components have names: a scalar field `lnrho` is `lnrho`, a vector field `u` is `u_x`, `u_y`,
/// `u_z`. Arrays are `[z, y, x]`.
///
/// ```
/// use stencil_runtime::{Simulation, SystemDef};
///
/// let waves = SystemDef::from_text("waves.pde", "
///     pub system Waves in 2d {
///         field h: scalar;
///         field v: vector;
///         param c: real = 1 where c > 0;
///         ddt(h) = -div(v);
///         ddt(v) = -c^2 * grad(h);
///     }
///     scheme central6 for Waves { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
/// ")?;
/// let mut simulation = Simulation::<f64>::builder(&waves)
///     .cells([48, 40, 1])
///     .extent([6.0, 5.0, 1.0])
///     .param("c", 2.0)
///     .dt(0.01)
///     .build()?;
/// simulation.set("h", |x, y, _| (-((x - 3.0).powi(2) + (y - 2.5).powi(2))).exp())?;
/// simulation.run(10, |step, t| eprintln!("{step} {t}"))?;
/// assert_eq!(simulation.step_count(), 10);
/// assert_eq!(simulation.field("v_x")?.dim(), (1, 40, 48));
///
/// let error = simulation.field("v").unwrap_err();
/// assert!(error.to_string().contains("did you mean `v_x`"), "{error}");
/// # Ok::<(), stencil_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct Simulation<T> {
    setup: Setup,
    machine: Machine<T>,
    pool: ThreadPool,
    dt: f64,
    t: f64,
    steps: u64,
    last_finite: u64,
}

/// What does not change in a run.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) system: SystemDef,
    pub(crate) plan: Plan,
    pub(crate) schedule: Schedule,
    pub(crate) cells: [usize; 3],
    pub(crate) extent: [f64; 3],
    pub(crate) origin: [f64; 3],
    pub(crate) params: Vec<f64>,
    pub(crate) engine: Engine,
    pub(crate) instructions: Checked,
}

impl<T: Number> Simulation<T> {
    /// Starts to set up a run of a declared type or of a [`SystemDef`].
    pub fn builder(system: &impl ToSystem) -> Builder<T> {
        Builder::new(system)
    }

    pub(crate) fn assemble(setup: Setup, machine: Machine<T>, pool: ThreadPool, dt: f64) -> Self {
        let mut simulation = Simulation {
            setup,
            machine,
            pool,
            dt,
            t: 0.0,
            steps: 0,
            last_finite: 0,
        };
        simulation.renew_uniforms();
        simulation
    }

    fn renew_uniforms(&mut self) {
        let values =
            self.system()
                .algorithm()
                .uniform_values(&self.setup.params, self.spacing(), self.dt);
        self.machine.set_uniforms(&values);
    }

    /// Sets a component from a function of the coordinates; it is called on several threads.
    ///
    /// # Errors
    /// If there is no such component.
    pub fn set(
        &mut self,
        name: &str,
        value: impl Fn(f64, f64, f64) -> f64 + Sync,
    ) -> Result<(), Error> {
        let at = self.component(name)?;
        let (origin, spacing) = (self.setup.origin, self.spacing());
        let coordinate = |axis: usize, i: usize| origin[axis] + i as f64 * spacing[axis];
        let (machine, pool) = (&mut self.machine, &self.pool);
        pool.install(|| {
            machine.set(at, |[x, y, z]| {
                T::from_f64(value(coordinate(0, x), coordinate(1, y), coordinate(2, z)))
            });
        });
        Ok(())
    }

    /// Sets a vector field from a function of the coordinates, which is called once a component.
    ///
    /// # Errors
    /// If there is no such vector field.
    pub fn set_vector(
        &mut self,
        name: &str,
        value: impl Fn(f64, f64, f64) -> [f64; 3] + Sync,
    ) -> Result<(), Error> {
        let model = self.system().model();
        let vectors = model.fields.iter().filter(|f| f.rank == Rank::Vector);
        let dimension = model.dimension;
        if !vectors.clone().any(|f| f.name == name) {
            return Err(Error::unknown(
                self.system().name(),
                "vector field",
                name,
                vectors.map(|f| f.name.as_str()),
            ));
        }
        for (axis, letter) in ["x", "y", "z"].into_iter().enumerate().take(dimension) {
            self.set(&format!("{name}_{letter}"), |x, y, z| value(x, y, z)[axis])?;
        }
        Ok(())
    }

    /// Sets a component from values `[z, y, x]`.
    ///
    /// # Errors
    /// If there is no such component, or it has another shape.
    pub fn set_array(&mut self, name: &str, values: ArrayView3<'_, T>) -> Result<(), Error> {
        let at = self.component(name)?;
        let [nx, ny, nz] = self.setup.cells;
        if values.dim() != (nz, ny, nx) {
            let (expected, found) = (format!("{:?}", (nz, ny, nx)), format!("{:?}", values.dim()));
            return Err(Error::Shape {
                name: name.to_string(),
                expected,
                found,
                order: "[z, y, x]",
            });
        }
        let (machine, pool) = (&mut self.machine, &self.pool);
        pool.install(|| machine.set(at, |[x, y, z]| values[[z, y, x]]));
        Ok(())
    }

    fn component(&self, name: &str) -> Result<usize, Error> {
        self.machine.field(name).ok_or_else(|| {
            let part = |component: &&str| {
                component
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with('_'))
            };
            let mut error = Error::unknown(
                self.system().name(),
                "component",
                name,
                self.machine.fields(),
            );
            if let (Error::Unknown { nearest, .. }, Some(first)) =
                (&mut error, self.machine.fields().find(part))
            {
                *nearest = Some(first.to_string());
            }
            error
        })
    }

    /// The values of a component, `[z, y, x]`, without a copy.
    ///
    /// # Errors
    /// If there is no such component.
    pub fn field(&self, name: &str) -> Result<ArrayView3<'_, T>, Error> {
        let at = self.component(name)?;
        let bug = || Error::Bug(format!("the array of `{name}` has no shape"));
        self.machine.interior(at).ok_or_else(bug)
    }

    /// Names of all components, in the order of declaration.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.machine.fields()
    }

    /// One time step.
    pub fn step(&mut self) {
        let (machine, pool) = (&mut self.machine, &self.pool);
        pool.install(|| machine.step());
        self.steps += 1;
        self.t += self.dt;
    }

    /// Some time steps; `progress` gets the step and the time after each.
    ///
    /// # Errors
    /// If values are no longer finite. It is looked for every 16 steps and at the end.
    pub fn run(&mut self, steps: u64, mut progress: impl FnMut(u64, f64)) -> Result<(), Error> {
        for i in 1..=steps {
            self.step();
            if self.steps.is_multiple_of(LOOK) || i == steps {
                self.check_finite()?;
            }
            progress(self.steps, self.t);
        }
        Ok(())
    }

    /// Looks whether all values are finite.
    ///
    /// # Errors
    /// The first field and cell where they are not.
    pub fn check_finite(&mut self) -> Result<(), Error> {
        let machine = &self.machine;
        if let Some((field, cell)) = self.pool.install(|| machine.first_not_finite()) {
            return Err(Error::NotFinite {
                field,
                cell,
                step: self.steps,
                t: self.t,
                last_finite: self.last_finite,
            });
        }
        self.last_finite = self.steps;
        Ok(())
    }

    /// Changes the time step from now on.
    ///
    /// # Errors
    /// If it is not a positive number.
    pub fn set_dt(&mut self, dt: f64) -> Result<(), Error> {
        number(
            "the time step".into(),
            dt,
            |v| v > 0.0,
            "give a positive number".into(),
        )?;
        self.dt = dt;
        self.renew_uniforms();
        Ok(())
    }

    /// Writes all components as `[z, y, x]`, the time, the step and what the run was to a `.npz`.
    ///
    /// ```no_run
    /// # fn save(simulation: &stencil_runtime::Simulation<f32>) -> Result<(), stencil_runtime::Error> {
    /// simulation.save_npz("final.npz")?; // numpy.load("final.npz")["u_x"]
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save_npz(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let mut file = NpzWriter::create(path)?;
        for name in self.machine.fields() {
            file.array(name, &self.field(name)?)?;
        }
        file.f64("t", self.t)?;
        file.u64("step", self.steps)?;
        file.f64("dt", self.dt)?;
        let spacing = self.spacing();
        for (axis, name) in ["x", "y", "z"]
            .into_iter()
            .enumerate()
            .take(self.system().model().dimension)
        {
            file.f64(&format!("origin_{name}"), self.setup.origin[axis])?;
            file.f64(&format!("spacing_{name}"), spacing[axis])?;
        }
        file.text(
            "system",
            &stencil_compiler::model::text::print(self.system().model()),
        )?;
        file.text("scheme", &self.system().algorithm().scheme)?;
        let params: Vec<String> = self
            .params()
            .map(|(name, value)| format!("{name} = {value:?}"))
            .collect();
        file.text("params", &params.join("\n"))?;
        file.finish()?;
        Ok(())
    }

    /// A component as `f64`, whatever the precision of the run: for pictures and statistics.
    ///
    /// # Errors
    /// If there is no such component.
    pub fn to_f64(&self, name: &str) -> Result<Array3<f64>, Error> {
        Ok(self.field(name)?.mapv(|v| v.to_f64()))
    }

    /// The time.
    pub fn t(&self) -> f64 {
        self.t
    }

    /// Number of steps done.
    pub fn step_count(&self) -> u64 {
        self.steps
    }

    /// The time step.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// The system.
    pub fn system(&self) -> &SystemDef {
        &self.setup.system
    }

    /// What is launched, stored and filled in a step.
    pub fn plan(&self) -> &Plan {
        &self.setup.plan
    }

    /// The schedule that the plan was made by.
    pub fn schedule(&self) -> &Schedule {
        &self.setup.schedule
    }

    /// Cells along x, y, z.
    pub fn cells(&self) -> [usize; 3] {
        self.setup.cells
    }

    /// Coordinates of the first cell.
    pub fn origin(&self) -> [f64; 3] {
        self.setup.origin
    }

    /// Distance of cells along x, y, z.
    pub fn spacing(&self) -> [f64; 3] {
        std::array::from_fn(|axis| self.setup.extent[axis] / self.setup.cells[axis] as f64)
    }

    /// Names and values of the parameters.
    pub fn params(&self) -> impl Iterator<Item = (&str, f64)> {
        let names = self
            .setup
            .system
            .model()
            .params
            .iter()
            .map(|p| p.name.as_str());
        names.zip(self.setup.params.iter().copied())
    }

    /// The engine that was chosen: never [`Engine::Auto`].
    pub fn engine(&self) -> Engine {
        self.setup.engine
    }

    /// The instructions that were chosen.
    pub fn instructions(&self) -> Instructions {
        self.setup.instructions.get()
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Memory of all arrays, ghost cells included.
    pub fn bytes(&self) -> usize {
        self.machine.bytes()
    }
}
