//! Manufactured solutions (Roache, J. Fluids Eng. 124, 4, 2002): waves that solve nothing, and
//! sources that make them solutions. The sources come from the declarations, by Taylor
//! polynomials, so every built-in system is tested without a formula of its own.

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::sync::{Arc, Mutex};

use physics::systems;
use stencil_compiler::model::{Mixed, Model, Source, Term, TermKind};
use stencil_runtime::{Definition, Simulation, SystemDef};

use crate::jets::{Jet, Point, Space};
use crate::support::{changed, model_of, observed, settle};

/// Wavevectors; the waves of a system have as many as it has dimensions.
const WAVES: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 1.0]];

/// Their frequencies.
const FREQUENCIES: [f64; 3] = [0.9, -0.6, 1.3];

/// Fields that vary along the first axes of a system.
#[derive(Clone, Copy, Debug)]
struct Fields {
    waves: usize,
    axes: usize,
}

impl Fields {
    /// Wavevector and phase of each wave of a component.
    fn waves(
        self,
        component: usize,
        at: [f64; 3],
        t: f64,
    ) -> impl Iterator<Item = ([f64; 3], f64)> {
        (0..self.waves).map(move |i| {
            let k: [f64; 3] = std::array::from_fn(|axis| {
                if axis < self.axes {
                    WAVES[i][axis]
                } else {
                    0.0
                }
            });
            let along: f64 = (0..3).map(|axis| k[axis] * at[axis]).sum();
            let shift = 0.7 * component as f64 + 1.9 * i as f64;
            (k, along + shift - FREQUENCIES[i] * t)
        })
    }

    /// Positive, smooth, and different in all components.
    fn value(self, component: usize, at: [f64; 3], t: f64) -> f64 {
        let sum: f64 = self
            .waves(component, at, t)
            .map(|(_, phase)| phase.cos())
            .sum();
        0.4 + 0.05 * component as f64 + 0.1 * sum
    }

    fn rate(self, component: usize, at: [f64; 3], t: f64) -> f64 {
        let waves = self.waves(component, at, t).zip(FREQUENCIES);
        0.1 * waves
            .map(|((_, phase), frequency)| frequency * phase.sin())
            .sum::<f64>()
    }

    fn jet(self, space: &Space, component: usize, at: [f64; 3], t: f64) -> Jet {
        let mut jet: Jet = space.constant(0.4 + 0.05 * component as f64);
        for (k, phase) in self.waves(component, at, t) {
            let wave = space.wave(k, phase);
            jet.iter_mut().zip(&wave).for_each(|(a, b)| *a += 0.1 * b);
        }
        jet
    }

    /// The right-hand sides of all components.
    fn right_hand_sides(self, space: &Space, model: &Model, at: [f64; 3], t: f64) -> Vec<f64> {
        let mut component = 0..;
        let jets = model.fields.iter().map(|field| {
            let count = model.dimension.pow(field.rank as u32);
            let components = component.by_ref().take(count);
            components.map(|c| self.jet(space, c, at, t)).collect()
        });
        let jets: Vec<Vec<Jet>> = jets.collect();
        let params = params(model);
        let point = Point::new(space, model, &params, &jets);
        let equations = model.equations.iter().flat_map(|e| point.value(&e.rhs));
        equations.map(|jet| jet[0]).collect()
    }
}

/// Values of the parameters: nothing is switched off.
fn params(model: &Model) -> Vec<f64> {
    let value = |name: &str| match name {
        "gamma" => 1.4,
        "lnrho0" => 0.2,
        "mu0" => 0.8,
        "bx0" | "by0" | "bz0" => 0.3,
        name if name.starts_with('c') => 1.2,
        _ => 0.05,
    };
    model.params.iter().map(|p| value(&p.name)).collect()
}

/// The sources of all components, each point and time once.
struct Drive {
    model: Arc<Model>,
    fields: Fields,
    space: Space,
    known: Mutex<BTreeMap<[u64; 4], Vec<f64>>>,
}

impl Drive {
    fn new(model: &Arc<Model>, fields: Fields) -> Self {
        Drive {
            model: model.clone(),
            fields,
            space: space(model, fields),
            known: Mutex::default(),
        }
    }

    fn at(&self, component: usize, at: [f64; 3], t: f64) -> f64 {
        let key = [at[0], at[1], at[2], t].map(f64::to_bits);
        let mut known = self.known.lock().expect("no thread failed");
        let all = known.entry(key).or_insert_with(|| {
            let right_hand_sides = self
                .fields
                .right_hand_sides(&self.space, &self.model, at, t);
            let rates = (0..).map(|c| self.fields.rate(c, at, t));
            rates
                .zip(right_hand_sides)
                .map(|(rate, rhs)| rate - rhs)
                .collect()
        });
        all[component]
    }
}

/// A run from the waves, with `n` cells along the first axes, and the sources of `model` if any.
fn started(
    system: &SystemDef,
    fields: Fields,
    n: usize,
    dt: f64,
    sources: Option<&Arc<Model>>,
) -> Simulation<f64> {
    let model = system.model();
    let mut builder = Simulation::<f64>::builder(system)
        .cells(std::array::from_fn(|i| if i < fields.axes { n } else { 1 }))
        .extent(std::array::from_fn(
            |i| if i < fields.axes { TAU } else { 1.0 },
        ))
        .dt(dt);
    for (param, value) in model.params.iter().zip(params(model)) {
        builder = builder.param(&param.name, value);
    }
    if let Some(declared) = sources {
        let given = system
            .algorithm()
            .states_of(stencil_compiler::algorithm::Role::Given);
        let drive = Arc::new(Drive::new(declared, fields));
        for (c, (_, state)) in given.enumerate() {
            let drive = drive.clone();
            let source = move |x, y, z, t| drive.at(c, [x, y, z], t);
            builder = builder.source(&state.name, stencil_runtime::Source::unsteady(source));
        }
    }
    let mut simulation = builder.build().unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    for (c, name) in names.iter().enumerate() {
        settle(&mut simulation, name, |at| fields.value(c, at, 0.0));
    }
    simulation
}

/// The root mean square over all components and some points of the error of their rates of change,
/// over that of the rates.
fn error_in_space(definition: &Definition, mixed: Mixed, n: usize) -> f64 {
    let system = changed(definition, |model| {
        model.scheme.mixed = mixed;
        model.scheme.time = "euler".to_string();
    });
    let model = system.model();
    let d = model.dimension;
    let fields = Fields { waves: d, axes: d };
    let mut simulation = started(&system, fields, n, 1.0, None);
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    simulation.step().unwrap_or_else(|e| panic!("{e}"));
    let (space, spacing) = (space(model, fields), simulation.spacing());
    // Every mesh has these points.
    let all = (0..4usize.pow(d as u32)).map(|i| [i % 4, i / 4 % 4, i / 16].map(|i| i * n / 4));
    let (mut errors, mut squares) = (0.0, 0.0);
    for cell in all {
        let at = [0, 1, 2].map(|i| cell[i] as f64 * spacing[i]);
        let rates = fields.right_hand_sides(&space, model, at, 0.0);
        for (c, rate) in rates.into_iter().enumerate() {
            let new = simulation.field(&names[c]).expect("a component");
            let change = new[[cell[2], cell[1], cell[0]]] - fields.value(c, at, 0.0);
            errors += (change - rate).powi(2);
            squares += rate * rate;
        }
    }
    f64::sqrt(errors / squares)
}

/// Polynomials of the highest degree that a right-hand side differentiates.
fn space(model: &Model, fields: Fields) -> Space {
    let third = model.name == "Kdv";
    Space::new(if third { 3 } else { 2 }, fields.axes)
}

/// The systems without sources of their own.
fn closed() -> impl Iterator<Item = (&'static Definition, Model)> {
    let all = systems::ALL.iter().map(|d| (d, model_of(d)));
    all.filter(|(_, model)| model.sources.is_empty())
}

#[test]
fn every_system_has_the_order_of_its_scheme() {
    for (definition, model) in closed() {
        let nested = definition.model.contains("grad(div(");
        let all = [Mixed::Bidiagonal, Mixed::Product, Mixed::Composed];
        for mixed in &all[..if nested { 3 } else { 1 }] {
            let [coarse, fine] = [20, 28].map(|n| error_in_space(definition, *mixed, n));
            let observed = observed(coarse, fine, 28.0 / 20.0);
            assert!(
                (observed - f64::from(model.scheme.order)).abs() < 0.3,
                "{} in {}d, {mixed:?}: {coarse:e}, {fine:e}, observed {observed:.3}",
                definition.name,
                model.dimension
            );
        }
    }
}

/// The model with a source in each equation.
fn driven(model: &mut Model) {
    let declared: Vec<(String, _)> = model
        .fields
        .iter()
        .map(|f| (format!("drive_{}", f.name), f.rank))
        .collect();
    for equation in &mut model.equations {
        let (name, rank) = declared[equation.field].clone();
        let span = equation.span;
        let term = |kind| Term { kind, rank, span };
        let source = term(TermKind::Source(model.sources.len()));
        let rhs = std::mem::replace(&mut equation.rhs, term(TermKind::Time));
        equation.rhs = term(TermKind::Add(Box::new(rhs), Box::new(source)));
        model.sources.push(Source {
            name,
            rank,
            unit: None,
            value: None,
            span,
        });
    }
}

/// The largest error of all components at the end of a run with steps as the square of the spacing.
fn error_in_time(definition: &Definition, model: &Arc<Model>, n: usize) -> f64 {
    let system = changed(definition, driven);
    let fields = Fields {
        waves: model.dimension,
        axes: 1,
    };
    let (end, steps) = (0.16, (n * n) as u64 / 4);
    let mut simulation = started(&system, fields, n, end / steps as f64, Some(model));
    simulation
        .run(steps, |_, _| ())
        .unwrap_or_else(|e| panic!("{}: {e}", definition.name));
    let h = simulation.spacing()[0];
    let names: Vec<&str> = simulation.components().collect();
    let errors = names.iter().enumerate().flat_map(|(c, name)| {
        let values = simulation.field(name).expect("a component");
        let error = move |i: usize| {
            (values[[0, 0, i]] - fields.value(c, [i as f64 * h, 0.0, 0.0], end)).abs()
        };
        (0..n).map(error)
    });
    errors.fold(0.0, f64::max)
}

/// With sources that depend on time, and time steps as the square of the spacing, a scheme of third
/// order in time and sixth in space has an error of sixth order.
#[test]
fn driven_systems_converge_in_space_and_time() {
    // One number of dimensions is enough for systems of any.
    let all = closed().filter(|(_, model)| !model.generic || model.dimension == 2);
    for (definition, model) in all {
        let in_time = if model.scheme.time == "rk4" { 8 } else { 6 };
        let order = f64::from(model.scheme.order);
        let least = order.min(f64::from(in_time));
        let model = Arc::new(model);
        let [coarse, fine] = [12, 16].map(|n| error_in_time(definition, &model, n));
        let observed = observed(coarse, fine, 16.0 / 12.0);
        assert!(
            (least - 0.5..order + 0.5).contains(&observed),
            "{} in {}d: {coarse:e}, {fine:e}, observed {observed:.3}",
            definition.name,
            model.dimension
        );
    }
}
