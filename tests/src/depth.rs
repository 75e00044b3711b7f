//! The share of all cases that a run walks through: some in the inner loop, most before a change is sent, all of them in deep runs.

use std::env::var;
use std::sync::LazyLock;

use stencil_compiler::expr::Real;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    Fast,
    Usual,
    Deep,
}

/// `STENCIL_TESTS`: `fast`, `deep`, or none.
static DEPTH: LazyLock<Depth> = LazyLock::new(|| match var("STENCIL_TESTS").as_deref() {
    Ok("fast") => Depth::Fast,
    Ok("deep") => Depth::Deep,
    _ => Depth::Usual,
});

/// The number of turns, of which thirds make three equal parts.
const TURNS: usize = 9;

/// `STENCIL_TURN`: 0 to 8, or none if it is `all`.
static TURN: LazyLock<Option<usize>> = LazyLock::new(|| match var("STENCIL_TURN").as_deref() {
    Ok("all") => None,
    Ok(turn) => {
        let turn: Option<usize> = turn.parse().ok();
        let turn = turn.filter(|turn| *turn < TURNS);
        Some(turn.expect("STENCIL_TURN is a number from 0 to 8, or all"))
    }
    Err(_) => Some(0),
});

/// Does this run take a case of a walk that one precision goes, or a text without one? All but the inner loop, which takes a
/// third. Cases have numbers from zero.
pub fn takes(case: usize) -> bool {
    *DEPTH != Depth::Fast || TURN.is_none_or(|turn| case % 3 == turn % 3)
}

/// Does this run take a case of a walk that both precisions go? Each takes a third of the cases, and not the same third, so two
/// thirds are taken in one precision. The inner loop takes a third of these.
///
/// `cargo xtask test` counts commits for the turn, so three that follow each other have different thirds, and
/// between them each case is taken in both precisions: a fault that one case shows, in one precision alone, is found two commits
/// later at most. Two runs of a commit take the same cases.
pub fn takes_in_turn<T: Real>(case: usize) -> bool {
    let Some(turn) = *TURN else { return true };
    let is_taken = (case + T::BYTES / 4) % 3 == turn % 3;
    is_taken && (*DEPTH != Depth::Fast || case / 3 % 3 == turn / 3)
}

/// Does this run take a case of a walk in which single cases take seconds? A ninth of the cases, so that nine commits take all.
pub fn takes_seldom(case: usize) -> bool {
    TURN.is_none_or(|turn| case % TURNS == turn)
}

/// Returns the number of samples in place of the usual one.
pub fn samples(usual: usize) -> usize {
    usual * if *DEPTH == Depth::Deep { 3 } else { 1 }
}

/// Returns the number of cells along an axis in place of the usual one; odd numbers stay odd, and one stays one.
pub fn larger(usual: usize) -> usize {
    match *DEPTH {
        Depth::Deep if usual > 1 => 2 * usual + usual % 2,
        _ => usual,
    }
}
