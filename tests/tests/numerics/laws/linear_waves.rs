//! Waves oblique to all axes: of all families, by the integrators that advance gases in space.

use physics::systems::IdealMhd;
use stencil_runtime::{System, SystemDef};
use stencil_tests::linear_waves::{Wave, of_gas, of_magnetized_gas};
use stencil_tests::{OrPanic, takes_in_turn, with_scheme};

use super::EULER;

/// Returns a gas in space with a scheme.
fn gas(settings: &str) -> SystemDef {
    let text = format!("{EULER}\nscheme s for Euler {{ {settings} }}");
    SystemDef::from_text_in("euler", &text, Some(3)).or_panic()
}

/// Errors of all waves fall at second order, and waves to opposite sides have the same.
fn check(system: &SystemDef, waves: &[Wave], name: &str, (courant, t): (f64, f64)) {
    let mut wrong = String::new();
    let mut fine: Vec<(&str, f64)> = Vec::new();
    for wave in waves {
        let [few, many] = [6, 12].map(|n| wave.error(system, n, courant, t));
        let order = (few / many).log2();
        println!("{name} {}: {few:.3e} {many:.3e}, order {order:.2}", wave.name);
        // NaN fails this comparison.
        let is_second = order > 1.85;
        if !is_second {
            wrong += &format!("{name} {}: {few:e} {many:e}\n", wave.name);
        }
        fine.push((wave.name, many));
    }
    for (wave, error) in &fine {
        let family = wave.strip_suffix(" ahead");
        let family = family.into_iter().flat_map(|family| {
            fine.iter().filter(move |(back, _)| back.strip_suffix(" back") == Some(family))
        });
        for (back, mirrored) in family {
            let alike = (mirrored / error - 1.0).abs() < 1e-4;
            if !alike {
                wrong += &format!("{name}: {wave} {error:e}, {back} {mirrored:e}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Returns the integrators whose turn it is: one or two in a run.
fn integrators() -> impl Iterator<Item = &'static str> {
    let all = ["ssprk2", "corner_transport", "van_leer", "muscl_hancock"].into_iter().enumerate();
    all.filter(|(number, _)| takes_in_turn::<f64>(*number)).map(|(_, time)| time)
}

#[test]
fn oblique_waves_of_a_gas_are_of_second_order() {
    for time in integrators() {
        let settings = format!(
            "reconstruct: plm<limiter = central> in primitive; riemann: hllc; time: {time};"
        );
        check(&gas(&settings), &of_gas(), time, (0.6, 0.15));
    }
}

/// The divergence of the field stays, too.
#[test]
fn oblique_waves_of_a_magnetized_gas_are_of_second_order() {
    for time in integrators() {
        let settings = format!(
            "space: central<order = 2>; reconstruct: plm<limiter = central> in primitive; riemann: hlld; time: {time}; repair: none;"
        );
        let system = with_scheme(&IdealMhd::<3>::DEFINITION, &settings);
        check(&system, &of_magnetized_gas(), time, (0.6, 0.12));
    }
}

/// On eight cells a wave, limited parabolas leave three quarters of the error of limited lines. Both cut the tops of waves, and on finer
/// meshes that is most of the error of both.
#[test]
fn parabolas_are_better_than_lines_on_few_cells() {
    for wave in &of_gas()[..4] {
        let [lines, parabolas] = ["plm<limiter = mc>", "ppm"].map(|made| {
            let settings =
                format!("reconstruct: {made} in primitive; riemann: hllc; time: ssprk2;");
            wave.error(&gas(&settings), 8, 0.6, 0.5)
        });
        println!("{}: {lines:.3e} {parabolas:.3e}", wave.name);
        assert!(parabolas < 0.75 * lines, "{}: {lines} {parabolas}", wave.name);
    }
}
