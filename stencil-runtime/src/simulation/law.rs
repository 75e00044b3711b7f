//! The limit of a conservation law whose waves have no speeds that are declared or can be written: of its fluxes, made linear about
//! the state in some cells.

use stencil_compiler::algorithm::{Offset, StateId};
use stencil_compiler::discretize::discretize;
use stencil_compiler::stability::{self, About, Apart, Axes, State, Symbol};

use super::Simulation;
use super::stable::{Around, Strictest};
use crate::Number;
use crate::mesh::Axis;

/// The part that waves through the faces of a cell take of a unit of time, and the axis along which they take most.
struct Taken {
    rate: f64,
    axis: usize,
}

impl<T: Number> Simulation<T> {
    /// The limit of a law about the state in some cells, if it is less than `most`; `None` where none can be told. The parts that waves take
    /// of a step and what all else takes add up.
    pub(super) fn of_law(
        &self,
        around: &Around<'_, T>,
        apart: &Apart,
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
            false => Strictest {
                dt: f64::INFINITY,
                cell,
            },
        };
        let beside = stability::beside_fluxes(self.system().model()) / rest.dt;
        let dt = 1.0 / (waves + beside);
        let cell = if beside > waves { rest.cell } else { cell };
        Some(Strictest {
            dt: if dt < most { dt } else { most },
            cell,
        })
    }

    /// The part of the law that takes most of a step in a cell, in words.
    pub(super) fn strictest_part(
        &self,
        around: &Around<'_, T>,
        apart: &Apart,
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
                format!(
                    "the fastest wave of the fluxes along {}{kept}",
                    Axis::ALL[taken.axis]
                )
            }
            _ => "the right-hand side beside the fluxes".to_string(),
        }
    }

    /// The parts that waves take about the state in each of some cells where it can be told; `None` where there is nothing to go by.
    fn waves(
        &self,
        around: &Around<'_, T>,
        apart: &Apart,
        cells: &[[usize; 3]],
    ) -> Option<Vec<([usize; 3], Taken)>> {
        let algorithm = discretize(&apart.flows).ok()?;
        let symbol = Symbol::new(&apart.flows, &algorithm)?;
        let spacing = around.mesh.spacing();
        let shares = stability::along_axes(self.system().model(), spacing, Axes::Sum);
        let taken = |cell: &[usize; 3]| {
            let near = around.near(&algorithm, *cell);
            let alike = |state: StateId, _: Offset| near.at(state, [0; 3]);
            let linear = symbol.about(&About {
                state: &alike,
                ..around.given()
            });
            let speeds = symbol.speeds(&linear, spacing)?;
            let mut all = Taken { rate: 0.0, axis: 0 };
            let mut most = 0.0;
            for (axis, (share, speed)) in shares.iter().zip(speeds).enumerate() {
                // A state at rest takes nothing, where no other wave is stable, too.
                let own = if speed == 0.0 {
                    0.0
                } else {
                    speed * share.rate
                };
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
