//! Another solver at faces where the law made linear fails: it leads from one of both sides, by the waves that go away from it, to a
//! state out of the ranges of the system, such as one of negative density or pressure (Einfeldt, Munz, Roe and Sjoegreen, J. Comput.
//! Phys. 92, 273, 1991; as in Athena, Stone et al., Astrophys. J. Suppl. 178, 137, 2008, section 4.2.3).

use super::{Face, rows};
use crate::discretize::conserve::{AXES, Law};
use crate::discretize::expand::{Expander, Result, States};
use crate::discretize::poly::Poly;
use crate::expr::Op;

impl Face<'_, '_, '_> {
    /// These fluxes, or those of the other solver of the scheme at faces where they fail.
    pub(super) fn or_fallback(&mut self, own: Vec<Poly>) -> Result<Vec<Poly>> {
        let Some(fallback) = &self.law.model.scheme.fallback else {
            return Ok(own);
        };
        let fails = self.fails()?;
        if fails.0.is_empty() {
            return Ok(own);
        }
        let mut model = self.law.model.clone();
        model.scheme.riemann.clone_from(fallback);
        model.scheme.riemann_parameter = None;
        model.scheme.fallback = None;
        let mut law = Law::new(&model, self.law.components, self.algebra.span)?;
        (law.at_faces, law.rest) = (self.law.at_faces, self.law.rest.clone());
        let others = law.face(self.algebra.expander, self.axis)?.solved()?;
        let mut all = Vec::new();
        for (at, (own, other)) in own.iter().zip(&others).enumerate() {
            let of = &mut self.algebra;
            let chosen = of.op(Op::Lt, &[&Poly::default(), &fails, other, own]);
            all.push(of.named(format!("{}_flux", self.names[at]), chosen));
        }
        Ok(all)
    }

    /// One if the solver leads from either side to a state out of a range, else zero.
    fn fails(&mut self) -> Result<Poly> {
        let marks = match self.law.solver.row.name == rows::DECLARED_WAVES.name {
            true => self.beyond_declared_waves()?,
            false => self.beyond_families()?,
        };
        let of = &mut self.algebra;
        let mark = marks.iter().fold(Poly::default(), |all, mark| of.max(&all, mark));
        Ok(match mark.0.is_empty() {
            true => mark,
            false => {
                let name = format!("fails_{}", AXES[self.axis]);
                of.expander.atoms.always_name(name, mark)
            }
        })
    }

    /// One for each state between declared waves that is out of a range, else zero: those of the lower half from the side below, and the
    /// others from that above, as in the mirror.
    fn beyond_declared_waves(&mut self) -> Result<Vec<Poly>> {
        let waves = self.declared_waves()?;
        let mut marks = Vec::new();
        for (side, word) in [(0, "below"), (1, "above")] {
            let mut carried = vec![Poly::default(); self.len()];
            for step in 0..waves.len() / 2 {
                let at = if side == 0 { step } else { waves.len() - 1 - step };
                for (number, sum) in carried.iter_mut().enumerate() {
                    let label = format!("{}_waves_{word}", self.names[number]);
                    *sum = self.algebra.onto(sum, &waves[at].wave.parts[number], label)?;
                }
                marks.extend(self.leaves(side, &format!("{word}_{step}"), &carried)?);
            }
        }
        Ok(marks)
    }

    /// One for each family of waves of the law made linear that leads from a side to a state out of a range, and for one
    /// without a sound, else zero.
    fn beyond_families(&mut self) -> Result<Vec<Poly>> {
        let blocks = self.linear()?;
        let (jumps, rises) = self.jumps()?;
        let mut marks = Vec::new();
        for linear in blocks.iter().filter(|linear| linear.kinds.sound) {
            let rises = rises.as_ref().map(|rises| linear.own(rises));
            let split = linear.split(&mut self.algebra, &linear.own(&jumps), rises.as_deref())?;
            let mut waves = linear.families(&mut self.algebra, &split)?;
            let ends = [waves.pop(), waves.into_iter().next()];
            for (side, word) in [(0, "below"), (1, "above")] {
                if let Some((_, carried)) = &ends[1 - side] {
                    let mut all = vec![Poly::default(); jumps.len()];
                    linear.put(carried.clone(), &mut all);
                    marks.extend(self.leaves(side, word, &all)?);
                }
            }
            let (of, zero) = (&mut self.algebra, Poly::default());
            if linear.sound.as_uniform().is_none() {
                let [none, one] = [0, 1].map(|n| of.number(n, 1));
                marks.push(of.op(Op::Lt, &[&zero, &linear.sound, &none, &one]));
            }
        }
        Ok(marks)
    }

    /// One if the state behind a wave that leaves a side is out of a range, else zero; `None` without ranges.
    fn leaves(&mut self, side: usize, word: &str, carried: &[Poly]) -> Result<Option<Poly>> {
        let (law, axis) = (self.law, AXES[self.axis]);
        let mut components = self.sides[side].states.clone();
        for (at, component) in law.components_conserved().into_iter().enumerate() {
            let (of, own) = (&mut self.algebra, &self.sides[side].conserved[at]);
            let state = match side {
                0 => of.plus(own, &carried[at])?,
                _ => of.minus(own, &carried[at])?,
            };
            components[component] = of.named(format!("{}_behind_{word}", self.names[at]), state);
        }
        if law.model.ranges.is_empty() {
            return Ok(None);
        }
        let states = States { components, ..States::default() };
        let label = format!("{axis}_behind_{word}");
        law.outside(&mut self.algebra, &states, &label).map(Some)
    }
}

impl Law<'_> {
    /// The number of upper faces of a cell along some axes at which the other solver gives the fluxes; nothing without one.
    pub(in crate::discretize::conserve) fn failures(
        &self,
        expander: &mut Expander<'_>,
        axes: &[usize],
    ) -> Result<Option<Poly>> {
        if self.model.scheme.fallback.is_none() {
            return Ok(None);
        }
        let mut all = Poly::default();
        for axis in axes {
            let mut face = self.face(expander, *axis)?;
            let fails = face.fails()?;
            all = face.algebra.plus(&all, &fails)?;
        }
        Ok((!all.0.is_empty()).then_some(all))
    }
}
