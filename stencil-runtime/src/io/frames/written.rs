//! The frames that a list or a store has so far.

use std::path::Path;

use super::{FrameError, Moment};

/// Step and time of each frame, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Written(Vec<(u64, f64)>);

impl Written {
    /// Returns the frames to go on from: those of an earlier run up to a step, if the file that lists them is there. Are some
    /// left out, so that the file is to be written anew?
    pub(super) fn going_on(
        list: &Path,
        from: Option<u64>,
        read: impl FnOnce() -> Result<Vec<(u64, f64)>, FrameError>,
    ) -> Result<(Self, bool), FrameError> {
        let Some(last) = from.filter(|_| list.exists()) else {
            return Ok((Written::default(), false));
        };
        let mut frames = read()?;
        let count = frames.len();
        frames.retain(|(step, _)| *step <= last);
        let is_cut = frames.len() < count;
        Ok((Written(frames), is_cut))
    }

    /// Leaves out the frame of a step and later ones, which are written again.
    pub(super) fn go_back_before(&mut self, step: u64) {
        self.0.retain(|(own, _)| *own < step);
    }

    /// Adds a frame.
    pub(super) fn add(&mut self, moment: &Moment) {
        self.0.push((moment.step, moment.t));
    }

    /// Returns step and time of each.
    pub(super) fn frames(&self) -> &[(u64, f64)] {
        &self.0
    }
}
