//! NVRTC, and the machine code that it makes of a text.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use stencil_runtime::backend::cuda::nvrtc::{Nvrtc, Resources, parse_resources};

/// The architecture whose resources are pinned.
pub(super) const ARCH: &str = "sm_90";

/// Architectures, and the bytes of shared memory that a block may have there (CUDA C++ programming
/// guide, technical specifications by compute capability).
pub(super) const ARCHITECTURES: [(&str, usize); 3] =
    [("sm_80", 163 << 10), (ARCH, 227 << 10), ("sm_100", 227 << 10)];

/// Returns the compiler; without it, prints a line on how to get it. `cargo xtask test` always has it.
pub(super) fn compiler() -> Option<&'static Nvrtc> {
    match Nvrtc::shared() {
        Ok(compiler) => Some(compiler),
        Err(e) => {
            eprintln!("skipped, for want of NVRTC: {e}\n`cargo xtask nvrtc` fetches it");
            assert!(
                std::env::var_os("STENCIL_NVRTC_DIR").is_none(),
                "STENCIL_NVRTC_DIR is set but has no NVRTC"
            );
            None
        }
    }
}

pub(super) fn resources(nvrtc: &Nvrtc, text: &str, architecture: &str) -> Resources {
    let log = log(nvrtc, text, architecture);
    let found = parse_resources(&log).into_iter().next();
    found.unwrap_or_else(|| panic!("no resources in the log of\n{text}"))
}

/// Returns the log of the compiler, from a run of this test before if it was of the same text, architecture and
/// compiler. A text that does not compile leaves no log.
fn log(nvrtc: &Nvrtc, text: &str, architecture: &str) -> String {
    let ((major, minor), mark) = (nvrtc.version(), "\n// log\n");
    let made_from = format!("// NVRTC {major}.{minor}, {architecture}\n{text}{mark}");
    let mut hasher = DefaultHasher::new();
    made_from.hash(&mut hasher);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("device_code");
    let path = folder.join(format!("{:016x}.txt", hasher.finish()));
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    // The end shows that all of it was written.
    if let Some(log) = kept.strip_prefix(&made_from)
        && let Some(log) = log.strip_suffix("// end\n")
    {
        return log.to_string();
    }
    let compiled = nvrtc.compile(text, "kernel", architecture);
    let compiled = compiled.unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(!compiled.cubin.is_empty());
    let log = compiled.log;
    // Without the folder the next run takes longer, no more.
    let _ = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&path, format!("{made_from}{log}// end\n")));
    log
}
