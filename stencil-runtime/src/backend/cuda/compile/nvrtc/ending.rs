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
