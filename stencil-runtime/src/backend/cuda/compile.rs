//! Texts to machine code: from the cache where it is there, else by NVRTC, many at once.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use stencil_compiler::emit::{Places, Source};

use super::CudaError;
use super::cache::{Cache, Key};
use super::nvrtc::{Compiled, Nvrtc, NvrtcError};

/// Compiles texts for an architecture, each of them once, on all cores. The machine code leads back
/// to `places`. They are part of what it is kept by: if a declaration has moved to other lines,
/// code from before would lead profilers astray.
pub(super) fn compile(
    sources: &[&Source],
    places: &Places,
    architecture: &str,
    nvrtc: &Nvrtc,
    cache: Option<&Cache>,
) -> Result<Vec<Compiled>, CudaError> {
    let mut distinct: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, source) in sources.iter().enumerate() {
        distinct.entry(&source.text).or_default().push(at);
    }
    let jobs: Vec<Vec<usize>> = distinct.into_values().collect();
    let one = |at: usize| -> Result<Compiled, NvrtcError> {
        let source = sources[at];
        let name = format!("{}.cu", source.name);
        let marked = source.marked(places, &name);
        let key = Key {
            source: &marked.text,
            name: &name,
            architecture,
            compiler: nvrtc.version(),
        };
        if let Some(found) = cache.and_then(|cache| cache.find(key)) {
            return Ok(found);
        }
        let compiled = nvrtc.compile_marked(&marked, &name, architecture)?;
        if let Some(cache) = cache {
            // A cache that cannot be written costs time, no more.
            let _ = cache.keep(key, &compiled);
        }
        Ok(compiled)
    };
    let done = in_parallel(jobs.len(), |job| one(jobs[job][0]));
    let mut all: Vec<Option<Compiled>> = sources.iter().map(|_| None).collect();
    for (job, result) in jobs.iter().zip(done) {
        let compiled = result?;
        for at in job {
            all[*at] = Some(compiled.clone());
        }
    }
    Ok(all.into_iter().flatten().collect())
}

/// Results of a function for 0 to `count`, found on as many threads as there are cores.
fn in_parallel<R: Send>(count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(count);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return;
                    }
                    let result = work(at);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.insert(at, result);
                }
            });
        }
    });
    let results = results.into_inner();
    let results = results.unwrap_or_else(PoisonError::into_inner);
    results.into_values().collect()
}
