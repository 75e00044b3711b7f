//! Weighted average fluxes (Toro, Proc. R. Soc. Lond. A 423, 401, 1989; Billett and Toro, J. Comput. Phys. 130, 1, 1997; Toro 2009,
//! section 14.3): the flux is the mean over the regions between waves, each by the share of a cell's length around the face that it
//! covers in the middle of the step, `(f₀ + f₁)/2 - Σ sign(c) φ Δf/2`, with the Courant number `c` of a wave, its rise `Δf` of the flux,
//! and `φ = 1 - (1 - |c|) ψ(r)`. A rise is the wave times its speed, so this is the solver's flux with the correction of
//! [waves](super::waves). The ratio `r` of a limiter `ψ` is that of waves, too. Nothing goes sideways.

use super::{Rule, constant, rows};

pub(super) const RULE: Rule = Rule { row: &rows::WAF, faces: constant::RULE.faces };
