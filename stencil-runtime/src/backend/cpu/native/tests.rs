//! Compiled programs have the bits of the row engine, and whatever is missing or damaged is told.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::compiler::CCompiler;
use super::store::Store;
use super::store::tests::folder;
use super::*;
use crate::{Axis, Boundary, Engine, Program, Simulation, SystemDef};

fn workshop(folder: &Path) -> Workshop {
    let path = std::env::var_os("PATH").unwrap();
    let compiler = CCompiler::among(None, &path);
    let compiler = compiler.expect("a C compiler, as CONTRIBUTING.md asks for");
    Workshop { compiler, store: Store::at(&folder.join("programs")).unwrap() }
}

fn system(text: &str) -> SystemDef {
    SystemDef::from_text("test.pde", text).unwrap()
}

/// Differences, all selections and functions, infinities and signed zeros.
const EVERYTHING: &str = "
    pub system Everything in 2d {
        field q: scalar; field v: vector; param k: real = 0.1;
        fn limited(a: scalar, b: scalar) -> scalar { if a*b > 0 { max(min(a, b), -b) } else { -a/(4 + b*b) } }
        ddt(q) = k * lap(q) - dot(v, grad(q)) + limited(q, v.x) + exp(-q^2) * tanh(v.y) + atan2(q, v.x) / 9;
        ddt(v) = -grad(sqrt(abs(q)) + log(1 + q^2) + cbrt(q) + sin(q) * cosh(v.x)) + k * grad(div(v));
    }
    scheme s for Everything { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }";

const LAW: &str = "
    pub system Burgers in 3d {
        conserved q: scalar;
        flux q -> q^2/2 * diagonal(I);
        waves { flow: q*diagonal(I); }
    }
    scheme s for Burgers { reconstruct: weno5; riemann: hll; time: ssprk3; }";

const LINE: &str = "
    pub system Line in 1d { field q: scalar; ddt(q) = -d[x](q) + d[x](d[x](q))/100; }
    scheme s for Line { space: central<order = 8>; time: rk4; }";

/// A loop that ends by a test, in each lane by itself, and one whose test need not hold.
const LOOPS: &str = "
    pub system Loops in 1d {
        field q: scalar;
        fn root(a: scalar) -> scalar {
            let mut x = 1 + abs(a);
            for i in 0..30 {
                let step = (x^2 - 1 - abs(a))/(2*x);
                x = x - step;
                until(abs(step) <= 8*epsilon*x);
            }
            x
        }
        ddt(q) = lap(q)/100 - root(8*q)*q;
    }
    scheme s for Loops { space: central<order = 4>; time: rk3_williamson; }";

/// Returns the bits after some steps, by the row engine or by a compiled program.
fn bits<T: Number>(
    system: &SystemDef,
    (cells, wall): ([usize; 3], bool),
    (instructions, engine): (Instructions, Engine),
) -> Vec<u64> {
    let mut run = Simulation::<T>::builder(system).cells(cells).dt(1e-3).unchecked_step(true);
    if wall {
        run = run.boundary(Axis::X, Boundary::wall());
    }
    let mut run = run.engine(engine).instructions(instructions).threads(2).build().unwrap();
    assert_eq!(run.engine(), engine);
    let fields: Vec<String> = run.system().components().into_iter().map(|c| c.name).collect();
    for (i, field) in fields.iter().enumerate() {
        let shift = i as f64 / 5.0;
        run.set(field, |x, y, z| {
            ((7.0 * x + shift).sin() * (6.0 * y + z).cos() * 8.0).round() / 8.0
        })
        .unwrap();
    }
    run.run(3, |_, _| ()).unwrap();
    run.bits().unwrap()
}

fn engines_agree<T: Number>(workshop: &Workshop, text: &str, cells: [usize; 3]) {
    let system = system(text);
    let of = (system.algorithm(), system.schedule());
    for instructions in Instructions::available() {
        let checked = Checked::new(instructions).unwrap();
        let kernels = match workshop.program::<T>(of, checked) {
            Ok(kernels) => kernels,
            Err(reason) => {
                assert!(instructions == Instructions::Baseline, "{reason}");
                assert!(reason.contains("no fused multiply-adds"), "{reason}");
                continue;
            }
        };
        let compiled = system.with_kernels(kernels);
        for wall in [false, true] {
            let on = (cells, wall);
            let rows = bits::<T>(&system, on, (instructions, Engine::Rows));
            let own = bits::<T>(&compiled, on, (instructions, Engine::Compiled));
            assert!(rows == own, "{} {cells:?} {} {instructions:?}", system.name(), T::NAME);
        }
    }
}

#[test]
fn compiled_programs_have_the_bits_of_the_row_engine() {
    let folder = folder("bits");
    let workshop = workshop(&folder);
    // Rows shorter than a register, of some registers and a remainder, and of many.
    for (text, cells) in [
        (EVERYTHING, [13, 9, 1]),
        (EVERYTHING, [70, 11, 1]),
        (LAW, [37, 8, 9]),
        (LINE, [403, 1, 1]),
        (LOOPS, [67, 1, 1]),
    ] {
        engines_agree::<f32>(&workshop, text, cells);
        engines_agree::<f64>(&workshop, text, cells);
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_missing_or_failing_compiler_is_told() {
    let path = std::env::var_os("PATH").unwrap();
    let missing = |own: Option<&str>, path: &str| {
        let path = OsString::from(path);
        CCompiler::among(own.map(OsString::from), &path).unwrap_err()
    };
    assert_eq!(missing(None, "/no/such/folder"), "there is no C compiler (cc, gcc, clang)");
    assert_eq!(missing(None, ".:bin:"), "there is no C compiler (cc, gcc, clang)");
    assert_eq!(missing(Some(""), "/usr/bin"), "STENCIL_CC is empty");
    assert_eq!(missing(Some("/no/such/cc"), "/usr/bin"), "there is no compiler /no/such/cc");
    assert_eq!(missing(Some("bin/cc"), "/usr/bin"), "there is no compiler bin/cc");
    let fails = CCompiler::among(Some("false".into()), &path).unwrap_err();
    assert!(fails.ends_with("/false does not tell its version"), "{fails}");
    // A program that tells a version, and compiles nothing.
    let folder = folder("failing");
    let failing = CCompiler::among(Some("true".into()), &path).unwrap();
    let workshop = Workshop { compiler: failing, store: Store::at(&folder.join("p")).unwrap() };
    let system = system(LINE);
    let of = (system.algorithm(), system.schedule());
    let best = Checked::new(Instructions::best()).unwrap();
    if options(best.get()).is_ok() {
        let reason = workshop.program::<f32>(of, best).unwrap_err();
        assert!(reason.ends_with("/true failed: it gave no library"), "{reason}");
        assert_eq!(fs::read_dir(folder.join("p")).unwrap().count(), 0);
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn damaged_libraries_are_compiled_again() {
    let folder = folder("damaged");
    let (compiler, store) = {
        let Workshop { compiler, store } = workshop(&folder);
        (compiler, store)
    };
    let options = ["-shared", "-fPIC", "-x", "c"];
    let text = "int stencil_rows_0(void) { return 1; }";
    let keep = |key| store.keep(key, |to| compiler.compile(text, &options, to));
    keep("a").unwrap();
    assert!(store.find("a").is_some() && store.find("b").is_none());
    let files: Vec<_> = fs::read_dir(folder.join("programs")).unwrap().collect();
    let files: Vec<_> = files.into_iter().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 2);
    for file in &files {
        let whole = fs::read(file).unwrap();
        for damage in [vec![], whole[..whole.len() / 2].to_vec(), {
            let mut other = whole.clone();
            other[whole.len() / 2] ^= 1;
            other
        }] {
            fs::remove_file(file).unwrap();
            fs::write(file, damage).unwrap();
            assert!(store.find("a").is_none(), "{}", file.display());
        }
        keep("a").unwrap();
        assert!(store.find("a").is_some());
    }
    // A key of the same hash would have the same file: the whole of it is compared.
    let about = files.iter().find(|file| file.extension().unwrap() == "txt").unwrap();
    let text = fs::read_to_string(about).unwrap();
    fs::write(about, text.replace("\na", "\nb")).unwrap();
    assert!(store.find("a").is_none());
    fs::remove_dir_all(folder).unwrap();
}

#[cfg(unix)]
#[test]
fn folders_that_others_may_write_to_are_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder("open");
    let opened = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let at = |name: &str| Store::at(&folder.join(name)).map(|_| ());
    at("programs").unwrap();
    let mode = fs::metadata(folder.join("programs")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    opened(&folder.join("programs"), 0o770);
    assert!(at("programs").unwrap_err().contains("others may write to"));
    opened(&folder.join("programs"), 0o700);
    opened(&folder, 0o777);
    assert!(at("programs").unwrap_err().contains("others may write to"));
    opened(&folder, 0o1777);
    at("programs").unwrap();
    symlink(folder.join("programs"), folder.join("link")).unwrap();
    assert!(at("link").unwrap_err().contains("it is no folder"));
    fs::write(folder.join("file"), "").unwrap();
    assert!(at("file").unwrap_err().contains("cannot be used"));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_run_goes_on_by_the_program_and_tells_why_there_is_none() {
    let folder = folder("meanwhile");
    let system = system(EVERYTHING);
    let run = || {
        let run = Simulation::<f32>::builder(&system).cells([40, 30, 1]).dt(1e-3);
        let mut run = run.unchecked_step(true).build().unwrap();
        run.set("q", |x, y, _| x * y).unwrap();
        run
    };
    let mut rows = run();
    rows.run(6, |_, _| ()).unwrap();
    assert_eq!((rows.program(), rows.engine()), (Program::NotYet, Engine::Rows));
    let best = Checked::new(Instructions::best()).unwrap();
    let of = (system.algorithm(), system.schedule());
    let found = workshop(&folder).program::<f32>(of, best);
    let mut compiled = run();
    compiled.run(3, |_, _| ()).unwrap();
    compiled.found_program(found);
    compiled.run(3, |_, _| ()).unwrap();
    if options(best.get()).is_ok() {
        assert_eq!((compiled.program(), compiled.engine()), (Program::Since(3), Engine::Compiled));
    }
    assert!(compiled.bits().unwrap() == rows.bits().unwrap());
    let mut failed = run();
    failed.found_program(Err("no compiler".to_string()));
    failed.run(6, |_, _| ()).unwrap();
    assert_eq!(failed.program(), Program::Failed("no compiler".to_string()));
    assert!(failed.bits().unwrap() == rows.bits().unwrap());
    fs::remove_dir_all(folder).unwrap();
}
