//! Reports of a run to its user in the terminal.

mod digits;
mod progress;
mod summary;
mod terminal;

pub use digits::significant;
pub(crate) use digits::{told, told_point};
pub use progress::Progress;
pub use summary::Summary;
pub use terminal::{clear_note, note};
