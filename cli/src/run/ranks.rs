//! A run on several ranks: processes that `mpirun` has started, each with the patches of one device.

use std::thread::sleep;
use std::time::Duration;

use stencil_runtime::Devices;
use stencil_runtime::backend::cuda::Card;
use stencil_runtime::transport::{Ranks, started_rank};

use super::signals::leaves_state;
use super::{Ended, RunArgs};
use crate::source::Backend;
use crate::{USAGE, tell};

/// Time for the first rank to tell an error that all have.
const FIRST_TELLS: Duration = Duration::from_millis(1000);

/// Joins the processes that `mpirun` has started.
pub(super) fn begin() -> Result<Ranks, Ended> {
    Ranks::started().map_err(|why| {
        let ended = wrong(&why);
        // The end of the first process ends all others.
        leave_first(started_rank().unwrap_or(0));
        ended
    })
}

/// Returns the arguments of a rank: a device for each, and only the first one talks.
pub(super) fn arguments(ranks: &Ranks, args: &RunArgs) -> Result<RunArgs, Ended> {
    let mut own = args.clone();
    if ranks.count() == 1 {
        return match &args.transport {
            None => Ok(own),
            Some(carrier) => Err(wrong(&format!(
                "`--transport {carrier}` is between ranks, and this is one process\n  \
                 help: start several by mpirun, or leave --transport out"
            ))),
        };
    }
    if args.tune.is_some() {
        let why = "`--tune` times schedules in one process, and this run has several ranks\n  \
             help: time them by one process without mpirun, and give the ranks its --schedule";
        return Err(wrong(why));
    }
    let count = ranks.count();
    if let Some(devices) = &args.devices
        && devices.parse::<Devices>().ok().and_then(|devices| devices.known()) != Some(count)
    {
        return Err(wrong(&format!(
            "`--devices {devices}` and {count} ranks: each rank is a device\n  help: leave --devices out"
        )));
    }
    own.devices = Some(count.to_string());
    if let Backend::Auto = args.common.backend {
        let has_card = Card::count().is_ok_and(|count| count > 0);
        own.common.backend = if ranks.any(!has_card) { Backend::Cpu } else { Backend::Cuda };
    }
    if !ranks.is_first() {
        (own.quiet, own.json) = (true, false);
    }
    Ok(own)
}

/// Checks that all ranks have the same of something, given as text.
pub(super) fn agree(ranks: &Ranks, what: &str, text: impl FnOnce() -> String) -> Result<(), Ended> {
    if ranks.count() == 1 {
        return Ok(());
    }
    let hash = crc32fast::hash(text().as_bytes());
    match ranks.first_unlike(&hash.to_le_bytes()) {
        None => Ok(()),
        Some(rank) => Err(wrong(&format!(
            "rank {rank} has another {what} than rank 0\n  help: start all ranks with one binary, one command and one problem file"
        ))),
    }
}

/// Ends all ranks after an error of this one. An error that all have is told by the first one alone.
pub(super) fn end(ranks: &Ranks, ended: &Ended) -> ! {
    // Signals and the time on the wall end all ranks, of which the first one writes the state.
    if leaves_state(ended.code) {
        if ranks.is_first() {
            tell(&ended.message);
        }
        // The others wait here until it has told.
        ranks.any(true);
    } else {
        leave_first(ranks.rank());
        tell(&ended.message);
    }
    ranks.abort(ended.code)
}

/// Waits long enough for the first rank to end all others, if it has the same error; for each rank a little longer.
fn leave_first(rank: usize) {
    if rank > 0 {
        sleep(FIRST_TELLS + Duration::from_millis(20) * rank as u32);
    }
}

fn wrong(why: &str) -> Ended {
    Ended { code: USAGE, message: format!("error: {why}") }
}
