//! The step limit of a conservation law without speeds that are declared or follow as formulas: from its fluxes,
//! linearized about the state in some cells.

use stencil_compiler::algorithm::{Offset, StateId};
use stencil_compiler::discretize::discretize;
use stencil_compiler::stability::{self, About, Axes, SplitLaw, State, Symbol};

use super::Simulation;
use super::stable::{Around, Strictest};
use crate::Number;
use crate::mesh::Axis;

/// The share of a unit of time that waves through the faces of a cell take, and the axis with the largest share.
struct Taken {
    rate: f64,
    axis: usize,
}

impl<T: Number> Simulation<T> {
    /// Returns the limit of a law about the state in some cells, if it is less than `most`; `None` if it is not known.
    /// The shares of waves and of all other terms add up.
    pub(super) fn of_law(
        &self,
        around: &Around<'_, T>,
        apart: &SplitLaw,
        most: f64,
    ) -> Option<Strictest> {
        let mut fastest: Option<(f64, [usize; 3])> = None;
        for (cell, taken) in self.waves(around, apart, &around.cells())? {
            if fastest.is_none_or(|(known, _)| taken.rate > known) {
                fastest = Some((taken.rate, cell));
            }
        }
        let (waves, cell) = fastest?;
        let rest = match apart.has_rest() {
            true => around.strictest(&apart.rest, &discretize(&apart.rest).ok()?, f64::INFINITY)?,
            false => Strictest { dt: f64::INFINITY, cell },
        };
        let beside = stability::beside_fluxes(self.system().model()) / rest.dt;
        let dt = 1.0 / (waves + beside);
        let cell = if beside > waves { rest.cell } else { cell };
        Some(Strictest { dt: if dt < most { dt } else { most }, cell })
    }

    /// Returns the part of the law with the largest share of a step in a cell, in words.
    pub(super) fn strictest_part(
        &self,
        around: &Around<'_, T>,
        apart: &SplitLaw,
        cell: [usize; 3],
    ) -> String {
        let waves = self.waves(around, apart, &[cell]);
        let waves = waves.and_then(|waves| waves.into_iter().next());
        let rest = discretize(&apart.rest).ok();
        let rest = rest.and_then(|algorithm| around.longest(&apart.rest, &algorithm, cell));
        let beside = stability::beside_fluxes(self.system().model());
        let rest = rest.map_or(0.0, |longest| beside / longest);
        match waves {
            Some((_, taken)) if taken.rate >= rest => {
                let kept = self.kept();
                format!("the fastest wave of the fluxes along {}{kept}", Axis::ALL[taken.axis])
            }
            _ => "the right-hand side beside the fluxes".to_string(),
        }
    }

    /// Returns a remark if speeds of waves are complex about the state in some cells: the law is not hyperbolic there, which
    /// products with slopes may lead to. Laws without products are not looked at.
    pub(super) fn lost_waves(&self) -> Option<String> {
        let model = self.system().model();
        let apart = SplitLaw::of(model).filter(|_| !model.products.is_empty())?;
        let around = self.around().ok()?;
        let algorithm = discretize(&apart.flows).ok()?;
        let symbol = Symbol::new(&apart.flows, &algorithm)?;
        let spacing = around.mesh.spacing();
        let cells = around.cells();
        let is_lost = |cell: &&[usize; 3]| {
            let near = around.near(&algorithm, **cell);
            let alike = |state: StateId, _: Offset| near.at(state, [0; 3]);
            let linear = symbol.about(&About { state: &alike, ..around.given() });
            let mut axes = 0..model.dimension;
            axes.any(|axis| stability::is_complex(&symbol.jacobian(&linear, spacing, axis)))
        };
        let lost: Vec<&[usize; 3]> = cells.iter().filter(is_lost).collect();
        let first = lost.first()?;
        Some(format!(
            "speeds of waves are complex in {} of {} cells that were looked at, such as cell {first:?}: there the equations are not hyperbolic, \
             and small disturbances grow the faster the finer the mesh is",
            lost.len(),
            cells.len()
        ))
    }

    /// Returns the shares of waves about the state in each of some cells; `None` if none of them is known.
    fn waves(
        &self,
        around: &Around<'_, T>,
        apart: &SplitLaw,
        cells: &[[usize; 3]],
    ) -> Option<Vec<([usize; 3], Taken)>> {
        let algorithm = discretize(&apart.flows).ok()?;
        let symbol = Symbol::new(&apart.flows, &algorithm)?;
        let spacing = around.mesh.spacing();
        let shares = stability::along_axes(self.system().model(), spacing, Axes::Sum);
        let taken = |cell: &[usize; 3]| {
            let near = around.near(&algorithm, *cell);
            let alike = |state: StateId, _: Offset| near.at(state, [0; 3]);
            let linear = symbol.about(&About { state: &alike, ..around.given() });
            let speeds = symbol.speeds(&linear, spacing)?;
            let mut all = Taken { rate: 0.0, axis: 0 };
            let mut most = 0.0;
            for (axis, (share, speed)) in shares.iter().zip(speeds).enumerate() {
                // A state at rest takes no share, even if no other wave is stable.
                let own = if speed == 0.0 { 0.0 } else { speed * share.rate };
                all.rate = match share.axes {
                    Axes::Sum => all.rate + own,
                    Axes::Max => all.rate.max(own),
                };
                if own > most {
                    (most, all.axis) = (own, axis);
                }
            }
            Some((*cell, all))
        };
        Some(cells.iter().filter_map(taken).collect())
    }
}
