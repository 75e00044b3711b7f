//! Problems: a system with a mesh, initial values, an end and pictures. One problem file each, and
//! one line in [`ALL`].

use stencil_runtime::Error;
use stencil_runtime::problem::{Change, Problem, ProblemError};

use crate::systems;

/// A problem file that is part of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name, without `.toml`.
    pub name: &'static str,
    /// One line: the title in the file.
    pub summary: &'static str,
    /// The name of its system, as in the file.
    pub system: &'static str,
    /// The whole file.
    pub text: &'static str,
}

macro_rules! problem {
    ($name:literal) => {{
        let text = include_str!(concat!($name, ".toml"));
        BuiltIn {
            name: $name,
            summary: quoted(text, b"title = \""),
            system: quoted(text, b"system = \""),
            text,
        }
    }};
}

/// Every problem; the first one is the default of the command line.
pub static ALL: &[BuiltIn] = &[
    problem!("explosion"),
    problem!("shear"),
    problem!("shear_layers"),
    problem!("sound"),
    problem!("taylor_green"),
    problem!("orszag_tang"),
    problem!("alfven"),
    problem!("gray_scott"),
    problem!("wave_packet"),
    problem!("crystal_pulse"),
    problem!("solitons"),
    problem!("burgers"),
    problem!("rotation"),
    problem!("slotted_disk"),
    problem!("heat_blob"),
    problem!("sod"),
    problem!("lax"),
    problem!("toro_1"),
    problem!("toro_2"),
    problem!("toro_3"),
    problem!("toro_4"),
    problem!("toro_5"),
    problem!("shu_osher"),
    problem!("blast"),
    problem!("sedov"),
    problem!("four_states"),
    problem!("double_mach"),
    problem!("jet"),
    problem!("vortex"),
    problem!("viscous_shock"),
    problem!("turbulence"),
    problem!("kelvin_helmholtz"),
    problem!("relativistic_blast"),
    problem!("relativistic_shell"),
    problem!("relativistic_streams"),
    problem!("fireball"),
    problem!("dam_break"),
    problem!("stoker"),
    problem!("ritter"),
    problem!("island"),
    problem!("bowl"),
    problem!("fresh_water"),
    problem!("acoustic_pulse"),
    problem!("acoustic_ball"),
    problem!("refraction"),
    problem!("red_light"),
    problem!("ideal_vortex"),
    problem!("magnetic_blast"),
    problem!("magnetic_rotor"),
    problem!("field_loop"),
    problem!("ideal_alfven"),
    problem!("brio_wu"),
];

impl BuiltIn {
    /// Reads the problem, with some settings changed.
    ///
    /// ```
    /// use stencil_runtime::problem::Change;
    ///
    /// let problem = physics::problems::find("heat_blob")?.open(&[Change::set("mesh.cells=16")])?;
    /// let mut simulation = problem.builder::<f64>().build()?;
    /// problem.initialize(&mut simulation)?;
    /// simulation.run_until(problem.time.end.unwrap(), |_, _| ())?;
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a change has mistakes; the error lists all.
    pub fn open(&self, changes: &[Change]) -> Result<Problem, ProblemError> {
        let source = format!("{}.toml", self.name);
        Problem::parse(&source, self.text, "", &systems::library(), changes)
    }
}

/// Returns the problem of this name; `-` and `_` are alike.
///
/// ```
/// assert_eq!(physics::problems::find("taylor-green")?.name, "taylor_green");
/// # Ok::<(), stencil_runtime::Error>(())
/// ```
///
/// # Errors
/// If there is none; the error lists all.
pub fn find(name: &str) -> Result<&'static BuiltIn, Error> {
    let plain = name.replace('-', "_");
    let names = ALL.iter().map(|p| p.name);
    let found = ALL.iter().find(|p| p.name == plain);
    found.ok_or_else(|| Error::unknown("the standard library", "problem", name, names))
}

/// Returns the text in quotes after the first occurrence of a key.
const fn quoted(text: &'static str, key: &[u8]) -> &'static str {
    let bytes = text.as_bytes();
    let (mut at, mut matched) = (0, 0);
    while matched < key.len() {
        matched = match (bytes[at] == key[matched], bytes[at] == key[0]) {
            (true, _) => matched + 1,
            (false, true) => 1,
            (false, false) => 0,
        };
        at += 1;
    }
    let mut end = at;
    while bytes[end] != b'"' {
        end += 1;
    }
    text.split_at(end).0.split_at(at).1
}
