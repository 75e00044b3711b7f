//! The end of a process while one of its threads compiles: destructors of NVRTC run then, and the thread would crash.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Compilations in progress.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A compilation in progress, until it is dropped. A process that ends meanwhile ends at once, with its own status and without
/// the destructors of libraries.
pub(super) struct InProgress(());

impl InProgress {
    pub(super) fn begin() -> Self {
        COUNT.fetch_add(1, Ordering::SeqCst);
        at_end::register();
        InProgress(())
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod at_end {
    use std::ffi::{c_int, c_void};
    use std::ptr;
    use std::sync::atomic::Ordering;

    use super::COUNT;

    unsafe extern "C" {
        fn on_exit(call: extern "C" fn(c_int, *mut c_void), with: *mut c_void) -> c_int;
        fn _exit(status: c_int) -> !;
    }

    extern "C" fn end(status: c_int, _: *mut c_void) {
        if COUNT.load(Ordering::SeqCst) > 0 {
            // SAFETY: the process ends here.
            unsafe { _exit(status) }
        }
    }

    /// Asks to be called at the end of the process, before all destructors that NVRTC has registered so far: the last one
    /// that asks is called first.
    pub(super) fn register() {
        // SAFETY: the function is there as long as the process. If there is no memory to note it, nobody calls it.
        unsafe { on_exit(end, ptr::null_mut()) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod at_end {
    /// Other systems call nobody with the status.
    pub(super) fn register() {}
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use std::process::{self, Command};
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::backend::cuda::compile::nvrtc::tests::nvrtc;

    /// The variable that makes this test the process that ends.
    const ENDS: &str = "STENCIL_TEST_ENDS_AFTER_MS";

    /// A kernel that takes a while to compile.
    fn long() -> String {
        let lines = "x = sin(x*x + 0.5);\n".repeat(60);
        format!(
            "extern \"C\" __global__ void long_one(double* a) {{ double x = a[0];\n{lines}a[0] = x; }}"
        )
    }

    #[test]
    fn a_process_that_ends_amid_a_compilation_has_its_own_status() {
        let Some(nvrtc) = nvrtc() else {
            return;
        };
        if let Ok(after) = std::env::var(ENDS) {
            thread::spawn(|| while nvrtc.compile(&long(), "long.cu", "sm_90").is_ok() {});
            while COUNT.load(Ordering::SeqCst) == 0 {
                thread::yield_now();
            }
            thread::sleep(Duration::from_millis(after.parse().unwrap()));
            process::exit(7);
        }
        let own = "backend::cuda::compile::nvrtc::ending::tests::a_process_that_ends_amid_a_compilation_has_its_own_status";
        for after in [0, 20, 60, 120, 250] {
            let mut child = Command::new(std::env::current_exe().unwrap());
            let ended = child.args(["--exact", own]).env(ENDS, after.to_string()).output().unwrap();
            assert_eq!(ended.status.code(), Some(7), "after {after} ms: {ended:?}");
        }
    }
}
