//! Compiles texts to machine code: takes it from the cache if it is there, else calls NVRTC, many texts at once.

pub(crate) mod cache;
pub mod nvrtc;

use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use stencil_compiler::emit::{Places, Source};

use crate::backend::cuda::CudaError;
use crate::backend::cuda::card::capability;
use crate::backend::cuda::compile::cache::{Absence, Cache, Key};
use crate::backend::cuda::compile::nvrtc::{Compiled, Nvrtc, Resources};

/// The source of machine code: NVRTC and a cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compiler<'a> {
    /// `None` if all kernels were compiled before.
    nvrtc: Option<&'a Nvrtc>,
    version: (i32, i32),
    cache: Option<&'a Cache>,
}

impl<'a> Compiler<'a> {
    /// The compiler for a driver that speaks CUDA `major`, or for any driver.
    pub(crate) fn new(major: Option<u32>, cache: Option<&'a Cache>) -> Result<Self, CudaError> {
        if let Some(version) = cache.and_then(Cache::sealed_by) {
            return Ok(Compiler { nvrtc: None, version, cache });
        }
        let nvrtc = match major {
            Some(major) => Nvrtc::shared_up_to(i32::try_from(major).unwrap_or(i32::MAX))?,
            None => Nvrtc::shared()?,
        };
        Ok(Compiler { nvrtc: Some(nvrtc), version: nvrtc.version(), cache })
    }

    /// Returns the machine code of a text.
    fn one(
        &self,
        source: &Source,
        places: &Places,
        architecture: &str,
    ) -> Result<Compiled, CudaError> {
        let name = file_name(source);
        let marked = source.marked(places, &name);
        let key = self.key(&marked.text, &name, architecture);
        let kept = self.cache.map_or(Err(Absence::Missing), |c| c.find(key));
        let absence = match kept {
            Ok(compiled) => return Ok(compiled),
            Err(absence) => absence,
        };
        let Some(nvrtc) = self.nvrtc else {
            return Err(CudaError::NotKept {
                what: format!("the compiled kernel `{}` for {architecture}", source.name),
                reason: absence.words(),
            });
        };
        let compiled = nvrtc.compile_marked(&marked, &name, architecture)?;
        if let Some(cache) = self.cache {
            // A cache that cannot be written costs time, no more.
            let _ = cache.keep(key, &compiled);
        }
        Ok(compiled)
    }

    fn key<'k>(&self, source: &'k str, name: &'k str, architecture: &'k str) -> Key<'k> {
        Key { source, name, architecture, compiler: self.version }
    }

    /// Returns the name of a text's machine code in a cache.
    pub(crate) fn entry(&self, source: &Source, places: &Places, architecture: &str) -> String {
        let name = file_name(source);
        let marked = source.marked(places, &name);
        Cache::entry(self.key(&marked.text, &name, architecture))
    }
}

fn file_name(source: &Source) -> String {
    format!("{}.cu", source.name)
}

/// Compiles texts for an architecture, each of them once, on all cores. The machine code leads back to `places`. They
/// are part of the key in the cache: after a declaration has moved to other lines, earlier code would lead profilers
/// astray.
pub(crate) fn compile(
    sources: &[&Source],
    places: &Places,
    architecture: &str,
    compiler: Compiler<'_>,
) -> Result<Vec<Compiled>, CudaError> {
    let mut distinct: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, source) in sources.iter().enumerate() {
        check_needs(source, architecture)?;
        distinct.entry(&source.text).or_default().push(at);
    }
    let jobs: Vec<Vec<usize>> = distinct.into_values().collect();
    let done =
        in_parallel(jobs.len(), |job| compiler.one(sources[jobs[job][0]], places, architecture));
    let mut all: Vec<Option<Compiled>> = sources.iter().map(|_| None).collect();
    for (job, result) in jobs.iter().zip(done) {
        let compiled = result?;
        for at in job {
            all[*at] = Some(compiled.clone());
        }
    }
    Ok(all.into_iter().flatten().collect())
}

/// Returns the resources of a multiprocessor that kernels take, as their compiler reports them: no card is needed.
/// Machine code is kept in the cache of the user.
///
/// # Errors
/// If there is no compiler, if the architecture cannot run a kernel, or if one is rejected.
pub fn resources(
    sources: &[Source],
    places: &Places,
    architecture: &str,
) -> Result<Vec<Resources>, CudaError> {
    let cache = Cache::of_user();
    let compiler = Compiler::new(None, cache.as_ref())?;
    let sources: Vec<&Source> = sources.iter().collect();
    let compiled = compile(&sources, places, architecture, compiler)?;
    let first = |c: Compiled| c.kernels.into_iter().next().unwrap_or_default();
    Ok(compiled.into_iter().map(first).collect())
}

/// Checks that an architecture, as in `sm_90`, can run a kernel; if its name does not tell, the compiler will.
///
/// # Errors
/// [`CudaError::Architecture`] if it cannot, with the way out.
pub fn check_needs(source: &Source, architecture: &str) -> Result<(), CudaError> {
    match capability(architecture) {
        Some(has) if has < source.needs => Err(CudaError::Architecture {
            kernel: source.name.clone(),
            needs: source.needs,
            architecture: architecture.to_string(),
        }),
        _ => Ok(()),
    }
}

/// Returns the results of a function for 0 to `count`, found on as many threads as there are cores.
pub(crate) fn in_parallel<R: Send>(count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(count);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return;
            }
            let result = work(at);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.insert(at, result);
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        // The end of a scope does not wait for the work that compilers and drivers leave to the end of a thread.
        for thread in threads {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
    let results = results.into_inner();
    let results = results.unwrap_or_else(PoisonError::into_inner);
    results.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_say_what_they_need() {
        let source = Source {
            name: "fluid".into(),
            text: String::new(),
            shared_bytes: 0,
            threads: [32, 1, 1],
            needs: (9, 0),
            line_notes: Vec::new(),
            line_origins: Vec::new(),
        };
        for able in ["sm_90", "sm_90a", "sm_100", "sm_103f", "sm_120", "any"] {
            assert!(check_needs(&source, able).is_ok(), "{able}");
        }
        for unable in ["sm_80", "sm_89", "compute_86"] {
            let error = check_needs(&source, unable).unwrap_err();
            let words = error.to_string();
            assert!(words.contains("`fluid`") && words.contains("use `loader=0`"), "{words}");
        }
    }
}
