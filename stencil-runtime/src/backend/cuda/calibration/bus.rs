//! The bus between the host and a card, measured by copies of pinned memory.

use std::fmt::Write as _;
use std::time::Instant;
use std::{fs, process, slice};

use cudarc::driver::sys::CU_MEMHOSTALLOC_PORTABLE;
use cudarc::driver::{CudaSlice, DriverError, result};
use stencil_compiler::hash::fnv1a;

use crate::backend::cuda::memory::start;
use crate::backend::cuda::{Cache, Card, CudaError, Opened};
use crate::backend::stream::Bus;

/// Bytes of a copy.
const BYTES: usize = 1 << 28;

/// Copies of a measurement, of which the fastest counts.
const COPIES: usize = 6;

fn failed(error: DriverError) -> CudaError {
    CudaError::driver("measuring the bus")(error)
}

/// Memory of the host that a card copies by itself.
struct Pinned(*mut u8);

impl Pinned {
    fn new() -> Result<Self, CudaError> {
        // SAFETY: it is given back once, when this is dropped.
        let memory = unsafe { result::malloc_host(BYTES, CU_MEMHOSTALLOC_PORTABLE) };
        Ok(Pinned(memory.map_err(failed)?.cast()))
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: so many bytes were allocated, and any pattern of bits is a byte.
        unsafe { slice::from_raw_parts_mut(self.0, BYTES) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: it was allocated by the driver, and no copy is in progress.
        let _ = unsafe { result::free_host(self.0.cast()) };
    }
}

/// Copies in one direction: memory on both sides, and a stream.
struct Way {
    host: Pinned,
    card: CudaSlice<u8>,
    on: Opened,
    goes_up: bool,
}

impl Way {
    fn new(card: &Opened, goes_up: bool) -> Result<Self, CudaError> {
        let on = card.beside()?;
        on.context.bind_to_thread().map_err(failed)?;
        let mut host = Pinned::new()?;
        host.bytes().fill(1);
        Ok(Way { host, card: on.stream.alloc_zeros(BYTES).map_err(failed)?, on, goes_up })
    }

    fn begin(&mut self) -> Result<(), CudaError> {
        let (at, stream) = (start(&self.card, &self.on.stream), self.on.stream.cu_stream());
        let host = self.host.bytes();
        let copy = match self.goes_up {
            // SAFETY: both sides have so many bytes, and live until the copy has ended.
            true => unsafe { result::memcpy_htod_async(at, host, stream) },
            // SAFETY: as above.
            false => unsafe { result::memcpy_dtoh_async(host, at, stream) },
        };
        copy.map_err(failed)
    }
}

/// Returns the bytes a second of each way while all are in use.
fn rate(ways: &mut [&mut Way]) -> Result<f64, CudaError> {
    let mut best = f64::INFINITY;
    for _ in 0..COPIES {
        let begun = Instant::now();
        ways.iter_mut().try_for_each(|way| way.begin())?;
        ways.iter().try_for_each(|way| way.on.synchronize())?;
        best = best.min(begun.elapsed().as_secs_f64());
    }
    Ok(BYTES as f64 / best)
}

impl Card {
    /// Returns the rates of its bus, from a cache or else measured now, which takes less than a second and is kept; `again`
    /// measures in any case. Nothing else should use the bus.
    ///
    /// # Errors
    /// If there is no room for two arrays of a quarter of a gigabyte on the card and on the host, or the card fails.
    pub fn bus(&self, cache: Option<&Cache>, again: bool) -> Result<Bus, CudaError> {
        let file = cache.map(|cache| cache.folder().join(file(self)));
        let kept = file.as_ref().and_then(|file| fs::read_to_string(file).ok());
        if !again && let Some(bus) = kept.and_then(|text| parse(&head(self), &text)) {
            return Ok(bus);
        }
        let opened = Opened::new(self.ordinal)?;
        let (mut up, mut down) = (Way::new(&opened, true)?, Way::new(&opened, false)?);
        let alone = [rate(&mut [&mut up])?, rate(&mut [&mut down])?];
        let at_once = rate(&mut [&mut up, &mut down])?;
        let bus = Bus { up: alone[0], down: alone[1], both: [at_once; 2] };
        if let Some(file) = file.filter(|_| cache.is_some_and(|c| c.sealed_by().is_none())) {
            // A cache that cannot be written costs time, no more.
            let part = file.with_extension(format!("{}.part", process::id()));
            let _ = fs::create_dir_all(file.parent().unwrap_or(&file));
            let _ =
                fs::write(&part, print(&head(self), &bus)).and_then(|()| fs::rename(&part, &file));
        }
        Ok(bus)
    }
}

/// Returns the name of the file of a card.
fn file(card: &Card) -> String {
    format!("{:016x}.bus", fnv1a(card.uuid.as_bytes()))
}

/// Returns the first lines of a file: a card at its place, with its driver.
fn head(card: &Card) -> String {
    let (major, minor) = card.driver;
    format!("stencil bus 1\nuuid {}\nat {}\ndriver {major}.{minor}\n", card.uuid, card.bus)
}

fn print(head: &str, bus: &Bus) -> String {
    let mut text = head.to_string();
    for rate in [bus.up, bus.down, bus.both[0], bus.both[1]] {
        // All digits, so that reading gives the number that was written.
        let _ = writeln!(text, "{rate:e}");
    }
    text
}

/// Reads a file; `None` if it is for something else, or not whole.
fn parse(head: &str, text: &str) -> Option<Bus> {
    let lines = text.strip_prefix(head)?.lines();
    let rates: Option<Vec<f64>> = lines.map(|line| line.parse().ok()).collect();
    let rates = rates.filter(|rates| rates.iter().all(|rate| rate.is_finite() && *rate > 0.0))?;
    let [up, down, both @ ..]: [f64; 4] = rates.try_into().ok()?;
    text.ends_with('\n').then_some(Bus { up, down, both })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_they_were_written() {
        let bus = Bus { up: 55e9 / 3.0, down: 52e9, both: [44e9, 43e9] };
        let text = print("head\n", &bus);
        assert_eq!(parse("head\n", &text), Some(bus));
        for wrong in [text.replace('e', "x"), format!("{text}1\n"), text[..text.len() - 1].into()] {
            assert_eq!(parse("head\n", &wrong), None, "{wrong}");
        }
        assert_eq!(parse("other\n", &text), None);
    }
}
