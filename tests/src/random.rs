//! Random well-typed systems as text, the same for the same seed: cases that nobody would think of.

use std::fmt::Write as _;

use stencil_compiler::search::space::Draws;

/// Functions that systems call.
const FUNCTIONS: &str = "fn square(a: scalar) -> scalar { a*a }
fn distance(a: scalar, b: scalar) -> scalar { let c = a - b; sqrt(c*c) }
fn share(a: scalar, b: scalar) -> scalar { a*a/(1 + a*a + b^2) }
";

const AXES: [&str; 3] = ["x", "y", "z"];

/// Integrators of schemes.
const TIMES: [&str; 6] =
    ["euler", "ssprk2", "ssprk3", "rk3_williamson", "rk3_williamson<storage = accumulator>", "rk4"];

/// Returns a system of 1 to 3 dimensions and 1 to 8 components, with branches, nested derivatives, parameters and
/// sources, and a scheme of order 2 to 8.
pub fn system(seed: u64) -> String {
    Writer::new(seed, 2).written(seed)
}

/// Returns the same without sources and without derivatives of derivatives, none of which is taken more than twice: for
/// boundaries of every kind.
pub fn bounded_system(seed: u64) -> String {
    Writer::new(seed, 1).written(seed)
}

/// Returns the same of vectors with three components on meshes of one or two dimensions.
pub fn wide_system(seed: u64) -> String {
    let mut writer = Writer::new(seed, 2);
    writer.dimension = 1 + writer.below(2);
    writer.components = 3;
    writer.written(seed)
}

/// Returns numbers of cells along x, y, z that no tile divides, few enough for the interpreters.
pub fn cells(seed: u64, dimension: usize) -> [usize; 3] {
    let mut draws = Draws::new(seed ^ 0x5eed);
    let mut odd = |low: usize, more: u64| low + 2 * draws.below(more) as usize;
    match dimension {
        1 => [odd(19, 15), 1, 1],
        2 => [odd(9, 8), odd(7, 6), 1],
        _ => [odd(7, 5), odd(5, 4), odd(5, 4)],
    }
}

struct Writer {
    draws: Draws,
    dimension: usize,
    /// Components of a vector.
    components: usize,
    /// Depth of nested derivatives.
    nested: usize,
    scalars: Vec<String>,
    vectors: Vec<String>,
    evolved: Vec<(String, bool)>,
    text: String,
}

impl Writer {
    fn new(seed: u64, nested: usize) -> Self {
        let mut draws = Draws::new(seed);
        let dimension = 1 + draws.below(3) as usize;
        Writer {
            draws,
            dimension,
            components: dimension,
            nested,
            scalars: Vec::new(),
            vectors: Vec::new(),
            evolved: Vec::new(),
            text: String::new(),
        }
    }

    fn written(mut self, seed: u64) -> String {
        self.declare();
        self.equations();
        self.scheme(seed)
    }

    fn below(&mut self, n: usize) -> usize {
        self.draws.below(n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn declare(&mut self) {
        self.text.push_str(FUNCTIONS);
        let _ = writeln!(self.text, "pub system Random in {}d {{", self.dimension);
        let mut components = 1 + self.below(if self.dimension == 3 { 5 } else { 8 });
        let mut number = 0;
        while components > 0 {
            number += 1;
            // The first vector tells the number of components.
            let first = self.is_wide() && number == 1;
            components = components.max(if first { self.components } else { 0 });
            let vector = first || components >= self.components && self.chance(40);
            let (name, rank) = if vector {
                (format!("v{number}"), self.rank())
            } else {
                (format!("s{number}"), "scalar")
            };
            components -= if vector { self.components } else { 1 };
            let _ = writeln!(self.text, "    field {name}: {rank};");
            self.name(&name, vector);
            self.evolved.push((name, vector));
        }
        let _ = writeln!(self.text, "    param a: real = 0.7;\n    param b: real = 0.3;");
        let bounded = self.nested < 2;
        if !bounded && self.chance(30) {
            let _ = writeln!(self.text, "    source f: scalar;");
            self.name("f", false);
        }
        if !bounded && self.chance(20) {
            let _ = writeln!(self.text, "    source g: {};", self.rank());
            self.name("g", true);
        }
        if self.chance(50) {
            let value = self.scalar(2, self.nested - 1);
            let _ = writeln!(self.text, "    let p = {value};");
            self.name("p", false);
        }
        if self.chance(30) {
            let value = self.vector(1, self.nested - 1);
            let _ = writeln!(self.text, "    let q = {value};");
            self.name("q", true);
        }
    }

    fn name(&mut self, name: &str, vector: bool) {
        let list = if vector { &mut self.vectors } else { &mut self.scalars };
        list.push(name.to_string());
    }

    fn equations(&mut self) {
        for (name, vector) in self.evolved.clone() {
            let mut sum = String::new();
            for i in 0..1 + self.below(3) {
                let factor = ["0.05", "-0.03", "0.02*a", "-0.04*b"][self.below(4)];
                let term =
                    if vector { self.vector(2, self.nested) } else { self.scalar(3, self.nested) };
                let plus = if i > 0 { " + " } else { "" };
                let _ = write!(sum, "{plus}({factor}) * ({term})");
            }
            let _ = writeln!(self.text, "    ddt({name}) = {sum};");
        }
    }

    fn scheme(mut self, seed: u64) -> String {
        let order = 2 * (1 + self.below(4));
        let mixed = ["bidiagonal", "product", "composed", "either"][self.below(4)];
        let arith = ["collected", "differences", "as_written"][self.below(3)];
        let time = TIMES[self.below(TIMES.len())];
        self.text
            + &format!(
                "}}\nscheme random{seed} for Random {{ space: central<order = {order}>; mixed: {mixed}; arith: {arith}; time: {time}; }}\n"
            )
    }

    fn any(&mut self, vector: bool) -> Option<String> {
        let count = if vector { self.vectors.len() } else { self.scalars.len() };
        let at = (count > 0).then(|| self.below(count))?;
        let list = if vector { &self.vectors } else { &self.scalars };
        list.get(at).cloned()
    }

    fn axis(&mut self) -> &'static str {
        AXES[self.below(self.dimension)]
    }

    /// Do vectors have more components than there are axes?
    fn is_wide(&self) -> bool {
        self.components != self.dimension
    }

    /// Returns the type of vectors.
    fn rank(&self) -> &'static str {
        match self.is_wide() {
            true => "vector<3>",
            false => "vector",
        }
    }

    /// Returns properties of vectors of three components.
    fn turned(&mut self, depth: usize, nested: usize) -> String {
        match nested > 0 && self.chance(50) {
            true => format!("curl({})", self.vector(depth, nested - 1)),
            false => format!("cross({}, {})", self.vector(depth, nested), self.vector(0, 0)),
        }
    }

    /// Returns a scalar of at most `depth` operations, `nested` of them derivatives.
    fn scalar(&mut self, depth: usize, nested: usize) -> String {
        if depth == 0 {
            return self.scalar_leaf();
        }
        let d = depth - 1;
        match self.below(if nested > 0 { 22 } else { 14 }) {
            kind @ ..14 => self.of_values(kind, d, nested),
            kind => self.of_derivatives(kind, d, nested),
        }
    }

    /// Returns a scalar of a kind up to 13, of scalars of at most `d` operations at the same point.
    fn of_values(&mut self, kind: usize, d: usize, nested: usize) -> String {
        match kind {
            0 => format!("{} + {}", self.scalar(d, nested), self.scalar(d, nested)),
            1 => format!("({}) * ({})", self.scalar(d, nested), self.scalar(d, nested)),
            2 => format!("({}) - ({})", self.scalar(d, nested), self.scalar(d, nested)),
            3 => format!("({}) / (2 + ({})^2)", self.scalar(d, nested), self.scalar(d, 0)),
            4 => format!("sqrt(1 + ({})^2)", self.scalar(d, nested)),
            5 => {
                let function = ["max", "min"][self.below(2)];
                format!("{function}({}, {})", self.scalar(d, nested), self.scalar(d, nested))
            }
            6 => {
                let relation = ["<", "<=", ">", ">=", "=="][self.below(5)];
                let (a, b) = (self.scalar(0, 0), self.scalar(d, 0));
                let (then, otherwise) = (self.scalar(d, nested), self.scalar(d, nested));
                format!("if {a} {relation} {b} {{ {then} }} else {{ {otherwise} }}")
            }
            7 => {
                let function = ["sin", "cos", "tanh", "exp", "cbrt", "abs"][self.below(6)];
                format!("{function}({})", self.scalar(d, nested))
            }
            8 => format!("dot({}, {})", self.vector(d, nested), self.vector(0, 0)),
            9 => self.scalar_leaf(),
            10 => format!("(({}) - ({}))^2", self.scalar(d, nested), self.scalar(d, nested)),
            11 => format!("sqrt(({})^2 + ({})^2)", self.scalar(d, nested), self.scalar(d, nested)),
            12 => format!("norm(({}) - ({}))", self.vector(d, nested), self.vector(d, nested)),
            _ => {
                let (a, b) = (self.scalar(d, nested), self.scalar(d, 0));
                [
                    format!("square(({a}) - ({b}))"),
                    format!("distance({a}, {b})"),
                    format!("share({a}, {b})"),
                ][self.below(3)]
                .clone()
            }
        }
    }

    /// Returns a scalar of a kind from 14 on, a derivative of at most `d` operations.
    fn of_derivatives(&mut self, kind: usize, d: usize, nested: usize) -> String {
        match kind {
            14..=16 => {
                let axis = self.axis();
                format!("d[{axis}]({})", self.scalar(d, nested - 1))
            }
            17 => {
                let axis = self.axis();
                format!("d2[{axis}]({})", self.scalar(d, nested - 1))
            }
            18 if self.nested > 1 => {
                let (axis, times) = (self.axis(), 3 + self.below(2));
                format!("1e-3 * d{times}[{axis}]({})", self.scalar(d, nested - 1))
            }
            18 | 19 => format!("lap({})", self.scalar(d, nested - 1)),
            20 => format!("div({})", self.vector(d, nested - 1)),
            _ => format!("upwind({}, {})", self.vector(0, 0), self.scalar(d, nested - 1)),
        }
    }

    fn scalar_leaf(&mut self) -> String {
        match self.below(8) {
            0 => "a".into(),
            1 => ["0.5", "1", "2*t", "b"][self.below(4)].into(),
            2 | 3 if !self.vectors.is_empty() => {
                let letter = AXES[self.below(self.components)];
                self.any(true).map_or("b".into(), |v| format!("{v}.{letter}"))
            }
            _ => self.any(false).unwrap_or("b".into()),
        }
    }

    /// Returns a vector of at most `depth` operations, `nested` of them derivatives.
    fn vector(&mut self, depth: usize, nested: usize) -> String {
        if depth == 0 {
            return self.vector_leaf();
        }
        let d = depth - 1;
        if self.is_wide() && self.chance(25) {
            return self.turned(d, nested);
        }
        match self.below(if nested > 0 { 10 } else { 4 }) {
            0 => format!("({}) * ({})", self.scalar(d, nested), self.vector(d, nested)),
            1 => format!("({}) - ({})", self.vector(d, nested), self.vector(d, nested)),
            2 => {
                let (a, b) = (self.scalar(0, 0), self.scalar(0, 0));
                let (then, otherwise) = (self.vector(d, nested), self.vector(0, 0));
                format!("if {a} < {b} {{ {then} }} else {{ {otherwise} }}")
            }
            3 => self.vector_leaf(),
            4 | 5 => format!("grad({})", self.scalar(d, nested - 1)),
            6 => format!("lap({})", self.vector(d, nested - 1)),
            7 => format!("dot({}, grad({}))", self.vector(0, 0), self.vector(d, nested - 1)),
            8 if nested > 1 => format!("grad(div({}))", self.vector(d, nested - 2)),
            _ => {
                let axis = self.axis();
                format!("d[{axis}]({})", self.vector(d, nested - 1))
            }
        }
    }

    fn vector_leaf(&mut self) -> String {
        match self.any(true) {
            Some(name) if self.chance(80) => name,
            _ => {
                let entries: Vec<String> =
                    (0..self.components).map(|_| self.scalar_leaf()).collect();
                format!("[{}]", entries.join(", "))
            }
        }
    }
}
