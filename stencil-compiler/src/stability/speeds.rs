//! The share of a step that each declared speed takes: a step is an expression of the largest speeds, which a card
//! evaluates by itself.

use super::faces::Faces;
use super::operators::symbol;
use super::region::Region;
use crate::catalogue::{Rank, integrators, reconstructions};
use crate::model::{Model, Speed};

/// The ways to combine the limits of several axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axes {
    /// The sum of the shares of waves along all axes, which is the limit.
    #[default]
    Sum,
    /// The share of the strictest axis alone, as some codes count.
    Max,
}

impl Axes {
    /// Every way, with its name.
    pub const ALL: [(&'static str, Axes); 2] = [("sum", Axes::Sum), ("max", Axes::Max)];

    pub(super) fn of(self, parts: impl Iterator<Item = f64>) -> f64 {
        match self {
            Axes::Sum => parts.sum(),
            Axes::Max => parts.fold(0.0, f64::max),
        }
    }
}

/// The share of a step that a speed takes: a step of length dt is stable while the sum of all shares, times dt, is no
/// more than one. A speed with a value for each axis has a share for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The place of the speed in the model.
    pub of: usize,
    /// The axis along which it acts; `None` for one in every direction.
    pub axis: Option<usize>,
    /// The power of the length in the unit of the speed.
    pub power: u32,
    /// The share of a speed of one; infinite if no step is stable.
    pub rate: f64,
    /// The index of the share that has to damp the growth that this one causes: this one takes its square, times the
    /// rate, over that one. `None` if it takes itself times the rate.
    pub over: Option<usize>,
    /// The way to combine it with those of the same speed along other axes.
    pub axes: Axes,
}

/// The factor by which terms without flux take more of a step beside fluxes through faces than alone.
pub fn beside_fluxes(model: &Model) -> f64 {
    faces(model).as_ref().map_or(1.0, Faces::beside)
}

/// Do the ranges that fluxes are repaired for limit waves through faces more than stability does?
pub fn keeps_ranges(model: &Model) -> bool {
    faces(model).as_ref().is_some_and(Faces::is_kept)
}

fn faces(model: &Model) -> Option<Faces> {
    let tableau = (integrators::find(&model.scheme.time)?.tableau)();
    Faces::of(model, &tableau, &Region::new(&tableau))
}

/// The shares of the speeds that a model declares or implies, in their order, on cells of this size.
pub fn speeds(model: &Model, spacing: [f64; 3], axes: Axes) -> Vec<Share> {
    let of = |speed: &Speed| (speed.power, speed.value.rank == Rank::Vector);
    let speeds: Vec<(u32, bool)> = model.speeds.iter().map(of).collect();
    shares(model, &speeds, spacing, axes)
}

/// The shares of waves through faces along each axis, each with a speed of its own.
pub fn along_axes(model: &Model, spacing: [f64; 3], axes: Axes) -> Vec<Share> {
    shares(model, &[(1, true)], spacing, axes)
}

/// The shares of speeds of these powers; `true` for a speed with a value for each axis.
fn shares(model: &Model, speeds: &[(u32, bool)], spacing: [f64; 3], axes: Axes) -> Vec<Share> {
    let Some(integrator) = integrators::find(&model.scheme.time) else {
        return Vec::new();
    };
    let tableau = (integrator.tableau)();
    let region = Region::new(&tableau);
    let rates = Rates { faces: Faces::of(model, &tableau, &region), model, region, axes };
    let lengths = &spacing[..model.dimension];
    let count = |is_vector: bool| if is_vector { lengths.len() } else { 1 };
    let damping = speeds.iter().position(|(power, _)| *power == 2);
    let damping = damping.map(|at| speeds[..at].iter().map(|(_, v)| count(*v)).sum());
    let mut all = Vec::new();
    for (of, (power, is_vector)) in speeds.iter().enumerate() {
        let axes = rates.together(*power);
        for axis in 0..count(*is_vector) {
            let axis = is_vector.then_some(axis);
            let lengths = axis.map_or(lengths, |axis| &lengths[axis..=axis]);
            let (rate, over) = rates.of(*power, lengths, damping);
            all.push(Share {
                of,
                axis,
                power: *power,
                rate,
                over,
                axes: if over.is_some() { Axes::Sum } else { axes },
            });
        }
    }
    all
}

/// The shares of speeds of one.
struct Rates<'a> {
    model: &'a Model,
    region: Region,
    axes: Axes,
    /// The fluxes through faces, if there are any.
    faces: Option<Faces>,
}

impl Rates<'_> {
    /// Returns the way in which waves along several axes share a step.
    fn together(&self, power: u32) -> Axes {
        match &self.faces {
            Some(faces) if power == 1 => faces.together(self.axes),
            _ => self.axes,
        }
    }

    /// The share of a speed of this power on cells of these lengths along its axes, and the share that has to damp it.
    fn of(&self, power: u32, lengths: &[f64], damping: Option<usize>) -> (f64, Option<usize>) {
        let (model, region) = (self.model, &self.region);
        let beside = self.faces.as_ref().map_or(1.0, Faces::beside);
        let plain = |rate: f64| (rate * beside, None);
        match (power, &self.faces) {
            (1, Some(faces)) => {
                let taken = lengths.iter().map(|h| faces.taken() / h);
                (self.together(1).of(taken), None)
            }
            _ if power.is_multiple_of(2) => {
                plain(symbol(model, power, lengths, self.axes) / region.real())
            }
            _ => match (region.imaginary(), damping) {
                // A disc of radius one about -1 lies in every region: y^2 <= 2 d for small dt.
                (0.0, Some(damping)) if power == 1 => (0.5, Some(damping)),
                (reach, _) => plain(symbol(model, power, lengths, self.axes) / reach),
            },
        }
    }
}

/// The integrators with which a model is stable for some step.
pub fn integrators_for(model: &Model) -> Vec<&'static str> {
    let is_stable = |name: &str| {
        let mut other = model.clone();
        other.scheme.time = name.to_string();
        match reconstructions::find(&model.scheme.reconstruct) {
            Some(of) if of.propagates && !model.fluxes.is_empty() => name == model.scheme.time,
            _ => {
                let mut shares = speeds(&other, [1.0; 3], Axes::Sum);
                if !model.fluxes.is_empty() {
                    shares.extend(along_axes(&other, [1.0; 3], Axes::Sum));
                }
                shares.iter().all(|share| share.rate.is_finite())
            }
        }
    };
    // A method is as stable with any storage.
    let names = integrators::ALL.iter().map(|i| i.name);
    let names = names.filter(|name| !name.contains('<'));
    let fits = |name: &&str| {
        let tableau = integrators::find(name).map(|i| (i.tableau)());
        tableau.is_some_and(|tableau| match model.fluxes.is_empty() {
            true => Region::new(&tableau).imaginary() > 0.0,
            // Others keep no range.
            false => !model.repairs() || tableau.euler_steps().is_some(),
        })
    };
    names.filter(fits).filter(|name| is_stable(name)).collect()
}
