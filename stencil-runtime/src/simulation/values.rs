//! Values of fields and sources: set, read, sampled.

use std::collections::BTreeMap;

use ndarray::{Array2, Array3, ArrayView3};
use stencil_compiler::algorithm::Role;
use stencil_compiler::catalogue::centering::CENTRE;
use stencil_compiler::catalogue::{Halves, Rank};
use stencil_compiler::expr::Real;
use stencil_compiler::plan::BufferRole;

use super::evaluate::{check_plane, plane_shape};
use super::{Sampled, Simulation};
use crate::backend::Device;
use crate::field::Shared;
use crate::mesh::{Axis, Given, Mesh, Written};
use crate::{Error, Number, Source};

impl<T: Number> Simulation<T> {
    /// Returns the mesh whose points are those of a component: of the centres of cells, of their upper faces along some
    /// axis, or of edges, as the component's field is declared.
    ///
    /// ```
    /// # use stencil_runtime::{Simulation, SystemDef};
    /// let sound = SystemDef::from_text("sound", "
    ///     pub system Sound in 1d { field p: scalar; face field v: vector; ddt(p) = -div(v); ddt(v) = -grad(p); }")?;
    /// let sound = Simulation::<f64>::builder(&sound).cells([4, 1, 1]).dt(0.01).build()?;
    /// assert_eq!(sound.mesh_of("p")?.coordinate(0, 0), 0.0);
    /// assert_eq!(sound.mesh_of("v_x")?.coordinate(0, 0), 0.125);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such component.
    pub fn mesh_of(&self, name: &str) -> Result<Mesh, Error> {
        self.component(name)?;
        Ok(self.setup.mesh.at(self.halves_of(name)))
    }

    /// Returns the place of a component in its cells.
    pub(super) fn halves_of(&self, name: &str) -> Halves {
        let mut states = self.system().algorithm().states_of(Role::Field);
        let state = states.find(|(_, state)| state.name == name);
        state.map_or(CENTRE, |(_, state)| state.halves)
    }

    /// Sets a component from a function of the coordinates at its [points](Self::mesh_of); it is called on several
    /// threads.
    ///
    /// # Errors
    /// If there is no such component.
    pub fn set(
        &mut self,
        name: &str,
        value: impl Fn(f64, f64, f64) -> f64 + Sync,
    ) -> Result<(), Error> {
        let mesh = self.mesh_of(name)?;
        self.set_cells(name, |cell| {
            let [x, y, z] = mesh.point(cell);
            value(x, y, z)
        })
    }

    /// Sets a component from a function of the number of a cell along each axis.
    pub(crate) fn set_cells(
        &mut self,
        name: &str,
        value: impl Fn([isize; 3]) -> f64 + Sync,
    ) -> Result<(), Error> {
        let at = self.component(name)?;
        self.settle()?;
        self.device.set(at, &|cell| T::from_f64(value(cell)))?;
        self.is_set = true;
        Ok(())
    }

    /// Returns the bits of all components and observables, in their order; NaN by one pattern. They are the same for
    /// the same problem, on any engine.
    ///
    /// ```
    /// # use stencil_runtime::{Engine, Simulation, SystemDef};
    /// # let heat = SystemDef::from_text("heat.pde", "
    /// #     pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); observe heat = sum(q); }
    /// # ")?;
    /// let run = |engine| -> Result<Vec<u64>, stencil_runtime::Error> {
    ///     let run = Simulation::<f64>::builder(&heat).cells([32, 1, 1]).dt(1e-4);
    ///     let mut simulation = run.engine(engine).build()?;
    ///     simulation.set("q", |x, _, _| x * x)?;
    ///     simulation.run(3, |_, _| ())?;
    ///     simulation.bits()
    /// };
    /// assert_eq!(run(Engine::Rows)?, run(Engine::Cpu)?);
    /// assert_eq!(run(Engine::Rows)?.len(), 33);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the values are on a card that fails, or that made one which is not finite.
    pub fn bits(&mut self) -> Result<Vec<u64>, Error> {
        let names: Vec<String> = self.components().map(str::to_string).collect();
        let mut bits = Vec::new();
        for name in &names {
            bits.extend(self.field(name)?.iter().map(|v| v.canonical_bits()));
        }
        let observed = self.observe()?;
        bits.extend(observed.values().map(|v| v.canonical_bits()));
        Ok(bits)
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
        let components = model.components;
        if !vectors.clone().any(|f| f.name == name) {
            return Err(Error::unknown(
                self.system().name(),
                "vector field",
                name,
                vectors.map(|f| f.name.as_str()),
            ));
        }
        for axis in Axis::ALL.into_iter().take(components) {
            let component = format!("{name}_{axis}");
            self.set(&component, |x, y, z| value(x, y, z)[axis.index()])?;
        }
        Ok(())
    }

    /// Sets a component from a formula such as `"exp(-x^2) * rho0"` of x, y, z and the parameters.
    ///
    /// # Errors
    /// If there is no such component, or the formula has errors.
    pub fn set_text(&mut self, name: &str, formula: &str) -> Result<(), Error> {
        self.component(name)?;
        let what = format!("the initial value of `{name}`");
        let (system, params) = (self.setup.system.clone(), self.setup.params.clone());
        let value = crate::mesh::formula::point(&system, &params, &what, formula)?;
        let t = self.t;
        self.set(name, |x, y, z| value.at([x, y, z], t))
    }

    /// Sets a component from values `[z, y, x]`.
    ///
    /// # Errors
    /// If there is no such component, or it has another shape.
    pub fn set_array(&mut self, name: &str, values: ArrayView3<'_, T>) -> Result<(), Error> {
        let at = self.component(name)?;
        check_shape(name, self.setup.mesh.cells, values.dim())?;
        self.settle()?;
        self.device.set(at, &|cell| {
            let [x, y, z] = cell.map(|i| i as usize);
            values[[z, y, x]]
        })?;
        self.is_set = true;
        Ok(())
    }

    pub(super) fn component(&self, name: &str) -> Result<usize, Error> {
        let buffers = &self.device.fields().buffers;
        buffers.field(name).ok_or_else(|| {
            let part = |component: &&str| {
                component.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'))
            };
            let mut error =
                Error::unknown(self.system().name(), "component", name, buffers.fields());
            if let (Error::Unknown { nearest, .. }, Some(first)) =
                (&mut error, buffers.fields().find(part))
            {
                *nearest = Some(first.to_string());
            }
            error
        })
    }

    /// Returns the values of a component, `[z, y, x]`, without a copy.
    ///
    /// # Errors
    /// If there is no such component.
    pub fn field(&self, name: &str) -> Result<ArrayView3<'_, T>, Error> {
        let at = self.component(name)?;
        self.device.interior(at)
    }

    /// Returns the place of a component in the memory of the run, where other libraries of this process may read it and change
    /// it: models that learn, other solvers, pictures. Tell the run by [`shared_changed`](Self::shared_changed) when they are done,
    /// before its next call.
    ///
    /// ```
    /// # use stencil_runtime::{Simulation, SystemDef};
    /// # let heat = SystemDef::from_text("h", "pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }")?;
    /// let mut simulation = Simulation::<f64>::builder(&heat).cells([4, 1, 1]).dt(1e-6).build()?;
    /// let shared = simulation.share("q")?;
    /// assert_eq!((shared.shape, shared.strides[2], shared.card), ([1, 1, 4], 8, None));
    /// // SAFETY: the run is not called meanwhile, and the array has four values there.
    /// unsafe { (shared.address as *mut f64).add(3).write(2.0) };
    /// simulation.shared_changed(&["q"])?;
    /// assert_eq!(simulation.field("q")?.iter().sum::<f64>(), 2.0);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such component, or its values do not lie in one array: of several patches or devices, in a surface of a
    /// card, or in slabs.
    pub fn share(&mut self, name: &str) -> Result<Shared, Error> {
        let at = self.component(name)?;
        self.settle()?;
        self.device.share(at)
    }

    /// Takes note that others may have changed components where they lie. Waits for all work on the card first.
    ///
    /// # Errors
    /// If there is no such component, or work on the card has failed.
    pub fn shared_changed(&mut self, names: &[&str]) -> Result<(), Error> {
        let at = names.iter().map(|name| self.component(name));
        let at = at.collect::<Result<Vec<_>, _>>()?;
        self.device.changed(&at)?;
        self.is_set = true;
        Ok(())
    }

    /// Returns the values of a component in the cells of this number along an axis: `[z, y]`, `[z, x]` or `[y, x]`. The first of
    /// [ranks](crate::Builder::ranks) has some planes of the mesh at a time, and no array of all cells.
    ///
    /// # Errors
    /// If there is no such component, or there are fewer cells.
    pub fn field_plane(
        &self,
        name: &str,
        (normal, at): (Axis, usize),
    ) -> Result<Array2<f64>, Error> {
        let ([nx, ny, _], axis) = (self.cells(), ndarray::Axis(2 - normal.index()));
        let bug = |what: &str| Error::Bug(format!("`{name}` has {what}"));
        check_plane(self.cells(), (normal, at))?;
        let Some(mut planes) = self.device.planes(self.component(name)?)? else {
            return Ok(self.field(name)?.index_axis(axis, at).mapv(|v| v.to_f64()));
        };
        let (mut before, mut values, mut bytes) = (0, Vec::new(), Vec::new());
        while let Some(next) = planes.next() {
            let count = next.len() / (nx * ny);
            let next = ArrayView3::from_shape((count, ny, nx), &next);
            let next = next.map_err(|_| bug("planes of another size"))?;
            match normal {
                Axis::Z if (before..before + count).contains(&at) => {
                    values.extend(next.index_axis(axis, at - before));
                }
                Axis::Z => {}
                Axis::X | Axis::Y => values.extend(next.index_axis(axis, at)),
            }
            before += count;
        }
        T::put(&values, &mut bytes);
        let bytes = self.ranks().gather(&bytes).swap_remove(0);
        values.resize(bytes.len() / T::BYTES, T::ZERO);
        T::take(&mut values, &bytes);
        let values = values.iter().map(|v| v.to_f64()).collect();
        Array2::from_shape_vec(plane_shape(self.cells(), normal), values)
            .map_err(|_| bug("a plane of another size"))
    }

    /// Returns a component as `f64`, whatever the precision of the run: for pictures and statistics.
    ///
    /// # Errors
    /// If there is no such component.
    pub fn to_f64(&self, name: &str) -> Result<Array3<f64>, Error> {
        Ok(self.field(name)?.mapv(|v| v.to_f64()))
    }

    /// Returns, for each cell, how often the flux through an upper face was repaired, to keep ranges that the system
    /// declares: `[z, y, x]`, at most as many as there are axes in an Euler step, since the simulation was built. A
    /// face at the lower edge of the mesh belongs to no cell. Fluxes by the solver that `roe<else = ..>` names count, too. `None` if
    /// the scheme repairs nothing. A step that is
    /// retaken counts with both its tries.
    ///
    /// ```
    /// # use stencil_runtime::{Simulation, SystemDef};
    /// let water = SystemDef::from_text("water.pde", "
    ///     pub system Water in 1d {
    ///         conserved h: scalar [m] where h > 0;
    ///         conserved m: vector [m^2/s];
    ///         let u = m/h;
    ///         flux h -> m;
    ///         flux m -> outer(m, u) + 5*h^2*I;
    ///     }
    ///     scheme s for Water { reconstruct: plm; riemann: hll; time: ssprk2; }")?;
    /// let mut simulation = Simulation::<f64>::builder(&water).cells([8, 1, 1]).dt(1e-3).build()?;
    /// simulation.set("h", |_, _, _| 1.0)?;
    /// simulation.run(10, |_, _| ())?;
    /// assert!(simulation.repairs()?.is_some_and(|repairs| repairs.iter().all(|n| *n == 0)));
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the values are on a card that fails.
    pub fn repairs(&self) -> Result<Option<Array3<u64>>, Error> {
        let mut counts = self.system().algorithm().states_of(Role::Count);
        let Some((_, count)) = counts.next() else {
            return Ok(None);
        };
        let buffers = &self.device.fields().buffers;
        let buffer = buffers.find(&count.name, BufferRole::Count);
        let bug = || Error::Bug(format!("`{}` has no array", count.name));
        let values = self.device.interior(buffer.ok_or_else(bug)?)?;
        Ok(Some(values.mapv(|n| n.to_f64() as u64)))
    }

    /// Returns the names of all components, in the order of declaration.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.device.fields().buffers.fields()
    }

    /// Evaluates all sources that do not change with time.
    pub(super) fn sample_steady(&mut self) -> Result<(), Error> {
        self.sample(|source| !matches!(source, Sampled::Unsteady(_)), self.t)?;
        Ok(())
    }

    /// Evaluates the sources that change with time; returns whether there are any.
    pub(super) fn sample_unsteady(&mut self, t: f64) -> Result<bool, Error> {
        self.sample(|source| matches!(source, Sampled::Unsteady(_)), t)
    }

    fn sample(&mut self, which: impl Fn(&Sampled) -> bool, t: f64) -> Result<bool, Error> {
        let (mut any, mut by_device) = (false, false);
        for (name, source) in self.sources.iter().filter(|(_, source)| which(source)) {
            any = true;
            let Some(at) = self.device.fields().buffers.given(name) else {
                continue;
            };
            if self.device.samples(at) {
                by_device = true;
                continue;
            }
            sample(self.device.as_mut(), (name, at), source, (&self.setup.mesh, t))?;
        }
        if by_device {
            self.device.sample(t)?;
        }
        Ok(any)
    }
}

/// Evaluates a source into its buffer, and checks that its values are finite.
pub(super) fn sample<T: Number>(
    device: &mut dyn Device<T>,
    (name, buffer): (&str, usize),
    source: &Sampled,
    (mesh, t): (&Mesh, f64),
) -> Result<(), Error> {
    source.in_cells(mesh, t, |value| device.set(buffer, &|cell| T::from_f64(value(cell))))?;
    let Some(cell) = device.first_infinite(buffer)? else {
        return Ok(());
    };
    let [x, y, z] = cell;
    // A function such as `max(0, k)` would hide it.
    Err(Error::Value {
        what: format!("the source `{name}` at {:?}, t = {t}", mesh.point(cell.map(|i| i as isize))),
        value: device.interior(buffer)?[[z, y, x]].to_f64(),
        help: "give it values that are finite in all cells".into(),
    })
}

/// Prepares a source for evaluation.
pub(crate) fn sampled(
    name: &str,
    source: Source,
    cells: [usize; 3],
    read: impl Fn(&Written) -> Result<Sampled, Error>,
) -> Result<Sampled, Error> {
    Ok(match source.0 {
        Given::Constant(value) => {
            let what = format!("the source `{name}`");
            crate::simulation::builder::number(what, value, |_| true, "give a number".into())?;
            Sampled::Steady(std::sync::Arc::new(move |_, _, _| value))
        }
        Given::Steady(value) => Sampled::Steady(value),
        Given::Unsteady(value) => Sampled::Unsteady(value),
        Given::Values(values) => {
            check_shape(name, cells, values.dim())?;
            Sampled::Values(values)
        }
        Given::Written(written) => read(&written)?,
    })
}

/// Checks that there are as many values as cells.
pub(super) fn check_shape(
    name: &str,
    [nx, ny, nz]: [usize; 3],
    found: (usize, usize, usize),
) -> Result<(), Error> {
    if found == (nz, ny, nx) {
        return Ok(());
    }
    Err(Error::Shape {
        name: name.to_string(),
        expected: format!("{:?}", (nz, ny, nx)),
        found: format!("{found:?}"),
        order: "[z, y, x]",
    })
}
/// Returns the sources that change with time and that no device samples: the host evaluates them in each substep.
pub(super) fn by_host(
    sources: &BTreeMap<String, Sampled>,
    samples: impl Fn(&str) -> bool,
) -> impl Iterator<Item = (&str, &Sampled)> {
    let unsteady = sources.iter().filter(|(_, source)| matches!(source, Sampled::Unsteady(_)));
    unsteady.map(|(name, source)| (name.as_str(), source)).filter(move |(name, _)| !samples(name))
}

/// Does a device sample this source itself, or does no launch read it?
pub(super) fn samples<T: Number>(device: &dyn Device<T>, name: &str) -> bool {
    device.fields().buffers.given(name).is_none_or(|buffer| device.samples(buffer))
}
