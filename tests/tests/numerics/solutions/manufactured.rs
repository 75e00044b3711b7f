//! Manufactured solutions (Roache, J. Fluids Eng. 124, 4, 2002): waves that solve nothing, and
//! sources that make them solutions. The sources come from the declarations, by Taylor
//! polynomials, so every built-in system is tested without a formula of its own.

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::sync::{Arc, Mutex};

use stencil_compiler::algorithm::Role;
use stencil_compiler::model::{Mixed, Model, Source, Term, TermKind};
use stencil_runtime::{Simulation, Source as Given, SystemDef};
use stencil_tests::{OrPanic, takes_in_turn};

use super::jets::{Jet, Point, Space};
use super::support::{describe, forms, observed, root_mean_square, settle, steps, system_of};

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
    /// Returns wavevector and phase of each wave of a component.
    fn waves(
        self,
        component: usize,
        at: [f64; 3],
        t: f64,
    ) -> impl Iterator<Item = ([f64; 3], f64)> {
        (0..self.waves).map(move |i| {
            let k: [f64; 3] =
                std::array::from_fn(|axis| if axis < self.axes { WAVES[i][axis] } else { 0.0 });
            let along: f64 = (0..3).map(|axis| k[axis] * at[axis]).sum();
            let shift = 0.7 * component as f64 + 1.9 * i as f64;
            (k, along + shift - FREQUENCIES[i] * t)
        })
    }

    /// Returns a value that is positive, smooth, and different in all components.
    fn value(self, component: usize, at: [f64; 3], t: f64) -> f64 {
        let sum: f64 = self.waves(component, at, t).map(|(_, phase)| phase.cos()).sum();
        0.4 + 0.05 * component as f64 + 0.1 * sum
    }

    fn rate(self, component: usize, at: [f64; 3], t: f64) -> f64 {
        let waves = self.waves(component, at, t).zip(FREQUENCIES);
        0.1 * waves.map(|((_, phase), frequency)| frequency * phase.sin()).sum::<f64>()
    }

    fn jet(self, space: &Space, component: usize, at: [f64; 3], t: f64) -> Jet {
        let mut jet: Jet = space.constant(0.4 + 0.05 * component as f64);
        for (k, phase) in self.waves(component, at, t) {
            let wave = space.wave(k, phase);
            jet.iter_mut().zip(&wave).for_each(|(a, b)| *a += 0.1 * b);
        }
        jet
    }

    /// Returns the right-hand sides of all components. Sources are components after those of the fields.
    fn right_hand_sides(self, space: &Space, model: &Model, at: [f64; 3], t: f64) -> Vec<f64> {
        let mut component = 0..;
        let ranks = model.fields.iter().map(|field| field.rank);
        let ranks = ranks.chain(model.sources.iter().map(|source| source.rank));
        let jets = ranks.map(|rank| {
            let count = model.dimension.pow(rank as u32);
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

/// Returns values of the parameters: nothing is switched off.
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
        Drive { model: model.clone(), fields, space: space(model, fields), known: Mutex::default() }
    }

    fn at(&self, component: usize, at: [f64; 3], t: f64) -> f64 {
        let key = [at[0], at[1], at[2], t].map(f64::to_bits);
        let mut known = self.known.lock().expect("no thread failed");
        let all = known.entry(key).or_insert_with(|| {
            let right_hand_sides = self.fields.right_hand_sides(&self.space, &self.model, at, t);
            let rates = (0..).map(|c| self.fields.rate(c, at, t));
            rates.zip(right_hand_sides).map(|(rate, rhs)| rate - rhs).collect()
        });
        all[component]
    }
}

/// Returns a run from the waves, with `n` cells along the first axes, by a system that is the declared one or drives
/// it.
fn started(
    system: &SystemDef,
    declared: &Arc<Model>,
    fields: Fields,
    n: usize,
    dt: f64,
) -> Simulation<f64> {
    let along = |i: usize| i < fields.axes;
    let mut builder = Simulation::<f64>::builder(system)
        .cells(std::array::from_fn(|i| if along(i) { n } else { 1 }))
        .extent(std::array::from_fn(|i| if along(i) { TAU } else { 1.0 }))
        .dt(dt)
        .unchecked_step(true);
    for (param, value) in declared.params.iter().zip(params(declared)) {
        builder = builder.param(&param.name, value);
    }
    let algorithm = system.algorithm();
    let components = algorithm.states_of(Role::Field).count();
    let own = declared.sources.iter();
    let own: usize = own.map(|s| declared.dimension.pow(s.rank as u32)).sum();
    let drive = Arc::new(Drive::new(declared, fields));
    for (c, (_, state)) in algorithm.states_of(Role::Given).enumerate() {
        let source = if c < own {
            Given::unsteady(move |x, y, z, t| fields.value(components + c, [x, y, z], t))
        } else {
            let drive = drive.clone();
            Given::unsteady(move |x, y, z, t| drive.at(c - own, [x, y, z], t))
        };
        builder = builder.source(&state.name, source);
    }
    let mut simulation = builder.build().or_panic();
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    for (c, name) in names.iter().enumerate() {
        settle(&mut simulation, name, |at| fields.value(c, at, 0.0));
    }
    simulation
}

/// Returns the root mean square over all components and some points of the error of their rates of change, over that of
/// the rates.
fn error_in_space(declared: &Arc<Model>, n: usize) -> f64 {
    let mut model = Model::clone(declared);
    model.scheme.time = "euler".to_string();
    let d = model.dimension;
    let fields = Fields { waves: d, axes: d };
    let mut simulation = started(&system_of(&model), declared, fields, n, 1.0);
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    simulation.step().or_panic();
    let (space, spacing) = (space(&model, fields), simulation.spacing());
    // Every mesh has these points.
    let all = (0..4usize.pow(d as u32)).map(|i| [i % 4, i / 4 % 4, i / 16].map(|i| i * n / 4));
    let (mut errors, mut squares) = (0.0, 0.0);
    for cell in all {
        let at = [0, 1, 2].map(|i| cell[i] as f64 * spacing[i]);
        let rates = fields.right_hand_sides(&space, &model, at, 0.0);
        for (c, rate) in rates.into_iter().enumerate() {
            let new = simulation.field(&names[c]).expect("a component");
            let change = new[[cell[2], cell[1], cell[0]]] - fields.value(c, at, 0.0);
            errors += (change - rate).powi(2);
            squares += rate * rate;
        }
    }
    f64::sqrt(errors / squares)
}

/// Returns polynomials of the highest degree that a right-hand side differentiates.
fn space(model: &Model, fields: Fields) -> Space {
    let third = model.name == "Kdv";
    Space::new(if third { 3 } else { 2 }, fields.axes)
}

/// Compares the observed orders of forms with those of their schemes.
fn assert_orders(
    forms: impl Iterator<Item = Model>,
    meshes: [usize; 2],
    error: impl Fn(&Arc<Model>, usize) -> f64,
) {
    let mut wrong = String::new();
    for model in forms.map(Arc::new) {
        let [coarse, fine] = meshes.map(|n| error(&model, n));
        let observed = observed(coarse, fine, meshes[1] as f64 / meshes[0] as f64);
        let order = f64::from(model.scheme.order);
        let row = format!(
            "{} order {order}: {coarse:.2e}, {fine:.2e}, observed {observed:.3}\n",
            describe(&model)
        );
        print!("{row}");
        // NaN fails this comparison.
        let right = (observed - order).abs() < 0.1;
        if !right {
            wrong += &row;
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn every_system_has_the_order_of_its_scheme_in_space() {
    assert_orders(forms().into_iter(), [32, 40], error_in_space);
}

/// Adds a source to each equation of the model.
fn driven(model: &mut Model) {
    let declared: Vec<(String, _)> =
        model.fields.iter().map(|f| (format!("drive_{}", f.name), f.rank)).collect();
    for equation in &mut model.equations {
        let (name, rank) = declared[equation.field].clone();
        let span = equation.span;
        let term = |kind| Term { kind, rank, span };
        let source = term(TermKind::Source(model.sources.len()));
        let rhs = std::mem::replace(&mut equation.rhs, term(TermKind::Time));
        equation.rhs = term(TermKind::Add(Box::new(rhs), Box::new(source)));
        model.sources.push(Source { name, rank, unit: None, value: None, span });
    }
}

/// Returns the root mean square of the errors of all components at the end of a run.
fn error_in_time(declared: &Arc<Model>, n: usize) -> f64 {
    let mut model = Model::clone(declared);
    driven(&mut model);
    let fields = Fields { waves: model.dimension, axes: 1 };
    let end = 0.16;
    // Third derivatives need steps as the third power of the spacing.
    let steps = steps(&model, n, if model.name == "Kdv" { 240.0 } else { 48.0 });
    let dt = end / steps as f64;
    let mut simulation = started(&system_of(&model), declared, fields, n, dt);
    simulation.run(steps, |_, _| ()).unwrap_or_else(|e| panic!("{}: {e}", model.name));
    let h = simulation.spacing()[0];
    let names: Vec<&str> = simulation.components().collect();
    let errors = names.iter().enumerate().flat_map(|(c, name)| {
        let values = simulation.field(name).expect("a component");
        let exact = move |i: usize| fields.value(c, [i as f64 * h, 0.0, 0.0], end);
        (0..n).map(move |i| values[[0, 0, i]] - exact(i))
    });
    root_mean_square(errors)
}

/// In turn, with sources that depend on time, and time steps such that the error of the integrator falls with
/// the order in space: the order of the whole scheme. Along one axis the mixed forms are nearly alike,
/// so one of them is enough.
#[test]
fn driven_systems_have_the_order_of_their_scheme_in_space_and_time() {
    let forms = forms().into_iter();
    let forms = forms.filter(|model| model.scheme.mixed == Mixed::Bidiagonal).enumerate();
    let forms = forms.filter(|(number, _)| takes_in_turn::<f64>(*number)).map(|(_, model)| model);
    assert_orders(forms, [36, 48], error_in_time);
}
