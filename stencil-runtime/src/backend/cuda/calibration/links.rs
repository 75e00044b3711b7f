//! The speed of a link between two cards, measured once: bytes that a kernel reads from the other card, bytes that the copy
//! engine moves, and the time of an exchange without values.
//!
//! The measurements are kept in the cache of the user for each kind of pair: the names of both cards, the rank that the
//! driver gives their link, and the driver.

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{
    CudaEvent, CudaFunction, CudaModule, DriverError, LaunchConfig, PushKernelArg, result,
};
use stencil_compiler::cost::{Link, usual_link};
use stencil_compiler::hash::fnv1a;

use super::probes::{THREADS, TIMINGS, source, timed};
use super::{MOST_OFF_ANOTHER, kept};
use crate::backend::cuda::kernels::launch::{function, one};
use crate::backend::cuda::memory::shared::Allocation;
use crate::backend::cuda::memory::start;
use crate::backend::cuda::{Cache, Card, CardLink, CudaError, Opened};

/// Bytes that are moved: so many that a message takes no time beside them.
const BYTES: usize = 1 << 28;

/// Exchanges of a captured graph.
const EXCHANGES: u32 = 50;

/// Blocks of the kernel that reads, for each multiprocessor.
const BLOCKS: u32 = 2;

/// The first line of a file; the number is the version of its layout and of the measurements.
const MAGIC: &str = "stencil link 1";

/// A number of a file: its name, and its place in the link.
type Number = (&'static str, fn(&mut Link) -> &mut f64);

/// All numbers of a file.
const NUMBERS: [Number; 3] = [
    ("reads_bytes_per_s", |link| &mut link.reads),
    ("copies_bytes_per_s", |link| &mut link.copies),
    ("exchange_s", |link| &mut link.latency),
];

/// The ranks that the driver gives links of usual machines.
const RANKS: [Option<i32>; 5] = [Some(0), Some(1), Some(2), Some(3), None];

impl Card {
    /// Returns the fastest link to a card of the same name: as measured before, or else as the name of the card tells.
    pub fn link(&self, cache: Option<&Cache>) -> Link {
        let measured = RANKS.into_iter().find_map(|rank| self.kept_link(self, rank, cache));
        measured.unwrap_or(usual_link(&self.name).link)
    }

    /// Returns the measurements of a link to another card that the driver gives this rank, if there are any.
    pub fn kept_link(&self, to: &Card, rank: Option<i32>, cache: Option<&Cache>) -> Option<Link> {
        let head = head((self, to), rank);
        let text = fs::read_to_string(cache?.folder().join(file(&head))).ok()?;
        Some(believed(parse(&head, &text)?, &usual_link(&self.name).link))
    }

    /// Measures a link from this card to another one, and keeps the numbers. Nothing else should run on both cards.
    ///
    /// # Errors
    /// If one cannot reach the memory of the other, there is no compiler for the kernels, or a card fails.
    pub fn measure_link(
        &self,
        to: &Card,
        link: &CardLink,
        cache: Option<&Cache>,
    ) -> Result<Link, CudaError> {
        let probes = Probes::new([self, to], cache)?;
        let measured = Link {
            reads: BYTES as f64 / probes.best(|| probes.read())?,
            copies: BYTES as f64 / probes.best(|| probes.copy())?,
            latency: probes.exchange()?,
            message: 0.0,
        };
        if let Some(cache) = cache {
            let head = head((self, to), link.rank);
            // A cache that cannot be written costs time, no more.
            let _ = kept::write(cache, &file(&head), &print(&head, measured));
        }
        Ok(believed(measured, &usual_link(&self.name).link))
    }
}

/// Returns a link whose numbers are the measured ones, but for those too far from the expected ones: they were disturbed.
fn believed(measured: Link, expected: &Link) -> Link {
    let near = |measured: f64, expected: f64| {
        // NaN is not near to anything.
        let is_near = (1.0 / MOST_OFF_ANOTHER..=MOST_OFF_ANOTHER).contains(&(measured / expected));
        if is_near { measured } else { expected }
    };
    Link {
        reads: near(measured.reads, expected.reads),
        copies: near(measured.copies, expected.copies),
        latency: near(measured.latency, expected.latency),
        message: expected.message,
    }
}

/// Returns the first lines of a file: a kind of pair, with the driver.
fn head((from, to): (&Card, &Card), rank: Option<i32>) -> String {
    let rank = rank.map_or("unknown".to_string(), |rank| rank.to_string());
    let ((major, minor), from, to) = (from.driver, &from.name, &to.name);
    format!("{MAGIC}\nfrom {from}\nto {to}\nrank {rank}\ndriver {major}.{minor}\n")
}

fn file(head: &str) -> String {
    format!("{:016x}.link", fnv1a(head.as_bytes()))
}

fn print(head: &str, mut link: Link) -> String {
    let mut text = head.to_string();
    for (name, number) in NUMBERS {
        let _ = writeln!(text, "{name} {:e}", number(&mut link));
    }
    text
}

/// Reads the numbers of a text; `None` if it is for another kind of pair, or not whole.
fn parse(head: &str, text: &str) -> Option<Link> {
    let mut link = Link { reads: 0.0, copies: 0.0, latency: 0.0, message: 0.0 };
    let mut lines = text.strip_prefix(head)?.lines();
    for (name, number) in NUMBERS {
        let value = lines.next()?.strip_prefix(name)?.strip_prefix(' ')?;
        *number(&mut link) = value.parse().ok()?;
    }
    (lines.next().is_none() && text.ends_with('\n')).then_some(link)
}

/// A card of a pair, its kernels, and an event that the other one waits for.
struct Side {
    opened: Opened,
    copy: CudaFunction,
    wait: CudaFunction,
    done: CudaEvent,
    _module: Arc<CudaModule>,
}

impl Side {
    fn new(card: &Card, cache: Option<&Cache>) -> Result<Self, CudaError> {
        let opened = Opened::new(card.ordinal)?;
        let module = one(&opened, cache, &source())?;
        let done = opened.context.new_event(None);
        Ok(Side {
            copy: function(&module, "copy_words")?,
            wait: function(&module, "wait_cycles")?,
            done: done.map_err(failed)?,
            opened,
            _module: module,
        })
    }

    /// Starts a kernel that does nothing.
    fn nothing(&self) -> Result<(), DriverError> {
        let config =
            LaunchConfig { grid_dim: (1, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
        let mut launch = self.opened.stream.launch_builder(&self.wait);
        launch.arg(&0_i64);
        // SAFETY: the argument is that of the kernel, which touches no memory.
        unsafe { launch.launch(config) }.map(drop)
    }
}

/// A pair of cards, with memory that both reach: the first half is that of the first card.
struct Probes {
    sides: [Side; 2],
    memory: Allocation<u8>,
}

fn failed(error: DriverError) -> CudaError {
    CudaError::driver("measuring a link between cards")(error)
}

impl Probes {
    fn new(cards: [&Card; 2], cache: Option<&Cache>) -> Result<Self, CudaError> {
        let sides = [Side::new(cards[0], cache)?, Side::new(cards[1], cache)?];
        let opened = sides.each_ref().map(|side| side.opened.clone());
        Ok(Probes { memory: Allocation::zeros(&opened, &[BYTES; 2])?, sides })
    }

    /// Returns the addresses of the memory of both cards.
    fn addresses(&self) -> [u64; 2] {
        let first = start(&self.memory, &self.sides[0].opened.stream);
        [first, first + BYTES as u64]
    }

    /// Returns the least seconds of some work of the first card.
    fn best(&self, work: impl Fn() -> Result<(), DriverError>) -> Result<f64, CudaError> {
        let mut best = f64::INFINITY;
        for _ in 0..=TIMINGS {
            best = best.min(timed(&self.sides[0].opened, || work().map_err(failed))?);
        }
        Ok(best)
    }

    /// Reads the memory of the second card by a kernel of the first one.
    fn read(&self) -> Result<(), DriverError> {
        let ([to, from], side) = (self.addresses(), &self.sides[0]);
        let words = (BYTES / 16) as i64;
        let config = LaunchConfig {
            grid_dim: (BLOCKS * side.opened.card.multiprocessors, 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        let mut launch = side.opened.stream.launch_builder(&side.copy);
        launch.arg(&to).arg(&from).arg(&words);
        // SAFETY: the arguments are those of the kernel; both ranges have so many bytes and are mapped for this card.
        unsafe { launch.launch(config) }.map(drop)
    }

    /// Copies the memory of the second card by the copy engine of the first one.
    fn copy(&self) -> Result<(), DriverError> {
        let ([to, from], stream) = (self.addresses(), &self.sides[0].opened.stream);
        stream.context().bind_to_thread()?;
        // SAFETY: both ranges have so many bytes and are mapped for this card.
        unsafe { result::memcpy_dtod_async(to, from, BYTES, stream.cu_stream()) }
    }

    /// Returns the seconds of an exchange without values, with the launch behind it: of many in a captured graph.
    fn exchange(&self) -> Result<f64, CudaError> {
        let [first, second] = &self.sides;
        let streams = [&first.opened.stream, &second.opened.stream];
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        streams[0].begin_capture(mode).map_err(failed)?;
        let started = self.start_exchanges();
        let graph = streams[0].end_capture(CUgraphInstantiate_flags(0));
        started.map_err(failed)?;
        let missing = || CudaError::Driver {
            call: "measuring a link between cards",
            reason: "nothing was captured".into(),
        };
        let graph = graph.map_err(failed)?.ok_or_else(missing)?;
        graph.upload().map_err(failed)?;
        let replay = || graph.launch();
        // The first replay is not counted.
        timed(&first.opened, || replay().map_err(failed))?;
        Ok(self.best(replay)? / f64::from(EXCHANGES))
    }

    /// Starts exchanges without values on both cards, ordered as those of a step.
    fn start_exchanges(&self) -> Result<(), DriverError> {
        let [first, second] = &self.sides;
        first.done.record(&first.opened.stream)?;
        second.opened.stream.wait(&first.done)?;
        for _ in 0..EXCHANGES {
            // All cards have done their launches before the exchange, and the exchange before the launches behind it.
            for _ in 0..2 {
                for side in &self.sides {
                    side.nothing()?;
                    side.done.record(&side.opened.stream)?;
                }
                first.opened.stream.wait(&second.done)?;
                second.opened.stream.wait(&first.done)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gives_what_was_kept_for_its_kind_of_pair() {
        let head = format!("{MAGIC}\nfrom A\nto A\nrank 0\ndriver 13.0\n");
        let link = Link { reads: 3.6e11 / 7.0, copies: 3.5e11, latency: 1.2e-5, message: 0.0 };
        let text = print(&head, link);
        assert_eq!(parse(&head, &text), Some(link));
        assert_eq!(parse(&head.replace("rank 0", "rank 1"), &text), None);
        for end in 0..text.len() {
            assert_eq!(parse(&head, &text[..end]), None, "{end} bytes");
        }
    }

    #[test]
    fn numbers_that_cannot_be_are_not_believed() {
        let expected = usual_link("H100").link;
        let measured = Link { reads: f64::NAN, copies: 3e11, latency: 1.0, message: 0.0 };
        assert_eq!(believed(measured, &expected), Link { copies: 3e11, ..expected });
    }
}
