//! Names of grid functions: their meaning, their uniqueness, and their stability.

use std::collections::{BTreeMap, BTreeSet};

use super::algorithm;
use crate::algorithm::{Access, Algorithm, Atom, Def, SumTerm, UniformId};
use crate::compile::{Target, compile};
use crate::emit;
use crate::expr::Op;
use crate::hash::fnv1a;
use crate::schedule::text;

/// A gas in two dimensions, with more items, and a scheme.
struct Gas {
    items: &'static str,
    scheme: &'static str,
}

const GAS: Gas =
    Gas { items: "", scheme: "reconstruct: plm<limiter = mc> in primitive; riemann: hllc" };

impl Gas {
    fn algorithm(&self) -> Algorithm {
        let Gas { items, scheme } = self;
        algorithm(&format!(
            "pub system Gas in 2d {{
                 conserved rho: scalar; conserved m: vector; conserved e: scalar; conserved dye: scalar;
                 param gamma: real = 1.4; param k: real = 0.1;
                 let u = m/rho; let p = (gamma - 1)*(e - dot(m, u)/2); let c = sqrt(gamma*p/rho);
                 let share = dye/rho; {items}
                 flux rho -> m; flux m -> outer(m, u) + p*I; flux e -> (e + p)*u; flux dye -> dye*u;
                 ddt(dye) = k*lap(share);
                 primitive {{ rho; u; p; dye; m = rho*u; e = p/(gamma - 1) + rho*dot(u, u)/2; }}
                 waves {{ flow: u; sound: c; density: rho; pressure: p; }}
             }}
             scheme s for Gas {{ {scheme}; time: ssprk2; }}"
        ))
    }
}

/// The meaning of every grid function, down to the states, whatever its name: each name by it.
fn meanings(algorithm: &Algorithm) -> BTreeMap<u64, &str> {
    let mut made: Vec<u64> = Vec::new();
    let mut all = BTreeMap::new();
    for function in &algorithm.functions {
        let read = |access: &Access| format!("{:x}{:?}", made[access.of.0 as usize], access.at);
        let uniform = |id: UniformId| format!("{:?}", algorithm.uniforms[id.0 as usize].value);
        let text = match &function.def {
            Def::State(id) => format!("state {}", algorithm.state(*id).name),
            Def::Point(expr) => {
                let expr = expr.map_atoms(|atom| match atom {
                    Atom::Access(access) => read(access),
                    Atom::Uniform(id) => uniform(*id),
                });
                format!("{expr:?}")
            }
            Def::Sum(terms) => {
                let term = |t: &SumTerm| (t.negative, t.factor.map(uniform), read(&t.value));
                format!("{:?}", terms.iter().map(term).collect::<Vec<_>>())
            }
        };
        made.push(fnv1a(text.as_bytes()));
        all.entry(fnv1a(text.as_bytes())).or_insert(function.name.as_str());
    }
    all
}

#[test]
fn names_stay_where_something_else_changes() {
    let plain = GAS.algorithm();
    let edits = [
        Gas { items: "ddt(m) = -k*sqrt(dye/rho + 1)*u;", ..GAS },
        Gas {
            items: "let more = sqrt(dye)/rho; let most = max(more, min(share, 1)); ddt(rho) = k*most/(1 + most);",
            ..GAS
        },
        Gas { scheme: "reconstruct: plm<limiter = van_leer> in primitive; riemann: hllc", ..GAS },
        Gas { scheme: "reconstruct: weno_z in primitive; riemann: hllc", ..GAS },
        Gas { scheme: "reconstruct: plm<limiter = mc> in primitive; riemann: hll", ..GAS },
    ];
    for edit in edits {
        let edited = edit.algorithm();
        let (before, after) = (meanings(&plain), meanings(&edited));
        let same = |(of, name): (&u64, &&str)| Some((name.to_string(), after.get(of)?.to_string()));
        let both: Vec<(String, String)> = before.iter().filter_map(same).collect();
        assert!(both.len() > 20 && both.len() < before.len(), "{}", both.len());
        // A former rate may be a part of one, and a solver's parts are those of another one.
        let edited = |name: &str| name.starts_with("ddt_") || name.starts_with("hllc_");
        let stays = |(old, new): &&(String, String)| old == new || edited(old);
        let renamed: Vec<_> = both.iter().filter(|pair| !stays(pair)).collect();
        assert!(renamed.is_empty(), "{renamed:?}");
    }
}

#[test]
fn a_limiter_names_nothing_but_parts_of_slopes() {
    let others = |scheme: &'static str| -> BTreeSet<String> {
        let gas = Gas { scheme, ..GAS }.algorithm();
        let names = gas.functions.into_iter().map(|f| f.name);
        names.filter(|name| !name.contains("_slope")).collect()
    };
    let plain = others(GAS.scheme);
    for limiter in ["minmod", "superbee", "van_leer", "van_albada"] {
        let scheme = format!("reconstruct: plm<limiter = {limiter}> in primitive; riemann: hllc");
        assert_eq!(others(scheme.leak()), plain, "{limiter}");
    }
}

#[test]
fn names_say_what_functions_are() {
    let gas = GAS.algorithm();
    let names: BTreeSet<&str> = gas.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names.len(), gas.functions.len());
    for name in [
        "rho_reciprocal",
        "u_x",
        "u_y",
        "p",
        "share",
        "rho_x_slope",
        "rho_x_slope_nearer",
        "u_y_x_slope_least",
        "u_y_x_upper",
        "c_y_lower",
        "c_y_lower_quotient",
        "slowest_y",
        "hllc_y_contact",
        "hllc_x_pressure_drop",
        "m_x_x_flux",
        "ddt_dye",
    ] {
        assert!(names.contains(name), "{name}: {names:?}");
    }
    let bare = |name: &&&str| {
        let word = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
        ["factor", "part", "quotient", "reciprocal", "choice"].contains(&word)
            || Op::ALL.iter().any(|op| op.name() == word)
    };
    assert_eq!(names.iter().find(bare), None);
}

/// A field that changes by this, beside two others.
fn rate(items: &str, of_a: &str) -> Algorithm {
    algorithm(&format!(
        "pub system S in 2d {{ field a: scalar; field b: scalar; field v: vector; {items}
             ddt(a) = {of_a}; ddt(b) = a; ddt(v) = 0*v; }}
         scheme s for S {{ space: central<order = 2>; time: euler; }}"
    ))
}

#[test]
fn what_a_let_is_has_its_name() {
    let cases: [(&str, &str, &[&str]); 8] = [
        ("let c = sqrt(a/b);", "c", &["c", "c_quotient"]),
        // Found to be another `let` later, and called by a function.
        ("let c = sqrt(a/b); let q = a/b;", "c + q", &["c", "q"]),
        ("fn over(x: scalar, y: scalar) -> scalar { x/y } let q = over(a, b);", "q", &["q"]),
        // Sums are grid functions where something reads them as one.
        ("let s = a + b;", "exp(s)*max(s*s*s, 1)", &["ddt_a_exp", "ddt_a_max"]),
        ("let s = a*b;", "d[x](s)", &["s"]),
        // Components, their common parts, and parts that one of them needs.
        ("let w = v/max(a, b);", "w.x + w.y", &["w_x", "w_y", "w_max", "w_max_reciprocal"]),
        (
            "let w = [exp(a), exp(b)]/(a + b);",
            "dot(w, w)",
            &["w_x", "w_x_exp", "w_y_exp", "w_reciprocal"],
        ),
        ("let g = grad(a);", "dot(g, g)", &["g_x", "g_y"]),
    ];
    for (items, of_a, wanted) in cases {
        let made = rate(items, of_a);
        let names: Vec<&str> = made.functions.iter().map(|f| f.name.as_str()).collect();
        for name in wanted {
            assert!(names.contains(name), "{items} {of_a}: {name} of {names:?}");
        }
    }
}

#[test]
fn no_name_is_there_twice() {
    let items = "param c_sqrt: real = 1; field c_quotient: scalar; field ddt_a_exp: scalar;
        let c = sqrt(a/b); let w_x = exp(b); let w = v/b; let c_1 = a*a; let a_1 = b/a; let ring = a/(a + b); let ddt_b = log(a);
        ddt(c_quotient) = ring*a_1*log(1 + c_1*c_1*b); ddt(ddt_a_exp) = w_x + dot(w, w)*ddt_b;";
    let made = rate(items, "c*c_sqrt + exp(a)");
    let names: BTreeSet<&str> = made.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names.len(), made.functions.len());
    let states = ["a", "b", "v_x", "c_quotient", "ddt_a_exp"];
    for name in states.into_iter().chain(["c", "ring", "w_y", "ddt_a", "ddt_b"]) {
        assert!(names.contains(name), "{name}: {names:?}");
    }
    for state in states {
        let id = made.find(state).expect(state);
        assert!(matches!(made.function(id).def, Def::State(_)), "{state}");
    }
    assert!(!names.contains("c_sqrt"));
}

#[test]
fn names_may_be_words_of_emitted_texts_and_of_items_around_them() {
    // `let None = ..` is a pattern, and so is `let H = ..` beside a constant.
    let words = ["ring", "full", "done", "row", "plane", "None", "Ok", "S", "H", "KERNELS"];
    let lets = words.iter().enumerate();
    let lets: String = lets.map(|(at, word)| format!("let {word} = exp(a + {at}*a*a); ")).collect();
    let rates = words.map(|word| format!("d[x]({word})*d[z]({word}) + {word}*{word}*a"));
    let made = algorithm(&format!(
        "pub system S in 3d {{ field a: scalar; {lets} ddt(a) = {}; }}
         scheme s for S {{ space: central<order = 2>; time: euler; }}",
        rates.join(" + ")
    ));
    let schedule = text::parse("schedule kernel rows").unwrap_or_else(|e| panic!("{e}"));
    let compiled = compile(&made, &schedule, &Target::new(8)).unwrap_or_else(|e| panic!("{e}"));
    let launches: Vec<_> = compiled.kernels.iter().collect();
    let emitted = emit::rust(&launches).unwrap_or_else(|e| panic!("{e}"));
    let locals = emitted.lines().filter_map(|l| l.trim().strip_prefix("let "));
    let locals: Vec<&str> = locals.filter_map(|l| l.split([' ', ',', ']']).next()).collect();
    assert!(locals.contains(&"None_v"), "{locals:?}");
    assert!(locals.contains(&"H_v"), "{locals:?}");
    for local in locals {
        let is_own = local.contains("_v") || local.contains("_result");
        assert!(is_own || local.starts_with('['), "{local}");
    }
}

#[test]
fn what_is_a_part_of_a_let_is_not_called_like_it() {
    let made = rate("let s = a + b*b;", "d[x](s)");
    let products = made.find("s_products").map(|id| &made.function(id).def);
    assert!(matches!(products, Some(Def::Point(_))), "{products:?}");
    let whole = rate("let s = a*a + b*b;", "d[x](s)");
    assert!(whole.find("s").is_some() && whole.find("s_products").is_none());
}

#[test]
fn an_alias_takes_no_name() {
    let calls =
        "fn over(p: scalar, q: scalar) -> scalar { p/q } let q = over(a, b); let r = over(a, b);";
    let made = rate(calls, "q + r*r");
    assert!(made.find("q").is_some() && made.find("r").is_none());
    for aliases in [
        "let r = a/b; let w = a*a*b; let q = r;",
        "let r = a/b; let q = r; let w = a*a*b;",
        "fn over(p: scalar, q: scalar) -> scalar { p/q } let r = over(a, b); let q = r; let w = a*a*b;",
    ] {
        let made = rate(aliases, "sqrt(r) + q*w");
        assert!(made.find("r").is_some() && made.find("q").is_none());
        assert!(made.find("over_1").is_none());
    }
    let made = rate("let h = v/a; let w = h;", "h.x*w.y + sqrt(w.x)");
    assert!(made.find("h_x").is_some() && made.find("w_x").is_none());
}
