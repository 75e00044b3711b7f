//! Printed models read back.

use super::*;
use crate::catalogue::{Centering, Function};
use crate::diag::Span;
use crate::expr::Op;
use crate::model::parse::{parse_str, parse_str_in};
use crate::model::{Arith, Equation, Field, Observable, Reduction, Source, Speed, Symmetry};

fn term(kind: TermKind, rank: Rank) -> Term {
    Term { kind, rank, span: Span::default() }
}

fn boxed(kind: TermKind, rank: Rank) -> Box<Term> {
    Box::new(term(kind, rank))
}

/// Expressions of a rank in a model with a scalar, a vector, a tensor and a parameter.
struct Maker {
    state: u64,
}

impl Maker {
    fn pick(&mut self, choices: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.state >> 33) % choices
    }

    fn axis(&mut self) -> usize {
        usize::try_from(self.pick(2)).unwrap_or(0)
    }

    fn boxed(&mut self, rank: Rank, depth: u32) -> Box<Term> {
        Box::new(self.make(rank, depth))
    }

    fn make(&mut self, rank: Rank, depth: u32) -> Term {
        let field = match rank {
            Rank::Scalar => 0,
            Rank::Vector => 1,
            Rank::Tensor => 2,
        };
        if depth == 0 {
            let number = Rational::new(i128::from(self.pick(5000)), 4 * 5_i128.pow(7));
            return match (rank, self.pick(5)) {
                (Rank::Scalar, 0) => term(TermKind::Number(number), rank),
                (Rank::Scalar, 1) => term(TermKind::Param(0), rank),
                (Rank::Scalar, 2) => term(TermKind::Time, rank),
                (Rank::Scalar, 3) => Term::pi(Span::default()),
                (Rank::Vector, 0) => term(TermKind::Source(0), rank),
                (Rank::Tensor, 0) => Term::identity(2, Span::default()),
                _ => term(TermKind::Field(field), rank),
            };
        }
        let d = depth - 1;
        let kind = match self.pick(9) {
            0 => TermKind::Neg(self.boxed(rank, d)),
            1 => TermKind::Add(self.boxed(rank, d), self.boxed(rank, d)),
            2 => TermKind::Sub(self.boxed(rank, d), self.boxed(rank, d)),
            3 => TermKind::Mul(self.boxed(Rank::Scalar, d), self.boxed(rank, d)),
            4 => TermKind::Mul(self.boxed(rank, d), self.boxed(Rank::Scalar, d)),
            5 => {
                let divisor =
                    boxed(TermKind::Neg(boxed(TermKind::Param(0), Rank::Scalar)), Rank::Scalar);
                TermKind::Div(self.boxed(rank, d), divisor)
            }
            6 => TermKind::Derivative {
                axis: self.axis(),
                times: 1 + u32::try_from(self.pick(8)).unwrap_or(0),
                of: self.boxed(rank, d),
            },
            7 => self.choice(rank, d),
            _ => self.special(rank, d),
        };
        term(kind, rank)
    }

    fn choice(&mut self, rank: Rank, d: u32) -> TermKind {
        let relations = [Relation::Less, Relation::LessEqual, Relation::Equal];
        let relation = relations[usize::try_from(self.pick(3)).unwrap_or(0)];
        let scalar = Rank::Scalar;
        let parts = [scalar, scalar, rank, rank].map(|rank| self.make(rank, d));
        TermKind::If(relation, Box::new(parts))
    }

    /// A function of one or two scalars.
    fn pointwise(&mut self, d: u32) -> TermKind {
        let functions = [
            Function::Scalar(Op::Sqrt),
            Function::Scalar(Op::Exp),
            Function::Scalar(Op::Log),
            Function::Scalar(Op::Tanh),
            Function::Scalar(Op::Cbrt),
            Function::Scalar(Op::Pow),
            Function::Scalar(Op::Atan2),
            Function::Scalar(Op::Max),
            Function::Scalar(Op::Mod),
            Function::Scalar(Op::Erf),
        ];
        let function = functions[usize::try_from(self.pick(10)).unwrap_or(0)];
        let arguments = (0..function.arity()).map(|_| self.make(Rank::Scalar, d));
        TermKind::Call(function, arguments.collect())
    }

    fn special(&mut self, rank: Rank, d: u32) -> TermKind {
        match (rank, self.pick(3)) {
            (Rank::Scalar, 1) => self.pointwise(d),
            (Rank::Scalar, 2) => TermKind::Call(named("norm"), vec![self.make(Rank::Vector, d)]),
            (rank @ (Rank::Vector | Rank::Tensor), 2) => {
                let arguments = vec![self.make(Rank::Vector, d), self.make(rank, d)];
                TermKind::Call(named("upwind"), arguments)
            }
            (Rank::Scalar, 0) => TermKind::Pow(self.boxed(rank, d), 3),
            (Rank::Scalar, _) => {
                let axes = vec![self.axis(), self.axis()];
                TermKind::Component(self.boxed(Rank::Tensor, d), axes)
            }
            (Rank::Vector, 0) => {
                TermKind::Stack(vec![self.make(Rank::Scalar, d), self.make(Rank::Scalar, d)])
            }
            (Rank::Vector, _) => {
                let arguments = vec![self.make(Rank::Vector, d), self.make(Rank::Tensor, d)];
                TermKind::Call(Function::DOT, arguments)
            }
            (Rank::Tensor, 0) => TermKind::Call(Function::GRAD, vec![self.make(Rank::Vector, d)]),
            (Rank::Tensor, _) => {
                TermKind::Stack(vec![self.make(Rank::Vector, d), self.make(Rank::Vector, d)])
            }
        }
    }
}

fn named(function: &str) -> Function {
    Function::find(function).expect("a function of the language")
}

fn model(maker: &mut Maker) -> Model {
    let span = Span::default();
    let ranks = [("f", Rank::Scalar), ("u", Rank::Vector), ("s", Rank::Tensor)];
    let symmetry = match maker.pick(3) {
        0 => Symmetry::General,
        1 => Symmetry::Symmetric,
        _ => Symmetry::Antisymmetric,
    };
    let field = |(name, rank): (&str, Rank)| Field {
        name: name.to_string(),
        rank,
        symmetry: match rank {
            Rank::Tensor => symmetry,
            Rank::Scalar | Rank::Vector => Symmetry::General,
        },
        centering: Centering::Cell,
        unit: Some("kg m^-2/(s K)".to_string()),
        span,
    };
    let param = Param {
        name: "a".to_string(),
        default: Some(-0.125),
        bounds: vec![
            (Comparison::Greater, Rational::new(-1, 4)),
            (Comparison::LessEqual, Rational::from_integer(10_i128.pow(30))),
        ],
        unit: None,
        span,
    };
    let equation = |(field, (_, rank)): (usize, (&str, Rank))| Equation {
        field,
        rhs: maker.make(rank, 4),
        span,
    };
    let equations = ranks.into_iter().enumerate().map(equation).collect();
    let observable = |(name, reduction): (&str, Reduction)| Observable {
        name: name.to_string(),
        reduction,
        value: maker.make(Rank::Scalar, 3),
        span,
    };
    let observables = [("high", Reduction::Max), ("all", Reduction::Sum)].map(observable);
    let speed = |power| Speed { power, value: maker.make(Rank::Scalar, 2), span };
    let speeds = [2, 1, 4].map(speed).to_vec();
    let other = Scheme {
        name: "other".to_string(),
        arith: Arith::AsWritten,
        order: 10,
        ..Scheme::default()
    };
    Model {
        name: "Made".to_string(),
        doc: vec!["Two".to_string(), String::new(), "  \"lines\" \\".to_string()],
        dimension: 2,
        components: 2,
        generic: maker.pick(2) == 0,
        fields: ranks.map(field).to_vec(),
        params: vec![param],
        sources: sources(),
        lets: vec![],
        equations,
        fluxes: vec![],
        ranges: vec![],
        primitives: None,
        at_face: None,
        average: None,
        waves: None,
        products: Vec::new(),
        solvers: Vec::new(),
        observables: observables.to_vec(),
        speeds,
        scheme: Scheme::default(),
        others: vec![other],
    }
}

/// A vector with a value of coordinates and time, and a scalar without one.
fn sources() -> Vec<Source> {
    let coordinate = |axis| term(TermKind::Coordinate(axis), Rank::Scalar);
    let sine = TermKind::Call(Function::Scalar(Op::Sin), vec![coordinate(0)]);
    let time = boxed(TermKind::Time, Rank::Scalar);
    let product = TermKind::Mul(time, Box::new(coordinate(1)));
    let entries = vec![term(sine, Rank::Scalar), term(product, Rank::Scalar)];
    let value = term(TermKind::Stack(entries), Rank::Vector);
    let source = |name: &str, rank, value| Source {
        name: name.to_string(),
        rank,
        unit: None,
        value,
        span: Span::default(),
    };
    vec![source("push", Rank::Vector, Some(value)), source("heat", Rank::Scalar, None)]
}

#[test]
fn what_is_printed_reads_back() {
    let mut maker = Maker { state: 1 };
    for _ in 0..300 {
        let model = model(&mut maker);
        let checked = model.check();
        if checked.as_ref().is_err_and(|problem| problem.contains("derivatives")) {
            continue;
        }
        assert_eq!(checked, Ok(()));
        let source = print(&model);
        match parse_str(&source) {
            Ok(read) => assert_eq!(read.without_spans(), model, "{source}"),
            Err(errors) => panic!("{}", errors.render("printed", &source)),
        }
    }
}

#[test]
fn printing_is_a_fixed_point() {
    let source = "system H in 1d { field f: scalar; let g = 2e-9*f; ddt(f) = lap(g) - 1/3*f; }";
    let once = print(&parse_str(source).unwrap());
    assert_eq!(print(&parse_str(&once).unwrap()), once);
    let expected = "\
pub system H in 1d {
    field f: scalar;
    let g = 2e-9 * f;
    ddt(f) = lap(g) - 1 / 3 * f;
}
scheme default for H {
    space: central<order = 6>;
    mixed: either;
    arith: collected;
    time: rk3_williamson;
}
";
    assert_eq!(once, expected);
}

#[test]
fn conservation_laws_print_and_read_back() {
    let source = "system W in nd {
        conserved h: scalar [m] where h > 0; conserved m: vector; field b: scalar; param g: real = 9.81;
        let u = m / h;
        flux m -> outer(m, u) + g*h^2/2 * I; flux h -> m;
        let w = h + b;
        primitive { u; m = h*u; h; w; b = w - h; }
        face { h = max(w - b, 0); b by max; }
        average { u by sqrt(h); h; m = h*u; }
        ddt(m) = -g*h*grad(b); ddt(b) = 0;
        let p = g*h^2/2 where p >= 0 and p < 1e9; waves { sound: sqrt(g*h); pressure: p; flow: u; density: h }
        cfl { advective: norm(u) + sqrt(g*h); }
        riemann whole_jump { wave 1 at 0 { h = above.h - below.h; } wave 1 at 1 { m = above.m - below.m; } }
    }
    scheme fine for W { reconstruct: weno_z; riemann: rusanov; time: ssprk3; repair: none; }
    scheme sharp for W { reconstruct: plm<limiter = generalized_minmod, theta = 1.30>; }
    scheme roe for W { reconstruct: ppm in characteristic; riemann: roe<fix = 0.05>; sweep: dimensional; source: strang; }
    scheme waves for W { reconstruct: waves<limiter = mc>; riemann: roe; time: euler; sweep: strang; }
    scheme local for W { riemann: musta<stages = 3>; }
    scheme whole for W { reconstruct: waves<limiter = none>; riemann: hlle; time: euler; }
    scheme small for W { reconstruct: weno5<eps = 1e-12> in fluxes; riemann: roe<average = cells, fix = 0.5>; }
    scheme two for W { riemann: roe<else = hllc>; time: van_leer; }
    scheme own for W { riemann: whole_jump<else = hll>; }
    scheme fast for W { reconstruct: plm<limiter = van_leer> in primitive; }";
    for dimension in 1..=3 {
        let model = parse_str_in(source, Some(dimension)).unwrap();
        assert_eq!(model.check(), Ok(()));
        assert_eq!(model.fluxes.len(), 2);
        let once = print(&model);
        let again = parse_str(&once).unwrap();
        assert_eq!(again.without_spans(), model.without_spans(), "{once}");
        assert_eq!(print(&again), once);
        assert!(once.contains("conserved h: scalar [m] where h > 0;"), "{once}");
        assert!(!once.contains("ddt(h)"), "{once}");
        for line in [
            "reconstruct: plm<limiter = van_leer> in primitive;",
            "u by sqrt(h);",
            "riemann: roe<fix = 0.05>;",
            "sweep: dimensional;",
            "sweep: strang;",
            "source: strang;",
            " where p >= 0 and p < 1000000000;",
            "repair: none;",
            "riemann: musta<stages = 3>;",
            "reconstruct: waves<limiter = none>;",
            "reconstruct: weno5<eps = 1e-12> in fluxes;",
            "riemann: roe<fix = 0.5, average = cells>;",
            "riemann: roe<else = hllc>;",
            "riemann: whole_jump<else = hll>;",
            "time: van_leer;",
        ] {
            assert!(once.contains(line), "{line}: {once}");
        }
    }
}

#[test]
fn numbers_print_as_short_decimals() {
    let text = |n, d| number_text(&Rational::new(n, d));
    assert_eq!(text(1, 200), "0.005");
    assert_eq!(text(-5, 2), "-2.5");
    assert_eq!(text(1, 10_i128.pow(30)), "1e-30");
    assert_eq!(text(1, 3), "(1/3)");
    assert_eq!(text(i128::MAX, 1), i128::MAX.to_string());
    assert_eq!(text(i128::MIN, 1), format!("({}/1)", i128::MIN));
}
