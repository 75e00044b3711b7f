//! The loads of a march: it requests the planes of coming iterations, and waits for those of its own.
//!
//! All threads copy, or one thread has boxes copied, or both: boxes in most blocks, copies in those that read around an end.

use super::prefetch_point::PrefetchPoint;
use super::{March, rings};
use crate::kernel::iteration::Frame;
use crate::kernel::lower::Draft;
use crate::kernel::pipeline::Pipeline;
use crate::kernel::{Index, IntVar, Stmt};

mod boxes;
mod copies;
mod ends;

use boxes::Boxes;
use copies::Copies;
use ends::Ends;
pub(super) use ends::are_around;
use rings::Rings;

/// Fills the rings.
pub(super) struct Loader<'a> {
    boxes: Option<Boxes<'a>>,
    copies: Option<Copies<'a>>,
    point: PrefetchPoint,
    /// Iterations of the loop.
    pub(super) turns: Index,
}

impl<'a> Loader<'a> {
    /// Computes once, ahead of the loop, which cells a thread copies.
    pub(super) fn new(
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        (march, point): (&March, PrefetchPoint),
        rings: &'a Rings,
        (frame, pipeline): (Frame, &Pipeline),
    ) -> Self {
        let mut turns = Index::Var(frame.end)
            - Index::Var(frame.start)
            - Index::Const(i64::from(pipeline.last_lag() + rings.begin));
        let (mut boxes, mut ends) = (None, None);
        if march.boxes {
            let var = draft.define(body, "turns", turns);
            turns = Index::Var(var);
            ends = Ends::new(draft, body, march, rings, pipeline.axis);
            let within = (frame, pipeline, var);
            boxes = Some(Boxes::new(draft, body, march, rings, within, ends));
        }
        let copies = (!march.boxes || ends.is_some()).then(|| {
            let within = (frame, pipeline.axis);
            Copies::new(draft, body, march, rings, within, ends)
        });
        Loader { boxes, copies, point, turns }
    }

    /// Requests the planes of the first iterations.
    pub(super) fn fill_first(&self, draft: &mut Draft<'_>, body: &mut Vec<Stmt>) {
        if let Some(copies) = &self.copies {
            copies.fill_first(draft, body);
        }
        if let Some(boxes) = &self.boxes {
            boxes.fill_first(draft, body);
        }
    }

    /// Requests the planes of a coming iteration, if an iteration does that here.
    pub(super) fn prefetch(
        &self,
        here: PrefetchPoint,
        draft: &mut Draft<'_>,
        iteration: IntVar,
    ) -> Vec<Stmt> {
        let mut body = Vec::new();
        if here != self.point {
            return body;
        }
        if let Some(copies) = &self.copies {
            copies.fill_next(draft, &mut body, iteration);
        }
        if let Some(boxes) = &self.boxes {
            boxes.fill_next(draft, &mut body, iteration);
        }
        body
    }

    /// Waits for the planes of an iteration.
    pub(super) fn wait(&self, body: &mut Vec<Stmt>, iteration: IntVar) {
        if let Some(copies) = &self.copies {
            copies.wait(body, iteration);
        }
        if let Some(boxes) = &self.boxes {
            boxes.wait(body, iteration);
        }
    }
}
