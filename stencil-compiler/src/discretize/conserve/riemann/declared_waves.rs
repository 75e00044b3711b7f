//! Waves that the system declares (LeVeque 2002, sections 4.10, 4.14 and 15.3): their fluctuations, `Σ s⁻ W` and `Σ s⁺ W`, are those of
//! one flux, the mean of the fluxes on both sides less half of `Σ |s| W`, so that rounding conserves. Waves of the flux are `s W`
//! (Bale, LeVeque, Mitran and Rossmanith, SIAM J. Sci. Comput. 24, 955, 2002).

use std::collections::BTreeMap;

use super::{Carried, Face, Fan, Method, Sideways, Wave, rows};
use crate::discretize::conserve::algebra::Algebra;
use crate::discretize::conserve::families::sum_of_families;
use crate::discretize::conserve::tangent::Tangent;
use crate::discretize::conserve::{AXES, Law};
use crate::discretize::expand::{Expander, Result, Sides, States};
use crate::discretize::poly::Poly;
use crate::expr::Op;
use crate::model::{Gives, SolverWave, TermKind};

pub(super) const METHOD: Method = Method {
    row: &rows::DECLARED_WAVES,
    flux,
    fan: Some(&Fan { along, sideways: Sideways::Declared }),
};

/// A declared wave at a face.
pub(super) struct DeclaredWave {
    pub(super) wave: Wave,
    /// The factor of its parts in the flux: the absolute value of its speed, unless the solver gives another one.
    pub(super) size: Poly,
}

fn along(face: &mut Face<'_, '_, '_>) -> Result<Carried> {
    let waves = face.declared_waves()?;
    Ok(waves.into_iter().map(|declared| declared.wave).collect())
}

/// `(f₀ + f₁)/2 - Σ |s| W/2`.
fn flux(face: &mut Face<'_, '_, '_>) -> Result<Vec<Poly>> {
    let waves = face.declared_waves()?;
    let spread = spread(&mut face.algebra, &waves)?;
    face.mean_less(&spread)
}

/// The label of values between both sides of a face.
fn at_face(axis: usize) -> String {
    format!("{}_face", AXES[axis])
}

/// `Σ |s| W` of each conserved component.
pub(super) fn spread(of: &mut Algebra<'_, '_>, waves: &[DeclaredWave]) -> Result<Vec<Poly>> {
    let mut all = Vec::new();
    for DeclaredWave { wave, size } in waves {
        let parts = wave.parts.iter().map(|part| {
            let part = of.times(size, part)?;
            Ok(of.named("spread", part))
        });
        all.push(parts.collect::<Result<Vec<Poly>>>()?);
    }
    sum_of_families(of, &all)
}

impl Face<'_, '_, '_> {
    /// The waves that the system declares at this face.
    pub(super) fn declared_waves(&mut self) -> Result<Vec<DeclaredWave>> {
        let (law, axis) = (self.law, self.axis);
        let sides = law.sides(self.algebra.expander, axis)?;
        law.declared_waves(&mut self.algebra, sides, &at_face(axis))
    }
}

impl Law<'_> {
    /// The waves that the system declares between two states.
    pub(super) fn declared_waves(
        &self,
        of: &mut Algebra<'_, '_>,
        sides: Sides,
        label: &str,
    ) -> Result<Vec<DeclaredWave>> {
        // The check of the scheme asks for it.
        let Some(solver) = self.model.declared_solver(&self.model.scheme) else {
            return Ok(Vec::new());
        };
        let of_fluxes = solver.gives == Gives::FluxWaves;
        let sides = self.with_rises(of.expander, solver, sides)?;
        let read = of.expander.between(sides, label, |expander| {
            let waves = solver.waves.iter();
            waves.map(|wave| self.read_wave(expander, wave)).collect::<Result<Vec<_>>>()
        })?;
        let mut all = Vec::new();
        for (number, ReadWave { strength, speed, spread, vector }) in read.into_iter().enumerate() {
            let speed = of.named(format!("speed_{number}_{label}"), speed);
            let strength = of.named(format!("strength_{number}_{label}"), strength);
            let mut parts = Vec::new();
            for (component, entry) in self.components_conserved().into_iter().zip(vector) {
                let name = &self.components.fields[component];
                let part = of.times(&strength, &entry)?;
                parts.push(of.named(format!("{name}_wave_{number}_{label}"), part));
            }
            let wave = Wave { speed, parts, of_fluxes };
            let size = match spread {
                None => wave.size(of),
                Some(spread) => of.named(format!("spread_{number}_{label}"), spread),
            };
            all.push(DeclaredWave { wave, size });
        }
        Ok(all)
    }

    fn read_wave(&self, expander: &mut Expander<'_>, wave: &SolverWave) -> Result<ReadWave> {
        let mut scalar = |term| Ok(expander.term(term)?.swap_remove(0));
        let (strength, speed) = (scalar(&wave.strength)?, scalar(&wave.speed)?);
        let spread = wave.spread.as_ref().map(&mut scalar).transpose()?;
        let mut values = Vec::new();
        for line in &wave.vector {
            let value = expander.term(&line.value)?;
            if let TermKind::Field(field) = line.of.kind {
                expander.check_symmetry(field, &value, line.span)?;
            }
            values.push(value);
        }
        let vector = self.in_order(&wave.vector, &values);
        Ok(ReadWave { strength, speed, spread, vector })
    }

    /// The flux of each conserved component between two states with these fluxes, by the solver that the system declares.
    pub(super) fn declared_fluxes(
        &self,
        expander: &mut Expander<'_>,
        sides: Sides,
        fluxes: [&[Poly]; 2],
    ) -> Result<Vec<Poly>> {
        let solver = self.model.declared_solver(&self.model.scheme);
        if !solver.is_some_and(|solver| solver.gives.are_waves()) {
            return self.declared(expander, sides);
        }
        let of = &mut Algebra { expander, span: self.model.fluxes[0].span };
        let label = at_face(sides.axis);
        let waves = self.declared_waves(of, sides, &label)?;
        let spread = spread(of, &waves)?;
        let sums = fluxes[0].iter().zip(fluxes[1]).zip(&spread);
        sums.map(|((below, above), spread)| {
            let twice = of.minus(&of.plus(below, above)?, spread)?;
            of.halved(&twice)
        })
        .collect()
    }

    /// The parts of an inflow that rise and fall along another axis, each times its speed: by the waves of a small jump of
    /// the state between both sides. These are the derivatives of the declared ones by the state above.
    pub(in crate::discretize::conserve) fn sideways_by_waves(
        &self,
        of: &mut Algebra<'_, '_>,
        between: &States,
        axis: usize,
        label: &str,
        entering: &[Poly],
    ) -> Result<[Vec<Poly>; 2]> {
        let label = format!("{}_{label}", AXES[axis]);
        let below = States { lets: BTreeMap::new(), ..between.clone() };
        let mut above = below.clone();
        for (value, name) in above.components.iter_mut().zip(&self.components.fields) {
            *value = of.expander.atoms.always_name(format!("{name}_{label}_above"), value.clone());
        }
        let changes = self.components_conserved().into_iter().zip(entering).filter_map(
            |(component, entering)| {
                let (atom, _) = above.components[component].as_scaled_atom()?;
                Some((atom, entering.clone()))
            },
        );
        let (changes, nothing) = (changes.collect(), BTreeMap::new());
        let mut tangent = Tangent::new(changes, &nothing);
        let states = [(below, format!("{label}_below")), (above, format!("{label}_above"))];
        let waves = self.declared_waves(of, Sides::new(axis, states, 0), &label)?;
        let (mut rising, mut falling) = (Vec::new(), Vec::new());
        for DeclaredWave { wave, .. } in &waves {
            let [up, down] = wave.one_sided(of);
            let (mut ups, mut downs) = (Vec::new(), Vec::new());
            for part in &wave.parts {
                let change = tangent.of(of, part)?;
                let change = of.named("small_wave", change);
                ups.push(of.times(&up, &change)?);
                downs.push(of.times(&down, &change)?);
            }
            rising.push(ups);
            falling.push(downs);
        }
        Ok([sum_of_families(of, &rising)?, sum_of_families(of, &falling)?])
    }
}

impl Wave {
    /// The factors of its parts in the fluctuations ahead and back.
    fn one_sided(&self, of: &mut Algebra<'_, '_>) -> [Poly; 2] {
        let zero = Poly::default();
        if !self.of_fluxes {
            return [of.max(&self.speed, &zero), of.min(&self.speed, &zero)];
        }
        let one = of.number(1, 1);
        let ahead = of.op(Op::Lt, &[&zero, &self.speed, &one, &zero]);
        let back = of.op(Op::Lt, &[&self.speed, &zero, &one, &zero]);
        [ahead, back]
    }
}

/// The values of a wave between two states.
struct ReadWave {
    strength: Poly,
    speed: Poly,
    spread: Option<Poly>,
    /// Of each conserved component.
    vector: Vec<Poly>,
}
