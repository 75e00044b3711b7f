//! `stencil doctor`: what this machine has for running on cards, and what is missing.

use std::io::Write;

use stencil_runtime::backend::cuda::nvrtc::Nvrtc;
use stencil_runtime::backend::cuda::{CACHE_VARIABLE, Cache, Card};
use stencil_runtime::{Instructions, bench};

use crate::{Ended, source};

/// Runs the command.
pub(crate) fn run(out: &mut dyn Write) -> Result<(), Ended> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut text = format!(
        "processor   {threads} threads, {} instructions, {:.0} Gflop/s of f32 multiply-adds a thread\n",
        Instructions::best().name(),
        bench::peak::<f32>(1).gflops
    );
    let cards = Card::all();
    match &cards {
        Ok(cards) if cards.is_empty() => text += "cards       the driver is there and finds none\n",
        Ok(cards) => cards.iter().for_each(|card| text += &describe(card)),
        Err(error) => text += &format!("cards       {error}\n"),
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
    text += &match Cache::of_user() {
        Some(cache) => format!("cache       {}\n", cache.folder().display()),
        None => format!(
            "cache       none: set {CACHE_VARIABLE} to a folder, or kernels are compiled at each start\n"
        ),
    };
    Ok(source::write(out, text.as_bytes())?)
}

fn describe(card: &Card) -> String {
    let (major, minor) = card.capability;
    let remark = if card.is_supported() {
        ""
    } else {
        "; too old for the generated code, which needs 8.0"
    };
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
