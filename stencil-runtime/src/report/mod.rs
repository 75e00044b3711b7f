//! What a run tells its user in the terminal.

mod progress;
mod summary;

pub use progress::Progress;
pub use summary::Summary;
