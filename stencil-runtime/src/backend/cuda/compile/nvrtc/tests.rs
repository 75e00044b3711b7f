//! Tests of the search, of the log, and of real compilations where NVRTC can be had.

use std::path::Path;

use super::find::{Place, Search, builtins_beside, libraries_in};
use super::*;

/// Returns NVRTC; without it, prints a line on how to get it. If a folder is named it must work.
pub(crate) fn nvrtc() -> Option<&'static Nvrtc> {
    match Nvrtc::shared() {
        Ok(nvrtc) => Some(nvrtc),
        Err(error) if std::env::var_os(DIR_VARIABLE).is_none() => {
            println!("not compiled here; `cargo xtask nvrtc` fetches what is missing\n{error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

const AXPY: &str = r#"
extern "C" __global__ void axpy(float* __restrict__ y, const float* __restrict__ x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"#;

/// An asynchronous copy into shared memory, completed through an mbarrier, without any header.
const ASYNC_COPY: &str = r#"
#define DEV __device__ __forceinline__
DEV unsigned smem(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void __launch_bounds__(128) copy(const double* __restrict__ x, double* __restrict__ y) {
    __shared__ __align__(16) double tile[256];
    __shared__ __align__(8) unsigned long long bar;
    unsigned t = threadIdx.x, b = smem(&bar);
    if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(b), "r"(128) : "memory");
    __syncthreads();
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(smem(&tile[2 * t])), "l"(x + 2 * t) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(b) : "memory");
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(b) : "memory");
    y[t] = tile[255 - t] + tile[t];
}
"#;

#[test]
fn a_kernel_becomes_machine_code_with_known_resources() {
    let Some(nvrtc) = nvrtc() else { return };
    let compiled = nvrtc.compile(AXPY, "axpy.cu", "sm_90").unwrap();
    assert_eq!(&compiled.cubin[..4], b"\x7fELF");
    assert_eq!(compiled.kernels.len(), 1, "{}", compiled.log);
    let axpy = &compiled.kernels[0];
    assert_eq!(axpy.name, "axpy");
    assert!((4..=32).contains(&axpy.registers), "{}", compiled.log);
    assert!(!axpy.spills() && axpy.stack == 0 && axpy.shared_bytes == 0);
    assert!(nvrtc.version() >= (12, 0));
}

#[test]
fn asynchronous_copies_and_barriers_need_no_header() {
    let Some(nvrtc) = nvrtc() else { return };
    let compiled = nvrtc.compile(ASYNC_COPY, "copy.cu", "sm_90").unwrap();
    let copy = &compiled.kernels[0];
    assert_eq!((copy.shared_bytes, copy.barriers), (2056, 1), "{}", compiled.log);
}

#[test]
fn spills_are_seen() {
    let Some(nvrtc) = nvrtc() else { return };
    let loads: String = (0..64).map(|i| format!("double v{i} = x[{i} * n + t];\n")).collect();
    let stores: String =
        (0..64).map(|i| format!("x[{i} * n + t] = v{i} * v{};\n", 63 - i)).collect();
    let source = format!(
        "extern \"C\" __global__ void __launch_bounds__(1024, 2) big(double* x, int n) {{\n\
         int t = threadIdx.x;\n{loads}__syncthreads();\n{stores}}}\n"
    );
    let compiled = nvrtc.compile(&source, "big.cu", "sm_90").unwrap();
    let big = &compiled.kernels[0];
    assert!(big.spills() && big.stack > 0 && big.registers <= 32, "{}", compiled.log);
}

#[test]
fn a_rejected_kernel_brings_its_log_line_by_line() {
    let Some(nvrtc) = nvrtc() else { return };
    let source = "extern \"C\" __global__ void bad(float* y) {\n    y[0] = undefined_name;\n}\n";
    let error = nvrtc.compile(source, "momentum.cu", "sm_90").unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, NvrtcError::Compile { .. }));
    assert!(text.contains("momentum.cu(2): error"), "{text}");
    assert!(text.lines().count() > 3 && !text.contains("\\n"), "{text}");
}

#[test]
fn line_marks_lead_back_to_the_users_file() {
    let Some(nvrtc) = nvrtc() else { return };
    let source = "extern \"C\" __global__ void bad(float* y) {\n#line 41 \"fluid.pde\"\n    y[0] = lost;\n}\n";
    let text = nvrtc.compile(source, "momentum.cu", "sm_90").unwrap_err().to_string();
    assert!(text.contains("fluid.pde(41): error"), "{text}");
}

/// A text whose second line is wrong and belongs to line 41 of a file.
fn broken(statement: &str, file: &str) -> stencil_compiler::emit::Marked {
    use stencil_compiler::algorithm::text::parse;
    use stencil_compiler::emit::{Places, Source};
    let mut algorithm = parse(
        "algorithm Fluid 1d scheme \"any\" state q field fn q = state q\n\
         fn a = q @41:4-43:9 substep { q = a }",
    )
    .unwrap();
    algorithm.file = file.to_string();
    let text = format!(
        "extern \"C\" __global__ void bad(float* y) {{\n    {statement}\n    lost = 1;\n}}\n"
    );
    let source = Source {
        name: "bad".into(),
        text,
        shared_bytes: 0,
        threads: [1; 3],
        needs: (8, 0),
        line_notes: Vec::new(),
        line_origins: vec![(2, "a".into())],
    };
    source.marked(&Places::of(&algorithm), "momentum.cu")
}

#[test]
fn a_message_names_the_line_of_the_text_and_that_of_the_declaration() {
    let Some(nvrtc) = nvrtc() else { return };
    let marked = broken("y[0] = undefined_name;", "fluid.pde");
    let error = nvrtc.compile_marked(&marked, "momentum.cu", "sm_90");
    let text = error.unwrap_err().to_string();
    // The mark before it is a line of the text too.
    assert!(text.contains("momentum.cu(3) [fluid.pde:41]: error"), "{text}");
    assert!(text.contains("momentum.cu(5): error"), "{text}");
}

#[test]
fn a_warning_names_both_lines_and_the_code_keeps_its_lines() {
    let Some(nvrtc) = nvrtc() else { return };
    let mut marked = broken("int unused; y[0] = 1;", "fluid.pde");
    marked.text = marked.text.replace("lost = 1;", "");
    let compiled = nvrtc.compile_marked(&marked, "momentum.cu", "sm_90").unwrap();
    let log = &compiled.log;
    assert!(log.contains("momentum.cu(3) [fluid.pde:41]: warning"), "{log}");
    let names_the_file = |code: &[u8]| code.windows(9).any(|part| part == b"fluid.pde");
    assert!(names_the_file(&compiled.cubin));
}

#[test]
fn no_file_name_leaves_its_mark() {
    let Some(nvrtc) = nvrtc() else { return };
    for file in ["a\"b\\.pde", "x\n#error y", "c:\\new\\u0022.pde", "??/", "\\", "\"", "ä ß.pde"]
    {
        let mut marked = broken("y[0] = 1;", file);
        marked.text = marked.text.replace("lost = 1;", "");
        let compiled = nvrtc.compile_marked(&marked, "momentum.cu", "sm_90");
        assert!(compiled.is_ok(), "{file:?}: {compiled:?}");
    }
    let marked = broken("y[0] = undefined_name;", "a\"b\\.pde");
    let error = nvrtc.compile(&marked.text, "momentum.cu", "sm_90").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("a'b/.pde(41): error"), "{text}");
}

#[test]
fn multiply_adds_are_not_contracted() {
    let Some(nvrtc) = nvrtc() else { return };
    let explicit = AXPY.replace("a * x[i] + y[i]", "__fadd_rn(__fmul_rn(a, x[i]), y[i])");
    let plain = nvrtc.compile(AXPY, "axpy.cu", "sm_90").unwrap();
    assert!(plain == nvrtc.compile(&explicit, "axpy.cu", "sm_90").unwrap());
}

#[test]
fn many_threads_compile_at_once() {
    let Some(nvrtc) = nvrtc() else { return };
    let alone = nvrtc.compile(AXPY, "axpy.cu", "sm_90").unwrap();
    std::thread::scope(|scope| {
        let runs: Vec<_> =
            (0..4).map(|_| scope.spawn(|| nvrtc.compile(AXPY, "axpy.cu", "sm_90"))).collect();
        for run in runs {
            assert!(run.join().unwrap().unwrap() == alone, "differs when compiled beside others");
        }
    });
}

#[test]
fn wrong_input_is_an_error_before_nvrtc_sees_it() {
    let Some(nvrtc) = nvrtc() else { return };
    for arch in ["compute_90", "90", "sm_", ""] {
        let error = nvrtc.compile(AXPY, "axpy.cu", arch).unwrap_err();
        assert_eq!(error, NvrtcError::Architecture { arch: arch.to_owned() });
    }
    assert_eq!(nvrtc.compile("\0", "a.cu", "sm_90"), Err(NvrtcError::ZeroByte { what: "source" }));
    let unknown = nvrtc.compile(AXPY, "axpy.cu", "sm_12345").unwrap_err();
    assert!(matches!(unknown, NvrtcError::Compile { .. }), "{unknown}");
}

#[test]
fn a_version_above_the_drivers_is_passed_over() {
    let Some(nvrtc) = nvrtc() else { return };
    let Some(folder) = nvrtc.path().parent().filter(|folder| folder.is_absolute()) else {
        return;
    };
    let search = Search { own: Some(folder.to_path_buf()), ..Search::default() };
    assert!(Nvrtc::search(&search, Some(nvrtc.version().0)).is_ok());
    let text = Nvrtc::search(&search, Some(nvrtc.version().0 - 1)).unwrap_err().to_string();
    assert!(text.contains("too new for the driver"), "{text}");
}

#[test]
fn a_failed_search_names_each_place_and_the_cure() {
    let search = Search { own: Some("/no/such/folder".into()), ..Search::default() };
    let text = Nvrtc::search(&search, None).unwrap_err().to_string();
    for part in ["/no/such/folder: No such file", "pip install nvidia-cuda-nvrtc", DIR_VARIABLE] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_library_that_is_not_nvrtc_is_an_error() {
    let folder = std::env::temp_dir().join(format!("stencil-nvrtc-fake-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("libnvrtc.so.13"), b"not a library").unwrap();
    let search = Search { own: Some(folder.clone()), ..Search::default() };
    let error = Nvrtc::search(&search, None).unwrap_err();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(&error, NvrtcError::NotFound { tried } if tried.len() == 1), "{error}");
    if cfg!(target_os = "linux") {
        let error = Nvrtc::open_file(Path::new("libc.so.6")).unwrap_err();
        assert!(matches!(error, NvrtcError::Symbol { symbol: "nvrtcVersion", .. }), "{error}");
    }
}

/// Sizes that no memory has, and one that a memory might.
#[cfg(target_os = "linux")]
#[test]
fn absurd_sizes_are_an_error() {
    let source = "
        typedef unsigned long size;
        int nvrtcVersion(int *a, int *b) { *a = 12; *b = 6; return 0; }
        int nvrtcCreateProgram(void **p, char *s, char *n, int c, void *h, void *i) { *p = &*s; return 0; }
        int nvrtcDestroyProgram(void **p) { return 0; }
        int nvrtcCompileProgram(void *p, int c, char **o) { return 0; }
        int nvrtcGetProgramLogSize(void *p, size *n) { *n = LOG; return 0; }
        int nvrtcGetProgramLog(void *p, char *l) { return 0; }
        int nvrtcGetCUBINSize(void *p, size *n) { *n = CUBIN; return 0; }
        int nvrtcGetCUBIN(void *p, char *c) { return 0; }
        char *nvrtcGetErrorString(int e) { return \"none\"; }";
    let folder = std::env::temp_dir().join(format!("stencil-nvrtc-sizes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("fake.c"), source).unwrap();
    for (at, (log, cubin, call)) in [
        ("-1", "8", "nvrtcGetProgramLog"),
        ("1L << 40", "8", "nvrtcGetProgramLog"),
        ("8", "-1", "nvrtcGetCUBIN"),
        ("8", "1L << 32", "nvrtcGetCUBIN"),
        ("8", "8", ""),
    ]
    .into_iter()
    .enumerate()
    {
        let library = folder.join(format!("libnvrtc.so.{at}"));
        let mut command = std::process::Command::new("cc");
        command.arg(format!("-DLOG={log}")).arg(format!("-DCUBIN={cubin}"));
        command.args(["-w", "-shared", "-fPIC", "fake.c", "-o"]).arg(&library);
        if !command.current_dir(&folder).status().is_ok_and(|status| status.success()) {
            eprintln!("skipped: this machine has no C compiler");
            return;
        }
        let nvrtc = Nvrtc::open_file(&library).unwrap();
        let compiled = nvrtc.compile("", "fake.cu", "sm_90");
        match compiled {
            Ok(_) => assert_eq!(call, ""),
            Err(NvrtcError::Size { call: found, .. }) => assert_eq!(found, call),
            Err(other) => panic!("{other}"),
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn places_are_tried_in_the_documented_order() {
    let root = std::env::temp_dir().join(format!("stencil-nvrtc-order-{}", std::process::id()));
    for python in ["python3.9", "python3.11"] {
        std::fs::create_dir_all(root.join("lib").join(python).join("site-packages")).unwrap();
    }
    let search =
        Search { own: None, environments: vec![root.clone()], toolkits: vec!["/opt/cuda".into()] };
    let places = search.places();
    std::fs::remove_dir_all(&root).unwrap();
    let folder = |path: &str| Place::Folder(root.join(path));
    assert_eq!(places[0], folder("lib/python3.11/site-packages/nvidia/cu13/lib"));
    assert_eq!(places[3], folder("lib/python3.9/site-packages/nvidia/cu13/lib"));
    assert_eq!(places[7], Place::Folder("/opt/cuda/lib64".into()));
    assert_eq!(places[9..], ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"].map(Place::Name));
}

#[test]
fn the_newest_library_of_a_folder_comes_first() {
    let folder = std::env::temp_dir().join(format!("stencil-nvrtc-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for name in [
        "libnvrtc.so.12",
        "libnvrtc.so.13",
        "libnvrtc.alt.so.13",
        "libnvrtc-builtins.so.13.0",
        "libnvrtc_static.a",
    ] {
        std::fs::write(folder.join(name), b"").unwrap();
    }
    let files = libraries_in(&folder).unwrap();
    let builtins = builtins_beside(&files[0]);
    std::fs::remove_dir_all(&folder).unwrap();
    let names: Vec<_> =
        files.iter().chain(&builtins).filter_map(|file| file.file_name()?.to_str()).collect();
    assert_eq!(names, ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc-builtins.so.13.0"]);
    assert!(builtins_beside(Path::new("libnvrtc.so")).is_empty());
}

#[test]
fn the_log_is_read_kernel_by_kernel() {
    let log = "\
momentum.cu(3): warning #177-D: variable \"k\" was declared but never referenced
ptxas info    : 4 bytes gmem
ptxas info    : Compiling entry function 'advance' for 'sm_90'
ptxas info    : Function properties for advance
ptxas         .     48 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 255 registers, used 2 barriers, 48 bytes cumulative stack size, 1234 bytes smem, 400 bytes cmem[0]
ptxas info    : Compile time = 21.000 ms
ptxas info    : Function properties for helper
ptxas         .     96 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Compiling entry function 'fill' for 'sm_90'
ptxas info    : Function properties for fill
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers
";
    let advance = Resources {
        name: "advance".to_owned(),
        registers: 255,
        spill_stores: 16,
        spill_loads: 24,
        stack: 48,
        shared_bytes: 1234,
        barriers: 2,
    };
    let fill = Resources { name: "fill".to_owned(), registers: 10, ..Resources::default() };
    assert_eq!(parse_resources(log), [advance, fill]);
    assert!(parse_resources("").is_empty());
    assert_eq!(super::log::without_times(log).lines().count(), log.lines().count() - 1);
}
