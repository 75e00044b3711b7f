//! Orders of convergence between members that differ in their mesh alone.

use super::{Member, Sweep};

/// The setting along which meshes are refined.
pub(super) const CELLS: &str = "mesh.cells";

/// Times of two runs that are equal up to rounding.
pub(super) const SAME: f64 = 1e-9;

impl Sweep {
    /// Returns the orders by which the norms of a component's error fall from the next coarser mesh to the one of this member. `None`
    /// stands where there is no coarser mesh with the same other settings, where the axes are not refined alike, where the runs
    /// end at different times, or where an error is zero or not finite.
    pub(super) fn orders(&self, at: usize, component: &str) -> [Option<f64>; 3] {
        let Some((coarse, member)) = self.coarser(at).zip(self.members.get(at)) else {
            return [None; 3];
        };
        let (Some(before), Some(now)) = (coarse.results(), member.results()) else {
            return [None; 3];
        };
        let ends_alike = (before.t - now.t).abs() <= SAME * before.t.abs().max(now.t.abs());
        let (Some(ratio), true) = (ratio(&coarse.spacing, &member.spacing), ends_alike) else {
            return [None; 3];
        };
        let (Some(before), Some(now)) = (before.errors.get(component), now.errors.get(component))
        else {
            return [None; 3];
        };
        [0, 1, 2].map(|norm| {
            let order = (before[norm] / now[norm]).ln() / ratio.ln();
            Some(order).filter(|order| order.is_finite())
        })
    }

    /// Returns the member with the next coarser mesh that went well, all other settings being equal.
    fn coarser(&self, at: usize) -> Option<&Member> {
        let member = self.members.get(at)?;
        let is_coarser = |other: &&Member| {
            other.results().is_some()
                && self.others(other) == self.others(member)
                && finest(other) > finest(member)
        };
        let all = self.members.iter().filter(is_coarser);
        all.min_by(|one, two| finest(one).total_cmp(&finest(two)))
    }

    /// Returns the values of all settings but the cells; no two members are in one group without that setting.
    pub(super) fn others(&self, member: &Member) -> Vec<String> {
        let pairs = self.keys.iter().zip(&member.values);
        pairs.filter(|(key, _)| *key != CELLS).map(|(_, value)| value.clone()).collect()
    }
}

/// Returns the smallest spacing.
fn finest(member: &Member) -> f64 {
    member.spacing.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Returns the ratio of spacings if it is the same along all axes, and not 1.
fn ratio(coarse: &[f64], fine: &[f64]) -> Option<f64> {
    let ratios: Vec<f64> = coarse.iter().zip(fine).map(|(coarse, fine)| coarse / fine).collect();
    let first = *ratios.first()?;
    let is_alike = ratios.iter().all(|ratio| (ratio - first).abs() <= SAME * first);
    (is_alike && coarse.len() == fine.len() && first > 1.0 + SAME).then_some(first)
}
