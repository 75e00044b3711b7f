//! Rates against the size of the mesh, or the order of the differences, as pictures.

use stencil_runtime::plot::{Color, LinePlot, Series, Style};

use super::names::schedule;
use super::report::Measured;
use super::shares;
use crate::Picture;

const BLACK: Color = Color(0, 0, 0);

/// The horizontal axis of a picture of rates.
struct Against {
    label: &'static str,
    is_logarithmic: bool,
    value: fn(&Measured) -> f64,
}

const SIZE: Against = Against { label: "cells along an axis", is_logarithmic: true, value: side };
const ORDER: Against = Against {
    label: "order of the differences",
    is_logarithmic: false,
    value: |r| f64::from(r.order),
};

/// All pictures with their names: for each system and precision the rates against the size, a picture for each order, and
/// where there are several orders those against them, a picture for each size; then the parts of steps, and schedules beside
/// each other.
pub(super) fn all(results: &[Measured]) -> Vec<(String, Picture)> {
    let plots = pictures(results).into_iter();
    let plots = plots.map(|(name, plot)| (name, plot.into()));
    let scenes = shares::of_parts(results).into_iter();
    let scenes = scenes.map(|(name, scene)| (name, scene.into()));
    let all = plots.chain(scenes).chain(shares::of_schedules(results));
    all.collect()
}

/// Rates against sizes and orders, with names.
fn pictures(results: &[Measured]) -> Vec<(String, LinePlot)> {
    let mut all = Vec::new();
    for (system, precision) in firsts(results, |r| (r.system.clone(), r.precision)) {
        let own = |r: &&Measured| r.system == system && r.precision == precision;
        let own: Vec<&Measured> = results.iter().filter(own).collect();
        let title = format!("{system}, {precision}");
        let name = format!("{system}-{precision}");
        let (orders, sizes) = (firsts(&own, |r| r.order), firsts(&own, |r| side(r)));
        for order in &orders {
            let of = own.iter().filter(|r| r.order == *order).copied();
            let of: Vec<&Measured> = of.collect();
            match orders.len() {
                1 => all.push((name.clone(), picture(&title, &SIZE, &of))),
                _ if sizes.len() > 1 => {
                    let title = format!("{title}, order {order}");
                    let name = format!("{name}-order-{order}");
                    all.push((name, picture(&title, &SIZE, &of)));
                }
                _ => {}
            }
        }
        for size in sizes.iter().filter(|_| orders.len() > 1) {
            let of = own.iter().filter(|r| side(r) == *size).copied();
            let of: Vec<&Measured> = of.collect();
            let title = format!("{title}, {size} cells along an axis");
            all.push((format!("{name}-orders-{size}"), picture(&title, &ORDER, &of)));
        }
    }
    all
}

/// Each value once, in the order in which they come.
pub(super) fn firsts<R, K: PartialEq>(
    results: impl IntoIterator<Item = R>,
    key: impl Fn(&R) -> K,
) -> Vec<K> {
    let mut all = Vec::new();
    for result in results {
        let key = key(&result);
        if !all.contains(&key) {
            all.push(key);
        }
    }
    all
}

/// Curves of one system in one precision: what ran, after rests and as points without them, the programs
/// beside, and the floor.
fn picture(title: &str, against: &Against, results: &[&Measured]) -> LinePlot {
    let machine = results.first().map_or(String::new(), |r| r.machine());
    let at = |r: &Measured| (against.value)(r);
    let mut plot = LinePlot::new()
        .title(title)
        .subtitle(machine)
        .labels(against.label, "million points a second")
        .x_ticks(firsts(results, |r| at(r)));
    plot.x_log = against.is_logarithmic;
    let forms = firsts(results, |r| r.mixed);
    let schedules = firsts(results, |r| schedule(r));
    for (form, name) in firsts(results, |r| (r.mixed, schedule(r))) {
        let own = || results.iter().filter(|r| (r.mixed, schedule(r)) == (form, name.clone()));
        // A schedule has one colour: in another form, and in the program beside.
        let color = schedules.iter().position(|s| *s == name).unwrap_or(0);
        let color = Some(Color::PALETTE[color % Color::PALETTE.len()]);
        let name = if forms.len() > 1 { format!("{name}, {form}") } else { name.clone() };
        let mut add = |name: String, style, value: &dyn Fn(&Measured) -> Option<f64>| {
            let (xs, ys): (Vec<f64>, Vec<f64>) =
                own().filter_map(|r| Some((at(r), value(r)?))).unzip();
            if !xs.is_empty() {
                plot.series.push(Series { name, xs, ys, style, color });
            }
        };
        let style = if form == forms[0] { Style::LinePoints } else { Style::LineRings };
        add(name.clone(), style, &|r| Some(r.best_mpts));
        let sustained = |r: &Measured| Some(r.card.as_ref()?.sustained?.0);
        add(format!("{name}, sustained"), Style::Points, &sustained);
        let beside = |r: &Measured| r.beside.as_ref()?.best_mpts;
        add(format!("beside {name}"), Style::Dashed, &beside);
    }
    let xs = firsts(results, |r| at(r));
    let best = |x: &f64| {
        let own = results.iter().filter(|r| at(r) == *x);
        own.map(|r| limit(r)).fold(0.0, f64::max)
    };
    let ys: Vec<f64> = xs.iter().map(best).collect();
    plot.y_range = Some((0.0, 1.05 * ys.iter().copied().fold(0.0, f64::max)));
    plot.series.push(Series {
        name: "a copy of what must move".into(),
        xs,
        ys,
        style: Style::Line,
        color: Some(BLACK),
    });
    plot
}

/// Cells along an axis of a cube, or of a square, with as many.
pub(super) fn side(result: &Measured) -> f64 {
    let axes = result.cells.iter().filter(|n| **n > 1).count().max(1);
    let cells: f64 = result.cells.iter().map(|n| *n as f64).product();
    // A root is a hair beside the whole number that it is.
    (1e3 * cells.powf(1.0 / axes as f64)).round() / 1e3
}

/// Million points a second where nothing but memory takes time.
fn limit(result: &Measured) -> f64 {
    let memories = result.card.as_ref().map_or(1.0, |_| result.devices as f64);
    memories * result.copy_gb_s * 1e3 / result.floor_bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::tests::{measured, on_card};

    #[test]
    fn curves_pass_through_what_was_measured() {
        let small = Measured { cells: [64, 64, 64], ..on_card(None) };
        let large = Measured { cells: [128, 128, 128], best_mpts: 40.0, ..on_card(None) };
        let plot = picture("Heat, f64", &SIZE, &[&small, &large]);
        let [ours, floor] = &plot.series[..] else {
            panic!("{:?}", plot.series);
        };
        assert_eq!(ours.name, "carried");
        assert!((ours.xs[0] - 64.0).abs() < 1e-9 && (ours.xs[1] - 128.0).abs() < 1e-9);
        assert_eq!(ours.ys, [20.0, 40.0]);
        // 8 GB/s over 80 bytes a point.
        assert_eq!(floor.ys, [100.0, 100.0]);
    }

    #[test]
    fn programs_beside_have_the_colour_of_ours() {
        let plot = picture("Heat, f64", &SIZE, &[&measured()]);
        let [ours, theirs, _] = &plot.series[..] else {
            panic!("{:?}", plot.series);
        };
        assert_eq!((ours.color, ours.ys[0]), (theirs.color, 20.0));
        assert_eq!((&theirs.name[..], theirs.ys[0]), ("beside compiled, 2 threads", 10.0));
    }

    #[test]
    fn a_schedule_has_its_colour_in_every_form() {
        let other = Measured { mixed: "composed", ..on_card(None) };
        let plot = picture("Heat, f64", &SIZE, &[&on_card(None), &other]);
        let [first, second, _] = &plot.series[..] else {
            panic!("{:?}", plot.series);
        };
        assert_eq!(first.color, second.color);
        assert_eq!((first.style, second.style), (Style::LinePoints, Style::LineRings));
        assert_eq!(second.name, "carried, composed");
    }

    #[test]
    fn several_orders_have_a_picture_of_their_own() {
        let of = |order: u32, cells: usize| Measured {
            order,
            cells: [cells; 3],
            best_mpts: 100.0 / f64::from(order),
            ..on_card(None)
        };
        let some = [of(2, 64), of(4, 64)];
        let all = pictures(&some);
        let [(name, plot)] = &all[..] else {
            panic!("{}", all.len());
        };
        assert_eq!(name, "Heat-f64-orders-64");
        assert_eq!((&plot.series[0].xs[..], plot.x_log), (&[2.0, 4.0][..], false));
        assert_eq!(plot.series[0].ys, [50.0, 25.0]);
        let names = |results: &[Measured]| -> Vec<String> {
            pictures(results).into_iter().map(|(name, _)| name).collect()
        };
        let more = [of(2, 64), of(4, 64), of(2, 32), of(4, 32)];
        assert_eq!(
            names(&more),
            ["Heat-f64-order-2", "Heat-f64-order-4", "Heat-f64-orders-64", "Heat-f64-orders-32"]
        );
    }

    #[test]
    fn each_system_and_precision_has_a_picture() {
        let other = Measured { precision: "f32", ..measured() };
        let pictures = all(&[measured(), on_card(None), other]);
        let names: Vec<&str> = pictures.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Heat-f64", "Heat-f32"]);
    }
}
