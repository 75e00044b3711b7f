//! Reciprocals have the bits of the processor on a card, which takes another way to them, up to the ends of their range.

use stencil_runtime::{Engine, Number, Simulation};

use crate::runs::{text, there_is_a_card};

/// A run refuses values far from one, so divisors get their size on the way.
const RECIPROCALS: &str = "system Reciprocals in 2d {
    field a: scalar; field b: scalar; field scale: scalar;
    ddt(a) = 0;
    ddt(b) = scale^3*(1/(a*scale^3));
    ddt(scale) = 0;
}
scheme s for Reciprocals { space: central<order = 2>; time: euler; }";

const CELLS: usize = 512;

/// Returns a value of exponent `from` to -`from`, with a fraction of so many digits that is near one of its ends, or any.
fn value(number: u64, from: i64, digits: u32) -> f64 {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = mixed ^ (mixed >> 29);
    let near = ((mixed >> 40) % 4096) << (52 - digits);
    let fraction = match number % 4 {
        0 => near,
        1 => (1 << 52) - (1 << (52 - digits)) - near,
        2 => ((mixed >> 40) % 4096) << 29,
        _ => mixed >> 12,
    };
    let exponent = 1023 + from + (number as i64 / 4) % (1 - 2 * from);
    f64::from_bits((number & 1) << 63 | (exponent as u64) << 52 | fraction)
}

/// Divisors from the smallest normal number, 2^-3`by` times 2^`from`, to beyond the largest one whose reciprocal is not zero.
fn every_engine_rounds_once<T: Number>([from, by]: [i32; 2], digits: u32, most: f64) {
    let system = text(RECIPROCALS);
    let mut engines = vec![Engine::Cpu, Engine::Rows];
    match there_is_a_card() {
        true => engines.push(Engine::Cuda),
        false => eprintln!("skipped on a card: this machine has none"),
    }
    for (engine, scale) in engines.into_iter().flat_map(|of| [-by, 0, by].map(|by| (of, by))) {
        let builder = Simulation::<T>::builder(&system).cells([CELLS, CELLS, 1]).dt(1.0);
        let mut simulation = builder.engine(engine).build().unwrap();
        let number =
            |x: f64, y: f64| (x * CELLS as f64) as u64 + CELLS as u64 * (y * CELLS as f64) as u64;
        simulation.set("a", |x, y, _| value(number(x, y), from.into(), digits)).unwrap();
        simulation.set("b", |_, _, _| 0.0).unwrap();
        simulation.set("scale", |_, _, _| f64::from(scale).exp2()).unwrap();
        simulation.step().unwrap();
        let [a, b] = ["a", "b"].map(|name| simulation.to_f64(name).unwrap());
        for (a, b) in a.iter().zip(&b) {
            let size = f64::from(3 * scale).exp2();
            let divisor = a * size;
            let expected = match divisor.abs() <= most {
                true => (T::from_f64(1.0) / T::from_f64(divisor)).to_f64() * size,
                false => 0.0,
            };
            assert_eq!(*b, expected, "{engine:?}: 1/{divisor:e}");
        }
    }
}

#[test]
fn every_engine_rounds_reciprocals_once() {
    every_engine_rounds_once::<f32>([-30, 32], 23, 126_f64.exp2());
    every_engine_rounds_once::<f64>([-254, 256], 52, f64::from_bits(0x7fd0_0000_ffff_ffff));
}
