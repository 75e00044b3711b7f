//! The table of all settings of a problem file.

/// One setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The section; empty at the top of the file.
    pub section: &'static str,
    /// The key. `NAME` stands for names of the system.
    pub key: &'static str,
    /// A line as it may stand in a file.
    pub example: &'static str,
    /// Its meaning, and its default.
    pub meaning: &'static str,
}

const fn key(
    section: &'static str,
    key: &'static str,
    example: &'static str,
    meaning: &'static str,
) -> Key {
    Key { section, key, example, meaning }
}

/// Every setting, in the order of a file.
///
/// ```
/// use stencil_runtime::problem::KEYS;
/// assert!(KEYS.iter().any(|k| k.section == "mesh" && k.key == "cells"));
/// ```
pub const KEYS: &[Key] = &[
    key(
        "",
        "title",
        r#"title = "Decaying vortex""#,
        "one line for lists and pictures; the file's name if not given",
    ),
    key(
        "",
        "system",
        r#"system = "gray_scott.pde""#,
        "a file beside this one, a system of the library, or the declaration itself",
    ),
    key(
        "",
        "dimension",
        "dimension = 2",
        "for a system `in nd`: its number of dimensions; the length of mesh.cells if not given",
    ),
    key(
        "",
        "scheme",
        r#"scheme = { order = 4, time = "rk4" }"#,
        "a scheme of the system by name, or changes of its first one: space, order, mixed, arith, time, riemann, reconstruct, sweep, source, repair, path",
    ),
    key("", "precision", r#"precision = "f32""#, "`f32` or `f64`, which is the default"),
    key(
        "mesh",
        "cells",
        "cells = [128, 128]",
        "the number of cells along each axis; one number is for all axes",
    ),
    key(
        "mesh",
        "extent",
        r#"extent = [2.5, "2*pi"]"#,
        "the length of the box along each axis; 1 if not given",
    ),
    key(
        "mesh",
        "origin",
        "origin = [0, 0]",
        "coordinates of the lower corner of the box if `centered`, else of the first cell; 0 if not given",
    ),
    key(
        "mesh",
        "centered",
        "centered = true",
        "points are at origin + (i + 1/2) h, not at origin + i h; true if not given and a face is not periodic, else false",
    ),
    key(
        "mesh",
        "patches",
        "patches = [2, 1]",
        "patches along each axis, which differ by a cell at most and change no bit; one for each device if not given",
    ),
    key(
        "mesh",
        "devices",
        "devices = 2",
        "devices that share the patches: a number, cards such as [0, 1], or \"all\" cards; without `patches` the mesh is cut into a box for each; they change no bit; 1 if not given",
    ),
    key(
        "mesh",
        "stream",
        "stream = \"auto\"",
        "whether the mesh stays in the memory of the host and passes through its device slab by slab: \"off\", \"auto\" if a card has no room for it, or the number of steps that a slab does each time; it changes no bit; \"off\" if not given",
    ),
    key(
        "boundary",
        "NAME",
        r#"y = { lo = "wall", hi = "outflow" }"#,
        "the boundary condition on the faces of an axis x, y or z; periodic if not given",
    ),
    key("params", "NAME", r#"nu = 1e-3"#, "a parameter; the system's default if not given"),
    key(
        "let",
        "NAME",
        r#"r = "sqrt(x^2 + y^2)""#,
        "a name for an expression, for the expressions below it and in other sections",
    ),
    key(
        "random",
        "NAME",
        r#"noise = { kind = "solenoidal", spectrum = "k^4*exp(-k^2/8)", band = [1, 8], rms = 0.1, seed = 1 }"#,
        "a random field for [init], the same in all directions: a vector noise_x, noise_y, .. that is solenoidal, which is the default, compressive or mixed, a scalar, or white noise in cells",
    ),
    key(
        "init",
        "file",
        r#"file = "ic.npz""#,
        "initial values: an array [z, y, x] for each component",
    ),
    key(
        "init",
        "NAME",
        r#"u = ["sin(y)", 0]"#,
        "initial values of a field or component, instead of the file's; those of [exact] if not given, else 0; { potential = [0, 0, \"cos(x)\"] } for a field on faces",
    ),
    key(
        "source",
        "NAME",
        r#"f_x = "sin(t)""#,
        "a source of the system; its declared value if not given",
    ),
    key(
        "exact",
        "NAME",
        r#"u_x = "sin(x - t)""#,
        "the exact solution: errors are computed at the end",
    ),
    key(
        "time",
        "dt",
        r#"dt = "cfl(0.4)""#,
        "the time step: a number; a formula of the parameters and of the smallest spacing h; cfl(number), a part of the longest stable step by the speeds of the system; or auto, 0.8 of the longest stable step, which needs no cfl block. A step beyond the stability limit is refused",
    ),
    key(
        "time",
        "cfl_axes",
        r#"cfl_axes = "max""#,
        "the longest step, of which cfl(number) is a part: sum, the stability limit of waves along all axes together; or max, the limit of the strictest axis alone, as in some codes",
    ),
    key(
        "time",
        "unchecked_step",
        "unchecked_step = true",
        "does steps beyond the stability limit, too",
    ),
    key(
        "time",
        "cfl_limit",
        "cfl_limit = 0.9",
        "the largest Courant number of a step at its end, with dt = \"cfl(..)\"; a step that exceeds it is done again, shorter",
    ),
    key(
        "time",
        "keep_last",
        "keep_last = false",
        "whether the fields before a step are kept, to go back to if a value is not finite; true if not given. Without them a run takes about a third less memory, and a card checks values after each step",
    ),
    key(
        "time",
        "look_every",
        "look_every = 100",
        "the number of steps after which a card checks that values are finite: 32 if not given, or 1 with keep_last = false; fused steps are then done one by one",
    ),
    key(
        "time",
        "end",
        "end = 2000",
        "the time at which the run ends; the last step is shortened to meet it",
    ),
    key(
        "time",
        "steps",
        "steps = 4000",
        "the number of steps after which the run ends; 0 for the initial state alone",
    ),
    key(
        "time",
        "wall",
        r#"wall = "3h55m""#,
        "the time on the wall, from the start of the command, after which the run writes its state and ends with exit code 124, to be continued; none if not given",
    ),
    key(
        "output",
        "dir",
        r#"dir = "out/gs""#,
        "the folder for all files; `out/` and the problem's name if not given",
    ),
    key(
        "output",
        "every",
        "every = 100",
        "steps between frames; no frames without `every` and `every_time`",
    ),
    key(
        "output",
        "every_time",
        "every_time = 0.1",
        "time between frames, in place of `every`: the first step that ends at a multiple of it, or after, is a frame; no step is shortened",
    ),
    key(
        "output",
        "format",
        r#"format = ["npz", "vtkhdf", "zarr"]"#,
        "the formats of frames, one or several: `npz` for NumPy, `vtkhdf` for ParaView, `zarr` for xarray; npz if not given",
    ),
    key(
        "output",
        "fields",
        r#"fields = ["U"]"#,
        "fields or components in frames; all if not given",
    ),
    key(
        "output",
        "slice",
        r#"slice = "z = 0.5""#,
        "the plane of cells that frames are of; the whole mesh if not given",
    ),
    key(
        "output",
        "precision",
        r#"precision = "f32""#,
        "the precision of values in frames; that of the run if not given",
    ),
    key(
        "output",
        "compress",
        "compress = 1",
        "the level at which frames in npz and zarr are deflated, from 1 (fast) to 9 (small); not at all if not given",
    ),
    key(
        "output",
        "series_every",
        "series_every = 10",
        "steps between rows of series.csv; 10 if not given",
    ),
    key(
        "output",
        "spectrum",
        "spectrum = true",
        "write the energy spectrum of the vector `u` at the end",
    ),
    key(
        "checkpoint",
        "every_steps",
        "every_steps = 1000",
        "steps between states on the way; the three conditions may be combined; no states if none is given",
    ),
    key(
        "checkpoint",
        "every_time",
        "every_time = 0.5",
        "simulated time between states: one follows the step that reaches a multiple of it, and no step is shortened",
    ),
    key("checkpoint", "every_minutes", "every_minutes = 30", "minutes on the wall between states"),
    key(
        "checkpoint",
        "keep",
        "keep = 3",
        "the number of these states that stay, the last ones; 2 if not given",
    ),
    key(
        "plot",
        "value",
        r#"value = "exp(lnrho)""#,
        "a formula of components, coordinates, t and parameters; or, with derivatives, an expression of the language such as `d[x](u.y) - d[y](u.x)`",
    ),
    key(
        "plot",
        "slice",
        r#"slice = "z = 0.5""#,
        "the plane of the picture; planes through the middle of a box if not given",
    ),
    key(
        "plot",
        "file",
        r#"file = "density""#,
        "the picture's name, without folders: pictures stay in the folder of the run; pictures of one name become panels of one",
    ),
    key(
        "plot",
        "title",
        r#"title = "density""#,
        "the line above the picture; the value if not given",
    ),
    key("plot", "label", r#"label = "ρ""#, "the label of the colours; the value if not given"),
    key(
        "plot",
        "map",
        r#"map = "magma""#,
        "the colours: viridis, magma, inferno, plasma, cividis, diverging or cyclic; diverging if values of both signs have some weight, else viridis, if not given",
    ),
    key("plot", "log", "log = true", "colours by the decimal logarithm of the value"),
    key(
        "plot",
        "range",
        "range = [0, 1]",
        "the values at both ends of the colours; those of the picture if not given",
    ),
];

/// The sections, in the order of a file.
pub(super) const SECTIONS: &[&str] = &[
    "mesh",
    "boundary",
    "params",
    "let",
    "random",
    "init",
    "source",
    "exact",
    "time",
    "output",
    "checkpoint",
    "plot",
];

/// Returns the keys of a section that have fixed names.
pub(super) fn of(section: &str) -> impl Iterator<Item = &'static str> + Clone {
    KEYS.iter().filter(move |k| k.section == section && k.key != "NAME").map(|k| k.key)
}

/// Returns a line that sets a setting as an example.
pub(super) fn example(section: &str, key: &str) -> &'static str {
    let found = KEYS.iter().find(|k| k.section == section && k.key == key);
    let named = || KEYS.iter().find(|k| k.section == section && k.key == "NAME");
    found.or_else(named).map_or("", |k| k.example)
}
