//! Means of cells, between which waves are corrected in place of states.

use super::{Rule, constant, rows};

pub(super) const RULE: Rule = Rule { row: &rows::WAVES, faces: constant::RULE.faces };
