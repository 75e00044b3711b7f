//! The page on a machine: its processor, its cards, the compiler for them, and what is missing.

use stencil_compiler::cost::{Link, usual_link};
use stencil_compiler::diag::counted;
use stencil_runtime::backend::cuda::nvrtc::Nvrtc;
use stencil_runtime::backend::cuda::{
    CACHE_VARIABLE, Cache, Calibration, Card, CardLink, CudaError,
};
use stencil_runtime::transport;
use stencil_runtime::{Instructions, bench};

/// Returns the page. Rates of cards are those that were measured before, or measured `again`.
pub fn page(again: bool) -> String {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut text = format!(
        "processor   {}, {} instructions, {:.0} Gflop/s of f32 multiply-adds a thread\n",
        counted(threads, "thread"),
        Instructions::best().name(),
        bench::peak::<f32>(1).gflops
    );
    let cards = Card::all();
    match &cards {
        Ok(cards) if cards.is_empty() => text += "cards       the driver is there and finds none\n",
        Ok(cards) => {
            for card in cards {
                text += &(describe(card) + &measured(card, again));
            }
        }
        Err(error) => text += &format!("cards       {error}\n"),
    }
    if let Ok(cards) = &cards {
        let all = Card::links(cards);
        text += &links(&all, cards.len(), &|link| speed(cards, link, again));
    }
    let major = cards.ok().and_then(|cards| Some(cards.first()?.driver.0));
    let nvrtc = match major {
        Some(major) => Nvrtc::open_up_to(i32::try_from(major).unwrap_or(i32::MAX)),
        None => Nvrtc::open(),
    };
    match nvrtc {
        Ok(nvrtc) => {
            let (major, minor) = nvrtc.version();
            text += &format!("NVRTC       {major}.{minor}, {}\n", nvrtc.path().display());
        }
        Err(error) => text += &format!("NVRTC       {error}\n"),
    }
    let cache = match Cache::of_user() {
        Some(cache) => format!("cache       {}\n", cache.folder().display()),
        None => format!(
            "cache       none: set {CACHE_VARIABLE} to a folder, or kernels are compiled at each start\n"
        ),
    };
    text + &cache + &transports()
}

/// The speed of a link: as measured before, or measured `again`.
fn speed(cards: &[Card], link: &CardLink, again: bool) -> String {
    let card = |ordinal: usize| cards.iter().find(|card| card.ordinal == ordinal);
    let (Some(from), Some(to)) = (card(link.from), card(link.to)) else {
        return String::new();
    };
    let cache = Cache::of_user();
    let found = match again {
        true => from.measure_link(to, link, cache.as_ref()).map(Some),
        false => Ok(from.kept_link(to, link.rank, cache.as_ref())),
    };
    match found {
        Ok(Some(Link { reads, copies, latency, .. })) => format!(
            "measured: a kernel reads {:.0} GB/s, the copy engine moves {:.0} GB/s, {:.1} us an exchange without values",
            reads / 1e9,
            copies / 1e9,
            1e6 * latency
        ),
        Ok(None) => format!("not measured yet, taken to be {}", usual_link(&from.name).name),
        Err(CudaError::Nvrtc(_)) => "not measured, for want of NVRTC".to_string(),
        Err(error) => format!("not measured: {error}"),
    }
}

/// The links between cards, those that are alike in one line, with the speed of the first of them that has access.
fn links(links: &[CardLink], cards: usize, speed: &dyn Fn(&CardLink) -> String) -> String {
    if cards < 2 {
        return String::new();
    }
    let words = |link: &CardLink| match (link.has_access, link.rank) {
        (false, _) => "no peer access: they cannot share a run".to_string(),
        (true, None) => "peer access".to_string(),
        (true, Some(rank)) => format!("peer access, rank {rank} (0 is the fastest)"),
    };
    let mut lines: Vec<(String, Vec<String>, &CardLink)> = Vec::new();
    for link in links {
        let (words, pair) = (words(link), format!("{} to {}", link.from, link.to));
        match lines.iter_mut().find(|(known, ..)| *known == words) {
            Some((_, pairs, _)) => pairs.push(pair),
            None => lines.push((words, vec![pair], link)),
        }
    }
    if lines.is_empty() {
        return "links       the driver does not tell of links between cards\n".to_string();
    }
    let line = |(words, pairs, first): &(String, Vec<String>, &CardLink)| {
        let mut line = match pairs.len() == cards * (cards - 1) {
            true => format!("links       each card to each other one: {words}\n"),
            false => format!("links       {}: {words}\n", pairs.join(", ")),
        };
        if first.has_access {
            line += &format!("            {}\n", speed(first));
        }
        line
    };
    lines.iter().map(line).collect()
}

/// The libraries that would join the cards of several processes.
fn transports() -> String {
    let nccl = transport::nccl_version().unwrap_or_else(|why| format!("not found: {why}"));
    let library = transport::mpi_library().map(str::to_string);
    let program = transport::mpirun().map(|file| file.display().to_string());
    let found: Vec<String> = program.into_iter().chain(library).collect();
    let mpi = match found.is_empty() {
        true => {
            "not found: no mpirun on the path, and the system loader knows no libmpi".to_string()
        }
        false if transport::mpi_reaches_cards() => {
            format!("{}, which reaches the memory of cards", found.join(", "))
        }
        false => format!("{}, by the memory of the host", found.join(", ")),
    };
    format!(
        "NCCL        {nccl}\nMPI         {mpi}\n            one process needs neither of both; ranks with cards need MPI, and take NCCL beside it if it is there\n"
    )
}

fn describe(card: &Card) -> String {
    let (major, minor) = card.capability;
    let remark =
        if card.is_supported() { "" } else { "; too old for the generated code, which needs 8.0" };
    format!(
        "card {}      {}: compute capability {major}.{minor}{remark}, {} multiprocessors, {:.1} GB, \
         {} KiB of shared memory a block\n            driver for CUDA {}.{}\n",
        card.ordinal,
        card.name,
        card.multiprocessors,
        card.memory as f64 / 1e9,
        card.shared_bytes / 1024,
        card.driver.0,
        card.driver.1
    )
}

/// The measured rates of a card.
fn measured(card: &Card, again: bool) -> String {
    let cache = Cache::of_user();
    let found = match again {
        true => card.calibration(cache.as_ref(), true).map(Some),
        false => card.kept_calibration(cache.as_ref()),
    };
    let indent = " ".repeat(12);
    match found {
        Ok(Some(calibration)) => numbers(&calibration, &indent),
        Ok(None) => format!("{indent}not measured yet; --measure does so, as tuning does\n"),
        // The places that were tried for a compiler stand below.
        Err(CudaError::Nvrtc(_)) => format!("{indent}not measured, for want of NVRTC\n"),
        Err(error) => format!("{indent}not measured: {error}\n"),
    }
}

fn numbers(calibration: &Calibration, indent: &str) -> String {
    let found = &calibration.measured;
    let mut text = format!(
        "{indent}measured: copy {:.0} GB/s; {:.0} MHz after a rest, {:.0} MHz held; a multiprocessor and cycle \
         {:.1} multiply-adds in f32,\n{indent}{:.1} in f64, {:.1} words of shared memory; {:.2} us between kernels, {:.1} us \
         a small fill of ghost cells\n",
        found.copy_bytes / 1e9,
        found.clock / 1e6,
        found.held / 1e6,
        found.single,
        found.double,
        found.words,
        1e6 * found.launch,
        1e6 * found.fill
    );
    for doubt in &calibration.doubts {
        text += &format!("{indent}{doubt}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use stencil_compiler::cost::MODELS;
    use stencil_runtime::backend::cuda::{Doubt, Measured};

    use super::*;

    #[test]
    fn links_that_are_alike_are_one_line() {
        let link = |from, to, rank| CardLink { from, to, has_access: rank < 9, rank: Some(rank) };
        let links = |all: &[CardLink], cards| links(all, cards, &|link| format!("of {}", link.to));
        assert_eq!(links(&[], 1), "");
        assert_eq!(
            links(&[link(0, 1, 0), link(1, 0, 0)], 2),
            "links       each card to each other one: peer access, rank 0 (0 is the fastest)\n            of 1\n"
        );
        let some = [link(0, 1, 0), link(0, 2, 9), link(1, 0, 0), link(2, 0, 9)];
        assert_eq!(
            links(&some, 3),
            "links       0 to 1, 1 to 0: peer access, rank 0 (0 is the fastest)\n            of 1\n\
             links       0 to 2, 2 to 0: no peer access: they cannot share a run\n"
        );
    }

    #[test]
    fn numbers_have_usual_units_and_doubts_are_told() {
        let calibration = Calibration {
            measured: Measured {
                copy_bytes: 4.16e12,
                clock: 1.98e9,
                held: 1.7551e9,
                single: 127.46,
                double: 63.9,
                words: 31.96,
                launch: 1.234e-6,
                fill: 7.96e-6,
            },
            rates: MODELS[0].rates,
            doubts: vec![Doubt { what: "the clock, Hz", measured: 1e8, expected: 1.98e9 }],
        };
        let text = numbers(&calibration, "  ");
        for words in [
            "copy 4160 GB/s; 1980 MHz after a rest, 1755 MHz held;",
            "cycle 127.5 multiply-adds in f32,\n  63.9 in f64, 32.0 words",
            "1.23 us between kernels, 8.0 us a small fill of ghost cells\n  the clock, Hz, was measured as 1.000e8",
        ] {
            assert!(text.contains(words), "no `{words}` in\n{text}");
        }
    }
}
