//! The table of error codes. A code, once shipped, keeps its meaning.

use std::fmt;

/// One row for each error: name, code, title, and an explanation with the way out.
macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal, $explanation:literal;)*) => {
        /// A stable error code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $title] $name,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// The code as printed, such as `P0101`.
            pub fn text(self) -> &'static str {
                match self { $(Code::$name => $code),* }
            }

            /// A title of a few words.
            pub fn title(self) -> &'static str {
                match self { $(Code::$name => $title),* }
            }

            /// One paragraph for the user who meets the error.
            pub fn explanation(self) -> &'static str {
                match self { $(Code::$name => $explanation),* }
            }
        }
    };
}

codes! {
    NotAToken = "P0001", "not a token",
        "The text cannot be split into Rust tokens: a character that Rust does not know (`∇`, `∂`), a lone quote, or a bracket without its partner. Write `grad(f)` for ∇f and `d[x](f)` for ∂f/∂x.";
    Syntax = "P0002", "syntax error",
        "Something else was expected here. Items of a system end in `;` and are `field`, `conserved`, `param`, `source`, `let`, `ddt(..) = ..`, `flux` and `observe`; beside them there are `fn`, `primitive`, `face`, `average`, `waves`, `riemann` and `cfl`, which end in `}`.";
    TooDeep = "P0003", "nested too deeply",
        "The expression nests more operations or parentheses than the compiler accepts: name parts of it with `let`. A chain of `let`s, each made of the previous one, has at most 2000, and derivatives nest at most 16 deep, `lap` counting as two: declare the result of eight Laplacians as a field of its own.";
    Trailing = "P0004", "text after the end",
        "The input holds one `system` and its `scheme`s, and nothing else.";
    Unsupported = "P0005", "not part of the language yet",
        "The word is planned or known from other tools, but this version of the language does not have it. The message names its replacement, if there is one.";
    Juxtaposition = "P0006", "two operands without an operator",
        "`2 u` and `(a) (b)` are not products: write `2*u` and `(a) * (b)`.";
    BadNumber = "P0007", "number cannot be held exactly",
        "Numbers are read as exact fractions with 127-bit parts: decimal digits, at most about 38 of them, with an optional decimal exponent, and no type suffix. The default of a parameter may be any finite number of 64 bits, such as `1.054571817e-34`; defaults and bounds may also be expressions of numbers.";
    BadExponent = "P0008", "exponent is not a small integer",
        "The exponent of `^` is a literal integer from -64 to 64. A power of a power needs parentheses. Other exponents: `sqrt(a)`, `cbrt(a)`, `pow(a, b)`.";
    TooLarge = "P0009", "expands to too much",
        "Functions are expanded where they are called and loops are unrolled; there may be at most 4096 calls and as many intermediate expressions, and the value of a source repeats at most 20000 operations. Name a result that is used often with `let`, and shorten the loops.";
    BadLoop = "P0010", "loop that cannot be unrolled",
        "A loop is `for i in 0..8 { .. }` or `for i in 0..8 { ..; until(a < b); }` with literal integers, and one call of a function goes through at most 64 iterations.";
    IfWithoutElse = "P0011", "`if` without `else`",
        "An `if` is an expression and has a value in every cell: write `if a > b { c } else { d }`.";
    NotACondition = "P0012", "condition in place of a number, or the reverse",
        "An `if` needs a comparison (`<`, `<=`, `>`, `>=`, `==`, `!=`), or several joined by `&&`, `||` and `!( .. )`. A comparison is not a number: write `if a > b { 1 } else { 0 }`.";
    UnknownName = "P0101", "unknown name",
        "The name is not a field, parameter, source, `let` or function of this system. Names are case-sensitive and local to their system.";
    GluedName = "P0102", "one word to Rust",
        "Rust reads `u·v` as one identifier and `2nu` as one literal with a suffix. Write `dot(u, v)` and `2*nu`.";
    DuplicateName = "P0103", "name declared twice",
        "Fields, parameters, sources, `let`s, functions and observables of a system share one name space, and its schemes another. Arguments and locals of a function may hide parameters, but not each other.";
    BadName = "P0104", "name cannot be used",
        "Names go into generated Rust, C and device source. They have at most 60 ASCII letters, digits and single underscores, start with a letter, and are not words of these languages or of this one (`x`, `t`, `dt`, `grad`, ..).";
    UsedBeforeDefinition = "P0105", "used before its definition",
        "A `let` uses only what is defined above it, and equations use only the `let`s and functions above them. A function calls only functions above it, and never itself. Move the definition up.";
    NoEquation = "P0106", "field without an equation",
        "Every field evolves: give it `ddt(field) = ..;`, or make it a `param` if it is constant. A `conserved` field may have a flux alone.";
    TwoEquations = "P0107", "field with two equations",
        "A field has one equation. Add the right-hand sides.";
    NotAField = "P0108", "only fields evolve",
        "The argument of `ddt(..)` on the left is the name of a field.";
    WrongUse = "P0109", "name of another kind",
        "A function needs its arguments, and a field, parameter, source or `let` takes none: write `f * (a + b)` for a product.";
    NotVisible = "P0110", "name that is not visible here",
        "A function sees its arguments, its own `let`s, the parameters and `t`; the value of a source is made of parameters, `x`, `y`, `z`, `t` and `let`s of such; defaults and bounds of parameters are made of numbers. Pass fields to a function as arguments, and put terms with fields into the equations.";
    NotPointwise = "P0111", "derivative where only pointwise expressions may stand",
        "Functions, values of sources, formulas and constants are evaluated cell by cell and take no derivatives. Pass the derivative to the function as an argument: `limiter(d[x](f))`.";
    NotMutable = "P0112", "assignment to a name that cannot change",
        "Only a local name of a function that was declared with `let mut` can be assigned to.";
    NoSlopeOfCall = "P0113", "slope of a function that is not written out",
        "`d[q](f(q, n))` is the slope of the function `f` by its scalar argument `q`, in equations and in functions that they call. It is written out by the rules of differentiation, through branches and loops of a known number of iterations. A loop with `until` has no such rule: write a function of its own for its slope.";
    RankMismatch = "P0201", "ranks do not fit",
        "Scalars, vectors and tensors add only to their own kind, and at least one factor of `*` is a scalar. Contract with `dot`, build with `outer`, take components with `u.x`. All vectors of a system have equally many components: one for each axis (`vector`) or three (`vector<3>`).";
    NoSuchComponent = "P0204", "no such component",
        "A vector has one component for each axis (`u.x`), a tensor one for each pair of axes (`t.xy`). The axes are x in 1d, x and y in 2d, x, y and z in 3d; a `vector<3>` has x, y and z in any of them.";
    ArgumentCount = "P0205", "wrong number of arguments",
        "The function takes another number of arguments.";
    WrongDimension = "P0206", "not in this number of dimensions",
        "The system has another number of dimensions: `curl` and `cross` exist in 3d and for `vector<3>`, and a stack `[a, b]` has one entry for each component of a vector.";
    DivisionByZero = "P0207", "division by zero",
        "The divisor is a literal zero, or a constant that is zero.";
    OutOfBounds = "P0208", "default outside its bounds",
        "The default of a parameter does not satisfy its own `where`.";
    BadSpeed = "P0209", "unknown or repeated speed",
        "A system has at most one `cfl { .. }`, with `advective`, `diffusive`, `dispersive` and `hyperdiffusive`, each at most once.";
    BadReduction = "P0210", "not a reduction",
        "An observable is one of `sum`, `mean`, `max` and `min` of one scalar: `observe energy = mean(dot(u, u)/2);`.";
    Dimensions = "P0211", "number of dimensions is not chosen",
        "A system that is declared `in nd` is read for one number of dimensions at a time: in Rust `Name::<2>`, in a problem file `dimension = 2`. A system with a fixed number has no other.";
    BadWaves = "P0212", "waves that do not fit",
        "A system with fluxes has at most one `waves { flow: u; sound: c; }`: along each axis no wave is slower than that component of the flow less the sound, and none faster than their sum. The flow is a vector, the sound a scalar or a vector; the one that is not given is zero. Solvers that resolve the contact also need `density: rho; pressure: p;`: scalars, the pressure a `let` that the fluxes are made of.";
    NoFlux = "P0213", "flux and conserved field that do not fit",
        "A `conserved` field needs a flux: `conserved h: scalar; flux h -> m;`. A `field` has none; its equation may have `div(..)`.";
    NotAtFaces = "P0214", "term without a value at a face",
        "Fluxes and speeds of waves are functions of fields, sources, parameters and `t` at one point, so that they have values at faces; derivatives belong to `ddt(..)`. Ranges, primitive variables and values that `face` recomputes follow from fields alone: sources belong to fluxes, to `waves` and to `ddt(..)`.";
    NoWayBack = "P0215", "conserved field that does not follow from primitives",
        "States at faces may be made of primitive variables if every conserved field follows from them: it is a primitive itself (`rho;`), or the block gives its value (`m = rho*u;`).";
    BadPrimitive = "P0216", "variables that do not fit",
        "A system with fluxes has at most one `primitive { rho; u; p; m = rho*u; E = ..; }`. A primitive is a field or a `let`, named once. A line with `=` gives a field that is conserved, or shared at faces, by primitives, parameters, `t`, fields without flux, and `let`s of these. The same holds for `average { h; u by sqrt(h); m = h*u; }`, whose variables may have weights.";
    BadRange = "P0217", "range that cannot be kept",
        "Fluxes are repaired so that conserved fields keep their ranges: `conserved rho: scalar where rho > 0;`, or `let p = .. where p > 0;` for a function of conserved fields at one point. Only scalars have ranges.";
    BadFace = "P0218", "values that both sides of a face cannot share",
        "A system with primitives has at most one `face { bed by max; h = max(surface - bed, 0); }`. `bed by max;` gives both sides of a face the greater (`max`) or the smaller (`min`) of their values of a scalar field without flux. `h = ..;` recomputes a primitive with it on each side, from primitives, parameters, `t` and fields without flux.";
    NotASlope = "P0219", "derivative that cannot be integrated through faces",
        "A field with one value at faces jumps there. Equations of conserved fields may contain products with its slope, a first derivative of the field alone, `grad(bed)` or `d[x](bed)`, times a function of fields at one point. Sums of such products and of other terms are allowed.";
    BadSolver = "P0220", "Riemann solver with missing or wrong results",
        "A system with fluxes may have solvers of its own: `riemann name { let .. = ..; rho = ..; u = ..; p = ..; }`. A solver gives the state at a face, as all primitives or all conserved fields and every other field that the fluxes are made of, or it gives `flux rho -> ..;` for all conserved fields. Or it gives waves, `wave strength at speed { rho = ..; m = ..; }`, that the jumps of conserved fields add up of, or, with `flux rho -> ..;` in each, those of their fluxes. Its terms are made of `below.p`, `above.p`, `normal`, parameters and `t`.";
    OtherPlace = "P0225", "values at different places of a cell",
        "Components of a `face field` lie on faces and those of an `edge field` on edges; all others lie in the centres of cells. In a system with such fields a first derivative leads halfway: from centres to faces, and from faces to centres. Sums, products and functions are of values at one place, and an equation has the place of its field. `to_cells(..)`, `to_faces(..)` and `to_edges(..)` interpolate. A face field is a vector, an edge field a vector or a tensor.";
    SchemeForOther = "P0310", "scheme for another system",
        "The name after `for` is the name of the system beside it.";
    BadSchemeKey = "P0311", "unknown or repeated setting of a scheme",
        "A scheme has `space`, `mixed`, `arith` and `time`, and for conserved fields `riemann`, `reconstruct`, `sweep`, `source` and `repair`, each at most once.";
    BadOrder = "P0312", "no such order",
        "Central differences exist in the orders 2, 4, 6, 8 and 10.";
    UnknownChoice = "P0313", "unknown choice in a scheme",
        "The setting has a fixed list of choices; the message lists them.";
    NeedsWaves = "P0314", "Riemann solver without speeds of waves",
        "The Riemann solver needs the speeds of waves, or bounds of them. They are derived from the fluxes if they are a flow, and speeds that differ from it by a sound. Otherwise declare `waves { flow: ..; sound: ..; }`, or choose a solver that needs none, `force` or `musta`.";
    NeedsPrimitives = "P0315", "primitives of a system that has none",
        "The scheme reconstructs primitive variables. The system has to declare them, and the conserved fields that follow from them: `primitive { rho; u; p; m = rho*u; E = ..; }`. If it also declares values that both sides of a face share, states are made of primitives: `reconstruct: plm in primitive`.";
    NeedsContact = "P0316", "Riemann solver without density and pressure",
        "The Riemann solver resolves the contact, the middle wave, which moves with the flow: write `waves { flow: u; sound: c; density: rho; pressure: p; }`, or choose a solver that needs the speeds only, `hll`.";
    NeedsWholeSteps = "P0317", "wave propagation with settings that do not go with it",
        "The scheme corrects waves in place of states. It needs a Riemann solver that splits jumps into waves, `riemann: roe` or `hlle`, whole steps, `time: euler`, and conserved variables, since its second order in time is in the fluxes.";
    NeedsEulerSteps = "P0318", "range with an integrator that is not made of Euler steps",
        "Ranges are kept by Euler steps, and by averages of such steps: `time: euler`, `ssprk2` and others whose names begin with `ssprk`. Stages of other methods leave a range whatever the fluxes are.";
    NeedsOthersFluxes = "P0319", "fluxes reconstructed for a Riemann solver that makes its own",
        "`reconstruct: .. in fluxes` gives the fluxes on both sides of a face. It goes with solvers that add these and a multiple of the jump: `rusanov`, `hll`, `hlle` and `roe`. Other solvers make states, between both sides or in time, whose fluxes do not have the order of the reconstruction: choose `in conserved` for these.";
    NeedsForecasts = "P0320", "forecast of fluxes with a system or settings that do not go with it",
        "The time integrator forecasts fluxes through faces: `van_leer` moves the means of cells by fluxes of first order, `muscl_hancock` and `corner_transport` the states at faces. It needs a system with fluxes, and the last two need states that fluxes are made of: neither `in fluxes` nor `face { .. }`. `ppm<follow = characteristics>` moves states at faces, and needs one of the last two.";
    ComponentClash = "P0401", "two components with one name",
        "Components of vectors and tensors have names of their own (`u` has `u_x`), and integrators keep arrays beside each field (`u_x_acc`, `u_x_new`). No field, source or parameter may have such a name.";
    CoefficientRange = "P0402", "coefficient out of range",
        "Coefficients are exact fractions of 128-bit integers. Products of numbers with many digits leave that range: write fewer digits, or make one of them a `param`.";
    NotSymmetric = "P0403", "right-hand side without the field's symmetry",
        "The right-hand side of a symmetric tensor field is symmetric, and that of an antisymmetric one antisymmetric, for any values of the fields. Write `sym(..)`, or declare the field a `tensor`.";
    CoordinateOutsideSource = "P0404", "coordinate outside of a source",
        "Equations hold everywhere alike. A value that depends on the place is declared as a source: `source name: scalar = sin(x);`, and the equations use its name. A `let` may depend on the place for sources below it.";
    NotContactForm = "P0405", "flux that is not advection and the work of a pressure",
        "The Riemann solver assumes the flux `flow * q + p * d` along each axis: conserved quantities move with the flow, and the pressure is multiplied by a number or by the flow. Fluxes of gases and of shallow water have this form; those of magnetic fields and of waves in solids do not. The pressure is the `let` that `waves` names: use its name in the fluxes, or choose `hll` if they have other terms.";
    WrongWayBack = "P0406", "primitives that are not recovered from conserved fields",
        "The blocks `primitive { .. }` and `average { .. }` give conserved fields by their variables, and these are `let`s of conserved fields. Each has to undo the other: `let u = m/rho;` goes with `m = rho*u;`. The same holds for `face { .. }`: if both sides are alike, a recomputed value is the old one. This is checked with numbers.";
    OtherWaves = "P0407", "waves with other speeds than the declared ones",
        "The scheme splits jumps into waves and needs the speeds of all of them: `flow`, `flow - sound` and `flow + sound` along each axis, as they are for gases, for shallow water and for sound. Bounds are not enough. Leave `waves` out to have them derived, or choose `hll`, for which bounds will do.";
    OtherFlux = "P0408", "Riemann solver with another flux between equal states",
        "Between two equal states, a solver has to give the `flux` of that state. A solver of the system is checked with numbers: it has to give that state itself, or the flux `dot(normal, f)`, where `f` is the declared one.";
    NotTransported = "P0409", "field on faces with a flux or settings that do not go with it",
        "A conserved field on faces, `face conserved b: vector;`, is transported by fluxes through edges, so that its divergence stays. Its flux is antisymmetric: `let c = to_cells(b); flux b -> outer(u, c) - outer(c, u);`. It goes with reconstruction of conserved or primitive variables in unsplit steps, without repaired fluxes.";
    OtherJump = "P0412", "waves of a solver that do not add up to the jump",
        "A solver that gives waves takes the jump between both sides of a face apart. The vectors of its waves, times their strengths, add up to the jump of the conserved fields, and with their speeds as factors to the jump of the fluxes and the path integrals of products; vectors written with `flux` add up to the latter. The compiler checks this with numbers. Waves whose speeds and vectors are approximate are written with `flux`: then the sum is exact for any speeds.";
    NeedsPaths = "P0413", "product with slopes in a scheme that does not integrate it",
        "A `product` is integrated along a path between both sides of a face. It goes with solvers that add the fluxes of both sides and a multiple of the jump, `rusanov`, `hll`, `hlle` and `roe`, and with solvers of the system that give fluxes or waves; and with every reconstruction of states.";
    NoPossibleState = "P0414", "Riemann solver that no state was found for",
        "A solver of the system is checked with numbers, at states inside of the ranges (`where`) that have finite waves and fluxes. None was found among those that were drawn. Values of the primitives are drawn if the system declares `primitive { .. }`, and those of the conserved fields follow; otherwise conserved fields are drawn, and few of these have a positive pressure.";
    UnstableSolver = "P0415", "Riemann solver by which small waves grow",
        "The limits of steps assume that a solver smears no less than upwind fluxes and by no more than the fastest speed. A solver of the system is made linear about some possible states, and refused if an Euler step of first order, in which the fastest wave crosses a cell, makes a small wave larger (von Neumann's condition). States outside of declared ranges (`where`) tell nothing. The mean of both sides smears nothing: it is stable for no step. Look for a wrong sign, for a wave that is taken from the wrong side, and for speeds that are too slow, or too fast, such as `norm(u) + c` in place of `abs(dot(u, normal)) + c`. A solver that is stable for shorter steps goes with a faster speed for these, `cfl { advective: ..; }`.";
    NotToml = "F0001", "not TOML",
        "A problem file is TOML: lines `key = value`, sections `[name]`, text in quotes, lists in brackets, comments after `#`.";
    NoSuchSetting = "F0101", "unknown name in a problem file",
        "There is no such key, section, system, scheme, field, parameter or choice. Names are case-sensitive.";
    MissingSetting = "F0102", "missing setting",
        "A setting that has no default is not given. A problem needs `system`, `mesh.cells`, initial values, `time.dt`, and `time.end` or `time.steps`.";
    WrongKind = "F0103", "value of another kind",
        "The setting is a number, a string, a list or a table, and the file has another kind of value.";
    BadSetting = "F0104", "value that cannot be used",
        "The value has the right kind, but is not allowed: a number that is negative, not finite or outside the bounds of its parameter, an order that does not exist, a plane outside the mesh.";
    WrongCount = "F0105", "wrong number of values",
        "A list has one value for each axis, or for each component of a field.";
    Contradiction = "F0106", "settings that contradict each other",
        "One setting excludes the other: an axis is periodic on both faces or on none, `cfl(..)` needs speeds that the system declares in `cfl { .. }`, a spectrum needs a periodic velocity.";
    CannotRead = "F0201", "file cannot be read",
        "A file that the problem or the command names does not exist or cannot be read. Paths in a problem begin at the folder of its file, and others at the current folder. Pipes and devices are not read.";
    BadData = "F0202", "arrays that do not fit",
        "A file of initial values has an array for each component (`rho`, `u_x`, `u_y`), of the shape [z, y, x] of the mesh, as f32 or f64.";
    FolderInUse = "R0101", "folder in which another run writes",
        "Two runs in one folder would overwrite each other's files. The one that began first continues; give the other one a folder of its own with `--out`, or use `--number` to take the next free name.";
    FolderUsed = "R0102", "folder that holds files of a run",
        "A folder holds one run, so that no file is mistaken for one of another run. `--number` goes into the next free folder (`NAME-2`, `NAME-3`, ..), `--overwrite` removes the files of the earlier run first, and `--out` names another folder. `--restart` with a state of the folder goes on there if its settings are the same.";
    CannotWrite = "R0201", "file cannot be written",
        "The system refused to write: the disk is full, a limit of size is reached, or you have no permission. Files get their names when they are complete, so earlier ones are whole.";
    Damaged = "R0202", "damaged or foreign data",
        "The file is cut off, was changed after it was written, or has other contents than expected. Files of runs end in a checksum of all their bytes, so that a single changed bit shows. Take another state of the run, such as a frame with all fields.";
    NoState = "R0203", "no state to continue from",
        "A run continues from a file that a run of the same system, scheme, precision and number of cells wrote: `final.npz`, `interrupted.npz`, `last_good.npz`, or a frame with all fields. Arrays of other programs are initial values: give them as `[init] file = ..`.";
    TooMuchMemory = "R0301", "more memory than the machine has",
        "The sizes of all arrays of a run are added up before any is allocated. Use the number of cells that the message names, `f32` in place of `f64`, or `keep_last = false`, which takes about a third less.";
    TooLongAStep = "R0401", "time step longer than is stable",
        "Values would grow without bound, by waves from cell to cell that do not solve the equations. The message names the term or the speed that limits the step most about the state in a cell, the longest stable step, and a number below it: write that as `dt`, or give a part of the limit, `dt = \"cfl(0.8)\"`, where `cfl(1)` is the limit itself, or `dt = \"auto\"`. The limit is that of a periodic mesh with constant coefficients; `--unchecked-step` insists on a longer step.";
    NoStableStep = "R0402", "scheme that is stable for no time step",
        "Differences and integrator do not go together. Oscillations, such as advection with central differences and sound, grow at every step of `euler` and `ssprk2` unless something damps them, and so do fluxes of `weno5` with `euler`. Choose one of the integrators that the message names.";
}

impl Code {
    /// The code that is printed as `text`.
    pub fn from_text(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.text() == text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
