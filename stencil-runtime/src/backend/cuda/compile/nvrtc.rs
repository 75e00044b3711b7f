//! NVRTC, opened at run time: CUDA text in, machine code and its resources out.
//!
//! Nothing here needs a GPU, a driver or a toolkit, so every generated kernel can be compiled to
//! machine code, with its registers and spills known, on a machine that cannot run it.
//! `docs/adr/0001-nvrtc-loader.md` explains why this is a loader of our own.

mod ending;
mod find;
mod log;
mod marked;
#[cfg(test)]
pub(crate) mod tests;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;

use libloading::Library;

use ending::InProgress;
use find::{Place, Search};

pub use log::{Resources, parse_resources};

/// The environment variable that names the folder of NVRTC.
pub const DIR_VARIABLE: &str = "STENCIL_NVRTC_DIR";

/// The reason why NVRTC could not be opened, or why it refused a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NvrtcError {
    /// No usable library in any of the places searched.
    #[error("{}", not_found(tried))]
    NotFound {
        /// Each place tried, in order, and the fault found there.
        tried: Vec<(PathBuf, String)>,
    },
    /// A library that lacks a function we need: too old, or not NVRTC at all.
    #[error("{} lacks {symbol} ({reason}); NVRTC 12.0 or newer is needed", path.display())]
    Symbol {
        /// The library that was opened.
        path: PathBuf,
        /// The missing function.
        symbol: &'static str,
        /// The system loader's own words.
        reason: String,
    },
    /// An architecture for which there is no machine code.
    #[error(
        "`{arch}` names no GPU architecture; write `sm_` and the compute capability, as in `sm_90`"
    )]
    Architecture {
        /// The architecture asked for.
        arch: String,
    },
    /// A zero byte in a text, which C would take for its end.
    #[error("the {what} of a kernel contains a zero byte")]
    ZeroByte {
        /// The text with the zero byte: `source`, `name` or `option`.
        what: &'static str,
    },
    /// The compiler rejected the source.
    #[error("NVRTC rejected `{name}` for {arch} ({reason})\n{log}")]
    Compile {
        /// The name given to the source, which is the file name in the log.
        name: String,
        /// The architecture asked for.
        arch: String,
        /// NVRTC's status in words.
        reason: String,
        /// The compiler's messages, with line numbers.
        log: String,
    },
    /// A library that announces more bytes than any kernel has.
    #[error(
        "{call} announces {bytes} bytes, and at most {most} are expected: {} is damaged or no NVRTC; set STENCIL_NVRTC_DIR to the folder of another one",
        path.display()
    )]
    Size {
        /// The function of NVRTC.
        call: &'static str,
        /// The bytes that it announces.
        bytes: usize,
        /// The most bytes that are expected.
        most: usize,
        /// The library.
        path: PathBuf,
    },
    /// Another call failed, for example for lack of memory.
    #[error("{call} failed with status {status} ({reason})")]
    Call {
        /// The function of NVRTC.
        call: &'static str,
        /// Its status.
        status: i32,
        /// The status in words.
        reason: String,
    },
}

fn not_found(tried: &[(PathBuf, String)]) -> String {
    let mut text =
        String::from("no usable NVRTC (NVIDIA's run-time compiler); tried, in this order:\n");
    for (place, reason) in tried {
        text.push_str(&format!("  {}: {reason}\n", place.display()));
    }
    text.push_str(
        "Either run `pip install nvidia-cuda-nvrtc` in an active Python environment, \
         or set STENCIL_NVRTC_DIR to the folder that holds libnvrtc.so.",
    );
    text
}

/// Machine code of one source text, with the compiler's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The CUBIN: an image that the driver loads as it is.
    pub cubin: Vec<u8>,
    /// The compiler's log: warnings, then the resources of each kernel.
    pub log: String,
    /// The resources of each kernel, in the order of the log.
    pub kernels: Vec<Resources>,
}

/// An opened NVRTC. Compiles from many threads at once without a common lock.
#[derive(Debug)]
pub struct Nvrtc {
    api: Api,
    path: PathBuf,
    version: (i32, i32),
    // Kept open for as long as the function pointers of `api` may be called.
    _libraries: Vec<Library>,
}

impl Nvrtc {
    /// The NVRTC of this process, opened at the first call. A failure is not remembered.
    pub fn shared() -> Result<&'static Self, NvrtcError> {
        static SHARED: OnceLock<Nvrtc> = OnceLock::new();
        if let Some(opened) = SHARED.get() {
            return Ok(opened);
        }
        let opened = Self::open()?;
        Ok(SHARED.get_or_init(|| opened))
    }

    /// The NVRTC of this process for a driver that speaks CUDA `major`: see
    /// [`open_up_to`](Self::open_up_to). Opened at the first call.
    pub fn shared_up_to(major: i32) -> Result<&'static Self, NvrtcError> {
        static SHARED: OnceLock<Nvrtc> = OnceLock::new();
        if let Some(opened) = SHARED.get() {
            return Ok(opened);
        }
        let opened = Self::open_up_to(major)?;
        Ok(SHARED.get_or_init(|| opened))
    }

    /// Opens the first usable NVRTC: `STENCIL_NVRTC_DIR` alone if it is set, else the active Python environment, the
    /// CUDA toolkit, and the libraries of the system loader.
    pub fn open() -> Result<Self, NvrtcError> {
        Self::search(&Search::from_env(), None)
    }

    /// The same, passing over every NVRTC whose major version is above `major`: a driver loads no
    /// machine code from a newer major version than its own.
    pub fn open_up_to(major: i32) -> Result<Self, NvrtcError> {
        Self::search(&Search::from_env(), Some(major))
    }

    fn search(search: &Search, limit: Option<i32>) -> Result<Self, NvrtcError> {
        let mut tried = Vec::new();
        for place in search.places() {
            let files = match &place {
                Place::Folder(folder) => match find::libraries_in(folder) {
                    Ok(files) => files,
                    Err(reason) => {
                        tried.push((folder.clone(), reason));
                        continue;
                    }
                },
                Place::Name(name) => vec![PathBuf::from(name)],
            };
            for file in files {
                match Self::open_file(&file) {
                    Ok(found) if limit.is_some_and(|limit| found.version.0 > limit) => {
                        tried.push((
                            file,
                            format!("is version {}, too new for the driver", found.version.0),
                        ));
                    }
                    Ok(found) => return Ok(found),
                    Err(NvrtcError::NotFound { tried: here }) => tried.extend(here),
                    Err(error) => tried.push((file, error.to_string())),
                }
            }
        }
        Err(NvrtcError::NotFound { tried })
    }

    /// Opens one library: an absolute path, or a bare name for the system loader.
    pub fn open_file(path: &Path) -> Result<Self, NvrtcError> {
        let unusable =
            |reason: String| NvrtcError::NotFound { tried: vec![(path.to_path_buf(), reason)] };
        // NVRTC opens its builtins by bare name. Once they are open under their own path, the
        // loader finds them by that name, and no LD_LIBRARY_PATH is needed.
        let mut libraries: Vec<Library> = Vec::new();
        for builtins in find::builtins_beside(path) {
            // SAFETY: NVIDIA's library of tables; its initializers have no preconditions.
            libraries.extend(unsafe { Library::new(&builtins) }.ok());
        }
        // SAFETY: the initializers of NVRTC have no preconditions; a file of that name which is
        // something else is beyond what can be checked before opening it.
        let library = unsafe { Library::new(path) }.map_err(|error| unusable(error.to_string()))?;
        let api = Api::load(&library, path)?;
        let version = api.version()?;
        libraries.push(library);
        Ok(Self { api, path: path.to_path_buf(), version, _libraries: libraries })
    }

    /// The library that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Major and minor version, as in `(13, 0)`.
    pub fn version(&self) -> (i32, i32) {
        self.version
    }

    /// Compiles `source` to machine code of exactly `arch`, such as `sm_90`. `name` stands for the
    /// file name in messages. No multiply-add is contracted: rounding is fixed before this.
    pub fn compile(&self, source: &str, name: &str, arch: &str) -> Result<Compiled, NvrtcError> {
        self.compile_with(source, name, arch, &[])
    }

    fn compile_with(
        &self,
        source: &str,
        name: &str,
        arch: &str,
        more: &[&str],
    ) -> Result<Compiled, NvrtcError> {
        if !arch
            .strip_prefix("sm_")
            .is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
        {
            return Err(NvrtcError::Architecture { arch: arch.to_owned() });
        }
        let _in_progress = InProgress::begin();
        let options = options(self.version, arch, more)?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let program = Program::new((&self.api, &self.path), source, name)?;
        let count = pointers.len() as c_int;
        // SAFETY: the program is live, and `pointers` holds `count` texts that outlive the call.
        let status = unsafe { (self.api.compile)(program.handle, count, pointers.as_ptr()) };
        let log = program.log()?;
        if status != 0 {
            let reason = self.api.words(status);
            return Err(NvrtcError::Compile {
                name: name.to_owned(),
                arch: arch.to_owned(),
                reason,
                log,
            });
        }
        let cubin = program.cubin()?;
        let kernels = parse_resources(&log);
        Ok(Compiled { cubin, log, kernels })
    }
}

/// Bytes of machine code or of a log at most; the largest kernels have a few MiB.
const MOST_BYTES: usize = 1 << 28;

/// The first version with a cache of its own, whose hits come without a log.
const CACHES: (i32, i32) = (13, 0);

fn options(version: (i32, i32), arch: &str, more: &[&str]) -> Result<Vec<CString>, NvrtcError> {
    let arch = format!("--gpu-architecture={arch}");
    let always = [arch.as_str(), "--fmad=false", "--std=c++17", "--ptxas-options=-v"];
    let uncached: &[&str] = match version >= CACHES {
        true => &["--no-cache"],
        false => &[],
    };
    let all = always.iter().chain(uncached).chain(more);
    all.map(|option| c_text("option", option)).collect()
}

fn c_text(what: &'static str, text: &str) -> Result<CString, NvrtcError> {
    CString::new(text).map_err(|_| NvrtcError::ZeroByte { what })
}

/// A status is an integer, never a Rust enum: an unknown one from a newer NVRTC must stay defined.
type Status = c_int;
type Handle = *mut c_void;
type Texts = *const *const c_char;

type VersionFn = unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status;
type CreateFn =
    unsafe extern "C" fn(*mut Handle, *const c_char, *const c_char, c_int, Texts, Texts) -> Status;
type DestroyFn = unsafe extern "C" fn(*mut Handle) -> Status;
type CompileFn = unsafe extern "C" fn(Handle, c_int, Texts) -> Status;
type SizeFn = unsafe extern "C" fn(Handle, *mut usize) -> Status;
type BytesFn = unsafe extern "C" fn(Handle, *mut c_char) -> Status;
type WordsFn = unsafe extern "C" fn(Status) -> *const c_char;

/// The functions of NVRTC, looked up once, so that a missing one is an error at opening.
#[derive(Clone, Copy, Debug)]
struct Api {
    version: VersionFn,
    create: CreateFn,
    destroy: DestroyFn,
    compile: CompileFn,
    log_size: SizeFn,
    log: BytesFn,
    cubin_size: SizeFn,
    cubin: BytesFn,
    words: WordsFn,
}

impl Api {
    fn load(library: &Library, path: &Path) -> Result<Self, NvrtcError> {
        // SAFETY: each name is asked for with the type that NVRTC's header declares for it.
        unsafe {
            Ok(Self {
                version: symbol(library, path, "nvrtcVersion")?,
                create: symbol(library, path, "nvrtcCreateProgram")?,
                destroy: symbol(library, path, "nvrtcDestroyProgram")?,
                compile: symbol(library, path, "nvrtcCompileProgram")?,
                log_size: symbol(library, path, "nvrtcGetProgramLogSize")?,
                log: symbol(library, path, "nvrtcGetProgramLog")?,
                cubin_size: symbol(library, path, "nvrtcGetCUBINSize")?,
                cubin: symbol(library, path, "nvrtcGetCUBIN")?,
                words: symbol(library, path, "nvrtcGetErrorString")?,
            })
        }
    }

    fn version(&self) -> Result<(i32, i32), NvrtcError> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are valid for writing for the length of the call.
        let status = unsafe { (self.version)(&mut major, &mut minor) };
        self.check("nvrtcVersion", status)?;
        Ok((major, minor))
    }

    fn check(&self, call: &'static str, status: Status) -> Result<(), NvrtcError> {
        match status {
            0 => Ok(()),
            status => Err(NvrtcError::Call { call, status, reason: self.words(status) }),
        }
    }

    fn words(&self, status: Status) -> String {
        // SAFETY: the function takes any integer.
        let text = unsafe { (self.words)(status) };
        if text.is_null() {
            return "no words for it".to_owned();
        }
        // SAFETY: a text that is not null is static and ends in a zero byte.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

/// Looks a function up.
///
/// # Safety
/// `T` must be the function pointer type that the library's header declares for `name`.
unsafe fn symbol<T: Copy>(
    library: &Library,
    path: &Path,
    name: &'static str,
) -> Result<T, NvrtcError> {
    // SAFETY: the caller answers for the type.
    match unsafe { library.get::<T>(name.as_bytes()) } {
        Ok(found) => Ok(*found),
        Err(error) => Err(NvrtcError::Symbol {
            path: path.to_path_buf(),
            symbol: name,
            reason: error.to_string(),
        }),
    }
}

/// A program of NVRTC, destroyed on every way out.
struct Program<'a> {
    api: &'a Api,
    path: &'a Path,
    handle: Handle,
}

impl<'a> Program<'a> {
    fn new((api, path): (&'a Api, &'a Path), source: &str, name: &str) -> Result<Self, NvrtcError> {
        let (source, name) = (c_text("source", source)?, c_text("name", name)?);
        let mut handle = ptr::null_mut();
        // SAFETY: both texts outlive the call, which copies them; no headers are passed.
        let status = unsafe {
            (api.create)(&mut handle, source.as_ptr(), name.as_ptr(), 0, ptr::null(), ptr::null())
        };
        api.check("nvrtcCreateProgram", status)?;
        Ok(Self { api, path, handle })
    }

    fn log(&self) -> Result<String, NvrtcError> {
        let api = self.api;
        let bytes = self.bytes("nvrtcGetProgramLog", api.log_size, api.log)?;
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        Ok(log::without_times(&String::from_utf8_lossy(&bytes[..end])))
    }

    fn cubin(&self) -> Result<Vec<u8>, NvrtcError> {
        self.bytes("nvrtcGetCUBIN", self.api.cubin_size, self.api.cubin)
    }

    fn bytes(&self, call: &'static str, size: SizeFn, get: BytesFn) -> Result<Vec<u8>, NvrtcError> {
        let mut count = 0;
        // SAFETY: the program is live and `count` is valid for writing.
        let status = unsafe { size(self.handle, &mut count) };
        self.api.check(call, status)?;
        let too_large = || NvrtcError::Size {
            call,
            bytes: count,
            most: MOST_BYTES,
            path: self.path.to_path_buf(),
        };
        let mut bytes = Vec::new();
        if count > MOST_BYTES || bytes.try_reserve_exact(count).is_err() {
            return Err(too_large());
        }
        bytes.resize(count, 0_u8);
        // SAFETY: NVRTC writes exactly the number of bytes that it has just named.
        let status = unsafe { get(self.handle, bytes.as_mut_ptr().cast()) };
        self.api.check(call, status)?;
        Ok(bytes)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle came from `create` and is destroyed only here.
        unsafe { (self.api.destroy)(&mut self.handle) };
    }
}
