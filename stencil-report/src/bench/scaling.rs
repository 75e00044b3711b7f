//! Rates of several devices beside those of fewer, as a table, as JSON and as pictures.

use serde_json::{Value, json};
use stencil_compiler::diag::counted;
use stencil_runtime::plot::{Color, LinePlot, Series, Style};

use super::names::schedule;
use super::picture::firsts;
use super::report::Measured;
use crate::Picture;
use crate::table::Table;

/// Says that the devices of a run are simulated.
const SIMULATED: &str = "devices are simulated by the processor: they share this machine, so that more of them make no step faster\n";

/// The mesh of a run on several devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// All devices together have the same cells as one.
    Strong,
    /// Each device has as many cells as one.
    Weak,
}

impl Scaling {
    /// Its word.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Scaling::Strong => "strong",
            Scaling::Weak => "weak",
        }
    }

    /// Returns the mesh of so many devices: it grows along the last axis, which is the one that is cut.
    pub fn cells(self, mut cells: [usize; 3], dimension: usize, devices: usize) -> [usize; 3] {
        if self == Scaling::Weak {
            cells[dimension.clamp(1, 3) - 1] *= devices;
        }
        cells
    }

    /// Returns the mesh of one device.
    fn of_one(self, of: &Measured) -> [usize; 3] {
        let mut cells = of.cells;
        if self == Scaling::Weak {
            cells[of.dimension.clamp(1, 3) - 1] /= of.devices;
        }
        cells
    }
}

/// The rate for each device, over that of other devices.
fn efficiency(of: &Measured, first: &Measured) -> f64 {
    let each = |of: &Measured| of.best_mpts / of.devices as f64;
    each(of) / each(first)
}

/// Returns cases that differ in the number of devices alone, in the order in which they come; only where there are several
/// numbers.
fn curves(results: &[Measured], scaling: Scaling) -> Vec<Vec<&Measured>> {
    let case = |r: &Measured| {
        (r.system.clone(), r.precision, r.mixed, r.order, schedule(r), scaling.of_one(r))
    };
    let all = firsts(results, |r| case(r)).into_iter();
    let all = all.map(|key| results.iter().filter(|r| case(r) == key).collect::<Vec<_>>());
    all.filter(|curve| firsts(curve, |r| r.devices).len() > 1).collect()
}

/// The system and the settings of a curve, but for the mesh.
fn name(of: &Measured) -> String {
    format!("{} {}, {}", of.system, of.precision, schedule(of))
}

/// Returns the table, and what its columns mean.
pub(super) fn table(results: &[Measured], scaling: Scaling) -> String {
    let curves = curves(results, scaling);
    if curves.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    for curve in &curves {
        text += &format!("\n{} scaling of {}\n", scaling.name(), name(curve[0]));
        let mut table = Table::new(2, &["devices#", "cells#", "Mpts/s#", "efficiency#"]);
        for of in curve {
            table.row([
                of.devices.to_string(),
                of.cells(),
                format!("{:.2}", of.best_mpts),
                format!("{:.1} %", 100.0 * efficiency(of, curve[0])),
            ]);
        }
        text += &table.to_string();
    }
    let first = counted(curves[0][0].devices, "device");
    text += &format!("efficiency: the rate for each device, over that of {first}\n");
    if results.iter().any(Measured::is_simulated) {
        text += SIMULATED;
    }
    text
}

/// Returns the curves as JSON.
pub(super) fn json(results: &[Measured], scaling: Scaling) -> Value {
    let point = |of: &Measured, first: &Measured| {
        json!({
            "devices": of.devices,
            "cells": of.cells,
            "patches": of.patches,
            "mpts_per_s": of.best_mpts,
            "efficiency": efficiency(of, first),
        })
    };
    let curve = |curve: &Vec<&Measured>| {
        let first = curve[0];
        json!({
            "system": first.system,
            "precision": first.precision,
            "schedule": schedule(first),
            "is_simulated": curve.iter().any(|of| of.is_simulated()),
            "points": curve.iter().map(|of| point(of, first)).collect::<Vec<_>>(),
        })
    };
    let curves: Vec<Value> = curves(results, scaling).iter().map(curve).collect();
    json!({ "kind": scaling.name(), "curves": curves })
}

/// Draws for each system and precision the rates and the efficiencies against the number of devices, with names.
pub(super) fn pictures(results: &[Measured], scaling: Scaling) -> Vec<(String, Picture)> {
    let curves = curves(results, scaling);
    let mut all = Vec::new();
    for (system, precision) in firsts(&curves, |c| (c[0].system.clone(), c[0].precision)) {
        let own = curves.iter().filter(|c| c[0].system == system && c[0].precision == precision);
        let own: Vec<&Vec<&Measured>> = own.collect();
        let title = format!("{system}, {precision}, {} scaling", scaling.name());
        let [rates, shares] = plots(&title, &own);
        let name = format!("{system}-{precision}-{}-scaling", scaling.name());
        all.push((format!("{name}-efficiency"), shares.into()));
        all.push((name, rates.into()));
    }
    all
}

/// Rates and efficiencies, each with the line of as many times the first rate as there are devices.
fn plots(title: &str, curves: &[&Vec<&Measured>]) -> [LinePlot; 2] {
    let all = || curves.iter().flat_map(|curve| curve.iter().copied());
    let mut counts = firsts(all(), |r| r.devices);
    counts.sort_unstable();
    let counts: Vec<f64> = counts.into_iter().map(|count| count as f64).collect();
    let machine = match curves.iter().find_map(|curve| curve.first()) {
        Some(first) if all().any(Measured::is_simulated) => {
            format!("{}, simulated devices", first.machine())
        }
        first => first.map_or(String::new(), |first| first.machine()),
    };
    let plot = |label: &str| {
        let plot = LinePlot::new().title(title).subtitle(machine.clone());
        plot.labels("devices", label).x_ticks(counts.clone())
    };
    let mut both = [plot("million points a second"), plot("efficiency, per cent")];
    for (number, curve) in curves.iter().enumerate() {
        let first = curve[0];
        let color = Some(Color::PALETTE[number % Color::PALETTE.len()]);
        let name = format!("{}, {}", schedule(first), first.cells());
        let ideal = if number == 0 { "ideal" } else { "" }.to_string();
        let xs: Vec<f64> = curve.iter().map(|of| of.devices as f64).collect();
        let mut add =
            |plot: usize, (name, style): (String, Style), y: &dyn Fn(&Measured) -> f64| {
                let ys = curve.iter().map(|of| y(of)).collect();
                both[plot].series.push(Series { name, xs: xs.clone(), ys, style, color });
            };
        let each = first.best_mpts / first.devices as f64;
        add(0, (ideal.clone(), Style::Dashed), &|of| each * of.devices as f64);
        add(0, (name.clone(), Style::LinePoints), &|of| of.best_mpts);
        if number == 0 {
            add(1, (ideal, Style::Dashed), &|_| 100.0);
        }
        add(1, (name, Style::LinePoints), &|of| 100.0 * efficiency(of, first));
    }
    for plot in &mut both {
        let ys = plot.series.iter().flat_map(|series| series.ys.iter().copied());
        plot.y_range = Some((0.0, 1.05 * ys.fold(0.0, f64::max)));
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Render;
    use crate::bench::Results;
    use crate::bench::tests::{measured, on_card};

    fn of(devices: usize, cells: [usize; 3], best_mpts: f64) -> Measured {
        let patches = [1, devices, 1];
        Measured { devices, cells, patches, best_mpts, beside: None, ..measured() }
    }

    fn results(scaling: Scaling, all: &[Measured]) -> Results {
        let mut results = Results::new(false, false).scaling(Some(scaling));
        for measured in all {
            results.push(measured.clone());
        }
        results
    }

    #[test]
    fn efficiency_is_the_rate_of_each_device() {
        let strong = [of(1, [64, 32, 1], 20.0), of(2, [64, 32, 1], 30.0), of(4, [64, 32, 1], 80.0)];
        let results = results(Scaling::Strong, &strong);
        let text = results.end();
        for line in [
            "strong scaling of Heat f64, compiled, 2 threads",
            "        1      64×32   20.00     100.0 %",
            "        2  64×32/1×2   30.00      75.0 %",
            "        4  64×32/1×4   80.00     100.0 %",
            "over that of 1 device\n",
            "devices are simulated",
        ] {
            assert!(text.contains(line), "no `{line}` in\n{text}");
        }
        let json = results.json();
        assert_eq!(json["scaling"]["kind"], "strong");
        let curve = &json["scaling"]["curves"][0];
        assert_eq!(
            (&curve["points"][1]["efficiency"], &curve["is_simulated"]),
            (&0.75.into(), &true.into())
        );
        let names: Vec<String> = results.pictures().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["Heat-f64-strong-scaling-efficiency", "Heat-f64-strong-scaling"]);
    }

    #[test]
    fn a_mesh_that_grows_is_one_curve() {
        let weak = [of(1, [64, 32, 1], 20.0), of(2, [64, 64, 1], 38.0)];
        assert_eq!(Scaling::Weak.cells([64, 32, 1], 2, 2), [64, 64, 1]);
        assert!(results(Scaling::Weak, &weak).end().contains("95.0 %"));
        // Another mesh is another curve.
        assert!(!results(Scaling::Strong, &weak).end().contains("scaling"));
    }

    #[test]
    fn cards_are_not_simulated() {
        let cards = [1, 2].map(|devices| Measured { devices, ..on_card(None) });
        let text = results(Scaling::Strong, &cards).end();
        assert!(text.contains("50.0 %") && !text.contains("simulated"), "{text}");
    }

    #[test]
    fn the_ideal_line_goes_through_the_first_rate() {
        let all = [of(2, [64, 32, 1], 30.0), of(4, [64, 32, 1], 45.0)];
        let all: Vec<&Measured> = all.iter().collect();
        let [rates, shares] = plots("Heat", &[&all]);
        assert_eq!(
            (&rates.series[0].ys[..], &rates.series[1].ys[..]),
            (&[30.0, 60.0][..], &[30.0, 45.0][..])
        );
        assert_eq!(
            (&shares.series[0].ys[..], &shares.series[1].ys[..]),
            (&[100.0; 2][..], &[100.0, 75.0][..])
        );
    }
}
