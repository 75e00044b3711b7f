//! Families of waves: the motion of a jump by a law that is linearized at a state.
//!
//! If all waves are as fast as the flow, or slower or faster by the sound, the Jacobian `A` of the fluxes has `B (B² -
//! c²) = 0` with `B = A - u`. Then a function of `A` needs no eigenvectors: with the values `f₋`, `f₀` and `f₊` at the
//! three speeds, `f(A) d = f₀ d + (f₊ + f₋ - 2 f₀)/2 q + (f₊ - f₋)/2 h`, where `h = B d/c` and `q = B² d/c²`
//! (Lagrange's interpolation; Higham, Functions of Matrices, 2008, section 1.2.2).

use std::collections::{BTreeMap, BTreeSet};

use super::algebra::Algebra;
use super::products::along;
use super::tangent::Tangent;
use super::{AXES, Law};
use crate::diag::Code;
use crate::discretize::DiscretizeError;
use crate::discretize::expand::{Result, States};
use crate::discretize::poly::{AtomId, Poly};
use crate::expr::Op;
use crate::model::Waves;

/// A law along an axis, linearized at a state: all of it, or a block that does without the others.
pub(in crate::discretize) struct Linear {
    /// The numbers of its components among the conserved ones.
    members: Vec<usize>,
    /// Atoms for the conserved components.
    conserved: Vec<AtomId>,
    /// Definitions of `let`s whose values are known.
    meanings: BTreeMap<AtomId, Poly>,
    fluxes: Vec<Poly>,
    /// The factors of slopes beside the fluxes, of the conserved components in their order.
    products: Vec<BTreeMap<usize, Poly>>,
    names: Vec<String>,
    pub(super) kinds: WaveKinds,
    /// The slowest speed, that of the flow, and the fastest.
    pub(super) speeds: [Poly; 3],
    pub(super) sound: Poly,
}

/// The kinds of waves that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WaveKinds {
    /// Waves that move with the flow.
    pub(super) flow: bool,
    /// Waves that move through it.
    pub(super) sound: bool,
}

/// A jump, and the parts of it in the waves that move through the flow.
pub(super) struct Split {
    jump: Vec<Poly>,
    /// `B² d/c²`: the sum of both waves.
    both: Vec<Poly>,
    /// `B d/c`: their difference.
    skew: Vec<Poly>,
}

impl Law<'_> {
    /// The law along an axis, linear at a state all of which has names, block by block; `label` tells it from others.
    pub(super) fn linear(
        &self,
        of: &mut Algebra<'_, '_>,
        states: &States,
        axis: usize,
        label: &str,
    ) -> Result<Vec<Linear>> {
        let label = format!("{}_{label}", AXES[axis]);
        let fluxes = self.fluxes(of.expander, states, axis, &label)?;
        let conserved = self.components_conserved();
        let mut all = Vec::new();
        match self.blocks.get(axis) {
            None => {
                let members = (0..conserved.len()).collect();
                let sounds = self.sounds(of, self.waves.as_ref(), states, axis, &label)?;
                all.push((members, self.kinds[axis], sounds));
            }
            Some(blocks) => {
                for (number, block) in blocks.iter().enumerate() {
                    let label = format!("{label}_{number}");
                    let sounds = self.sounds(of, Some(&block.waves), states, axis, &label)?;
                    all.push((block.members.clone(), block.kinds, sounds));
                }
            }
        }
        let names = conserved.iter().map(|c| &self.components.fields[*c]);
        let names: Vec<String> = names.map(|name| format!("{name}_{label}")).collect();
        let atoms = conserved.iter().filter_map(|component| {
            let (atom, _) = states.components[*component].as_scaled_atom()?;
            Some(atom)
        });
        let atoms: Vec<AtomId> = atoms.collect();
        if atoms.iter().collect::<BTreeSet<_>>().len() < conserved.len() {
            let span = self.model.average.as_ref().map_or(of.span, |a| a.of.span);
            let message = "two components of what is conserved are the same for all states";
            return Err(DiscretizeError::new(Code::WrongWayBack, span, message));
        }
        let products = self.conserved_columns(of, states, axis, &label)?;
        let meanings = self.meanings(of, states, &label)?;
        let part = |(members, kinds, ([slowest, flow, fastest], sound)): (
            Vec<usize>,
            WaveKinds,
            ([Poly; 3], Poly),
        )| {
            let place = |(column, factor): (&usize, &Poly)| {
                let at = members.iter().position(|member| member == column)?;
                Some((at, factor.clone()))
            };
            Linear {
                conserved: members.iter().map(|at| atoms[*at]).collect(),
                fluxes: members.iter().map(|at| fluxes[*at].clone()).collect(),
                products: (members.iter())
                    .map(|at| products[*at].iter().filter_map(place).collect())
                    .collect(),
                names: members.iter().map(|at| names[*at].clone()).collect(),
                meanings: meanings.clone(),
                kinds,
                speeds: [slowest, flow, fastest],
                sound,
                members,
            }
        };
        Ok(all.into_iter().map(part).collect())
    }

    /// The slowest speed, that of the flow and the fastest, and the sound, which is not negative.
    fn sounds(
        &self,
        of: &mut Algebra<'_, '_>,
        waves: Option<&Waves>,
        states: &States,
        axis: usize,
        label: &str,
    ) -> Result<([Poly; 3], Poly)> {
        let [flow, sound] = match waves {
            Some(waves) => self.flow_and_sound(of.expander, waves, states, axis, label)?,
            None => [Poly::default(), Poly::default()],
        };
        // Without sound, all is carried with the flow.
        let zero = Poly::default();
        let sound = match sound.as_uniform() {
            Some(_) => sound,
            None => of.op(Op::Lt, &[&zero, &sound, &sound, &zero]),
        };
        let slowest = of.minus(&flow, &sound)?;
        let slowest = of.named(format!("slowest_{label}"), slowest);
        let fastest = of.plus(&flow, &sound)?;
        let fastest = of.named(format!("fastest_{label}"), fastest);
        Ok(([slowest, flow, fastest], sound))
    }

    /// The definitions of the `let`s whose values the states give.
    fn meanings(
        &self,
        of: &mut Algebra<'_, '_>,
        states: &States,
        label: &str,
    ) -> Result<BTreeMap<AtomId, Poly>> {
        let mut meanings = BTreeMap::new();
        for (at, values) in &states.lets {
            let mut others = states.clone();
            others.lets.remove(at);
            let definition = &self.model.lets[*at].value;
            let term = |expander: &mut super::Expander<'_>| expander.term(definition);
            let meant = of.expander.in_states(&others, label, term)?;
            for (value, meaning) in values.iter().zip(meant) {
                if let Some((atom, _)) = value.as_scaled_atom() {
                    meanings.insert(atom, meaning);
                }
            }
        }
        Ok(meanings)
    }
}

impl Linear {
    /// The values of its components, of all conserved ones.
    pub(super) fn own<T: Clone>(&self, all: &[T]) -> Vec<T> {
        self.members.iter().map(|at| all[*at].clone()).collect()
    }

    /// Puts the values of its components to their places.
    pub(super) fn put(&self, own: Vec<Poly>, all: &mut [Poly]) {
        for (at, value) in self.members.iter().zip(own) {
            all[*at] = value;
        }
    }

    /// The Jacobian of the fluxes times a jump.
    pub(super) fn advanced(&self, of: &mut Algebra<'_, '_>, jump: &[Poly]) -> Result<Vec<Poly>> {
        let changes = self.conserved.iter().copied().zip(jump.iter().cloned());
        let mut tangent = Tangent::new(changes.collect(), &self.meanings);
        let mut all = Vec::new();
        for (flux, product) in self.fluxes.iter().zip(along(of, &self.products, jump)?) {
            let change = tangent.of(of, flux)?;
            all.push(match product.0.is_empty() {
                true => change,
                false => of.onto(&change, &product, "change")?,
            });
        }
        Ok(all)
    }

    /// `B d/c` of a jump, from the Jacobian times the jump.
    fn beyond_flow(
        &self,
        of: &mut Algebra<'_, '_>,
        jump: &[Poly],
        advanced: &[Poly],
        inverse: &Poly,
    ) -> Result<Vec<Poly>> {
        let mut all = Vec::new();
        for ((jump, advanced), name) in jump.iter().zip(advanced).zip(&self.names) {
            let carried = of.times(&self.speeds[1], jump)?;
            let rest = of.minus(advanced, &carried)?;
            let over = of.times(&rest, inverse)?;
            all.push(of.named(format!("{name}_through"), over));
        }
        Ok(all)
    }

    /// Splits a jump; `advanced` is the Jacobian times it, where that is known.
    pub(super) fn split(
        &self,
        of: &mut Algebra<'_, '_>,
        jump: &[Poly],
        advanced: Option<&[Poly]>,
    ) -> Result<Split> {
        let mut split = Split { jump: jump.to_vec(), both: Vec::new(), skew: Vec::new() };
        if !self.kinds.sound {
            return Ok(split);
        }
        let mut inverse = of.over(&of.number(1, 1), &self.sound);
        if self.sound.as_uniform().is_none() {
            let zero = Poly::default();
            inverse = of.op(Op::Lt, &[&zero, &self.sound, &inverse, &zero]);
        }
        let first = match advanced {
            Some(known) => known.to_vec(),
            None => self.advanced(of, jump)?,
        };
        split.skew = self.beyond_flow(of, jump, &first, &inverse)?;
        split.both = if self.kinds.flow {
            let second = self.advanced(of, &split.skew)?;
            self.beyond_flow(of, &split.skew, &second, &inverse)?
        } else {
            split.jump.clone()
        };
        Ok(split)
    }

    /// A function of the Jacobian times a jump, from its values at the three speeds.
    pub(super) fn apply(
        &self,
        of: &mut Algebra<'_, '_>,
        [slowest, flow, fastest]: [&Poly; 3],
        split: &Split,
    ) -> Result<Vec<Poly>> {
        let mut factors = Vec::new();
        if self.kinds.flow {
            factors.push((flow.clone(), &split.jump));
        }
        if self.kinds.sound {
            let sum = of.plus(fastest, slowest)?;
            let sum = of.named("sum_of_speeds", sum);
            let mut both = of.halved(&sum)?;
            if self.kinds.flow {
                both = of.minus(&both, flow)?;
            }
            let difference = of.minus(fastest, slowest)?;
            let skew = of.halved(&difference)?;
            factors.push((both, &split.both));
            factors.push((skew, &split.skew));
        }
        let mut all = Vec::new();
        for at in 0..self.names.len() {
            let mut sum = Poly::default();
            for (factor, parts) in &factors {
                let (factor, part) =
                    (of.whole("factor", factor.clone()), of.whole("part", parts[at].clone()));
                let part = of.times(&factor, &part)?;
                sum = of.onto(&sum, &part, "some_parts")?;
            }
            all.push(sum);
        }
        Ok(all)
    }

    /// The part of a jump in each family, with its speed.
    pub(super) fn families(
        &self,
        of: &mut Algebra<'_, '_>,
        split: &Split,
    ) -> Result<Vec<(Poly, Vec<Poly>)>> {
        let [one, zero] = [of.number(1, 1), Poly::default()];
        let mut all = Vec::new();
        for (at, exists) in
            [self.kinds.sound, self.kinds.flow, self.kinds.sound].into_iter().enumerate()
        {
            if !exists {
                continue;
            }
            let mut only = [&zero; 3];
            only[at] = &one;
            let parts = self.apply(of, only, split)?;
            let parts = parts.into_iter().zip(&self.names);
            let parts = parts.map(|(part, name)| of.named(format!("{name}_wave"), part));
            all.push((self.speeds[at].clone(), parts.collect()));
        }
        Ok(all)
    }
}

/// The part of a jump in each family of all blocks, with its speed, so that a mirror reverses them; `advanced` is the Jacobian times the
/// jump, where that is known.
pub(super) fn families_of_blocks(
    of: &mut Algebra<'_, '_>,
    blocks: &[Linear],
    jump: &[Poly],
    advanced: Option<&[Poly]>,
) -> Result<Vec<(Poly, Vec<Poly>)>> {
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for block in blocks {
        let advanced = advanced.map(|advanced| block.own(advanced));
        let split = block.split(of, &block.own(jump), advanced.as_deref())?;
        let mut families = Vec::new();
        for (speed, parts) in block.families(of, &split)? {
            let mut all = vec![Poly::default(); jump.len()];
            block.put(parts, &mut all);
            families.push((speed, all));
        }
        let behind = families.split_off(families.len().div_ceil(2));
        first.extend(families);
        last.push(behind);
    }
    first.extend(last.into_iter().rev().flatten());
    Ok(first)
}

/// Speeds closer to each other than this share of their sizes are one.
const APART: i128 = 1000;

/// Two waves with these speeds that carry jumps, each given with its product with the law's matrix: `(d ∓ g)/2` with `g
/// = (2 A d - (s₀ + s₁) d)/(s₁ - s₀)`. If both speeds are equal, each carries half, so that rounding does not decide.
pub(super) fn pair(
    of: &mut Algebra<'_, '_>,
    [slowest, fastest]: [&Poly; 2],
    jumps: &[(Poly, Poly)],
) -> Result<[Vec<Poly>; 2]> {
    let width = of.minus(fastest, slowest)?;
    let width = of.named("width", width);
    let inverse = over_width(of, &width, [slowest, fastest])?;
    let sum = of.plus(fastest, slowest)?;
    let sum = of.named("sum_of_speeds", sum);
    let mut waves = [Vec::new(), Vec::new()];
    for (jump, advanced) in jumps {
        let carried = of.times(&sum, jump)?;
        let rest = of.minus(&of.scaled(advanced, 2, 1)?, &carried)?;
        let apart = of.times(&rest, &inverse)?;
        let apart = of.named("apart", apart);
        let parts = [of.minus(jump, &apart)?, of.plus(jump, &apart)?];
        for (all, part) in waves.iter_mut().zip(parts) {
            let half = of.halved(&part)?;
            all.push(of.named("of_two_waves", half));
        }
    }
    Ok(waves)
}

/// One over the width of a fan, or zero if both speeds are equal.
fn over_width(
    of: &mut Algebra<'_, '_>,
    width: &Poly,
    [slowest, fastest]: [&Poly; 2],
) -> Result<Poly> {
    if width.0.is_empty() {
        return Ok(Poly::default());
    }
    let sizes = [of.abs(slowest), of.abs(fastest)];
    let sizes = of.plus(&sizes[0], &sizes[1])?;
    let least = of.scaled(&sizes, 1, APART)?;
    let least = of.named("least_width", least);
    let inverse = of.over(&of.number(1, 1), width);
    let inverse = of.op(Op::Lt, &[&least, width, &inverse, &Poly::default()]);
    Ok(of.named("over_width", inverse))
}

/// The sum over all families, from the slowest to the fastest: those that a mirror exchanges are added first, pair by pair.
pub(super) fn sum_of_families(of: &mut Algebra<'_, '_>, all: &[Vec<Poly>]) -> Result<Vec<Poly>> {
    let mut pairs: Vec<Vec<Poly>> = Vec::new();
    for (at, family) in all.iter().enumerate().take(all.len().div_ceil(2)) {
        let mut sums = family.clone();
        let other = all.len() - 1 - at;
        for (sum, part) in sums.iter_mut().zip(&all[other]).filter(|_| other > at) {
            *sum = of.onto(sum, part, "all_families")?;
        }
        pairs.push(sums);
    }
    let mut pairs = pairs.into_iter();
    let mut sums = pairs.next().unwrap_or_default();
    for pair in pairs {
        for (sum, part) in sums.iter_mut().zip(&pair) {
            *sum = of.onto(sum, part, "all_families")?;
        }
    }
    Ok(sums)
}
