//! Laws with several sounds that fall apart: if no component of a block has a flux made of components of another one, each block has waves
//! of its own, with a flow and one sound. So pressure and shear waves of a solid along an axis are taken apart without eigenvectors.

use super::families::WaveKinds;
use super::spectrum::Jacobian;
use super::{AXES, Law, terms};
use crate::discretize::WaveBlock;
use crate::discretize::expand::Result;
use crate::model::{Term, Waves};

/// Conserved components whose waves are those of a law by themselves.
#[derive(Clone)]
pub(super) struct Block {
    /// Their numbers among the conserved components, in order.
    pub(super) members: Vec<usize>,
    /// The flow and the sound along the axis: scalars.
    pub(super) waves: Waves,
    pub(super) kinds: WaveKinds,
}

impl Law<'_> {
    /// The blocks along each axis, if the law falls apart along one of them, and each block has a flow and a sound.
    pub(super) fn derived_blocks(&self) -> Result<Option<Vec<Vec<Block>>>> {
        let span = self.model.fluxes[0].span;
        let (mut all, mut fall_apart) = (Vec::new(), false);
        for axis in 0..self.model.dimension {
            let mut expander = self.expander_for_forms()?;
            let jacobian = self.jacobian(&mut expander, axis, None)?;
            let parts = jacobian.parts();
            fall_apart |= parts.len() > 1;
            let mut blocks = Vec::new();
            for members in parts {
                let Ok(found) = jacobian.of(&members).found(&expander) else {
                    return Ok(None);
                };
                let to_term = |quotient| terms::term(self, &expander, quotient, span);
                let root = found.square.as_ref().map(|square| terms::root(to_term(square), span));
                let waves = Waves {
                    flow: Some(to_term(&found.flow)),
                    sound: Some(root.unwrap_or_else(|| Term::integer(0, span))),
                    density: None,
                    pressure: None,
                    span,
                };
                blocks.push((members, waves));
            }
            all.push(self.with_kinds(axis, blocks)?);
        }
        Ok(all.into_iter().collect::<Option<Vec<_>>>().filter(|_| fall_apart))
    }

    /// Blocks with the kinds of their waves; `None` if there are others.
    fn with_kinds(
        &self,
        axis: usize,
        blocks: Vec<(Vec<usize>, Waves)>,
    ) -> Result<Option<Vec<Block>>> {
        let mut all = Vec::new();
        for (members, waves) in blocks {
            let mut expander = self.expander_for_forms()?;
            let jacobian = self.jacobian(&mut expander, axis, Some(&waves))?.of(&members);
            let Ok(kinds) = jacobian.kinds(&expander) else {
                return Ok(None);
            };
            all.push(Block { members, waves, kinds });
        }
        Ok(Some(all))
    }

    /// The blocks in words.
    pub(super) fn named_blocks(&self, blocks: &[Vec<Block>]) -> Vec<WaveBlock> {
        let conserved = self.components_conserved();
        let named = |(axis, block): (usize, &Block)| WaveBlock {
            along: AXES[axis],
            components: (block.members.iter())
                .map(|at| self.components.fields[conserved[*at]].clone())
                .collect(),
            waves: block.waves.clone(),
        };
        let axes = blocks.iter().enumerate();
        axes.flat_map(|(axis, blocks)| blocks.iter().map(move |block| (axis, block)))
            .map(named)
            .collect()
    }
}

impl Jacobian {
    /// The components that depend on each other, directly or through others, each part in order.
    fn parts(&self) -> Vec<Vec<usize>> {
        let n = self.rows.len();
        let mut part: Vec<usize> = (0..n).collect();
        for (row, entries) in self.rows.iter().enumerate() {
            for (column, entry) in entries.iter().enumerate() {
                if !entry.0.is_empty() && part[row] != part[column] {
                    let (kept, gone) = (part[row].min(part[column]), part[row].max(part[column]));
                    part.iter_mut().filter(|own| **own == gone).for_each(|own| *own = kept);
                }
            }
        }
        let members = |of: usize| (0..n).filter(|at| part[*at] == of).collect::<Vec<usize>>();
        (0..n).map(members).filter(|members| !members.is_empty()).collect()
    }

    /// The matrix of some components.
    fn of(&self, members: &[usize]) -> Jacobian {
        let row = |i: &usize| members.iter().map(|j| self.rows[*i][*j].clone()).collect();
        Jacobian { rows: members.iter().map(row).collect(), declared: self.declared.clone() }
    }
}
