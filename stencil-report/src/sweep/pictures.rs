//! Pictures of a sweep: errors against the mesh, observables against a setting.

use stencil_runtime::plot::{LinePlot, Style};
use stencil_runtime::report::significant;

use super::orders::{CELLS, SAME};
use super::{Member, Results, Sweep};
use crate::Picture;

/// The ratio of values beyond which they stand on a logarithmic axis.
const LOG: f64 = 20.0;

/// The most curves of one picture; more are not told apart.
const MOST: usize = 8;

/// Returns `errors` if meshes with errors were refined, and a picture for each observable over the first setting of numbers.
pub(super) fn all(sweep: &Sweep) -> Vec<(String, Picture)> {
    let mut pictures = Vec::new();
    if sweep.keys.iter().any(|key| key == CELLS) && !sweep.components().is_empty() {
        pictures.push(("errors".to_string(), errors(sweep).into()));
    }
    let Some(axis) = (0..sweep.keys.len()).find(|axis| is_of_numbers(sweep, *axis)) else {
        return pictures;
    };
    for name in sweep.observables() {
        pictures.push((format!("observed_{name}"), observable(sweep, name, axis).into()));
    }
    pictures
}

/// Whether a setting has numbers, at least two of them.
fn is_of_numbers(sweep: &Sweep, axis: usize) -> bool {
    let values: Vec<Option<f64>> = sweep.members.iter().map(|member| at(member, axis)).collect();
    values.iter().all(Option::is_some) && values.iter().any(|value| *value != values[0])
}

/// Returns the number that a setting has.
fn at(member: &Member, axis: usize) -> Option<f64> {
    member.values.get(axis)?.parse().ok().filter(|value: &f64| value.is_finite())
}

/// One curve: its name and points.
type Curve = (String, Vec<(f64, f64)>);

/// Whether all runs end at one time of the model, up to rounding.
fn ends_alike(sweep: &Sweep) -> bool {
    let mut times = sweep.members.iter().filter_map(Member::results).map(|results| results.t);
    let first = times.next().unwrap_or_default();
    times.all(|t| (t - first).abs() <= SAME * t.abs().max(first.abs()))
}

/// Returns a curve for each group of members that differ in one setting alone, and end at one time.
fn curves(
    sweep: &Sweep,
    along: Option<usize>,
    point: impl Fn(&Member, &Results) -> Option<(f64, f64)>,
) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    let ends_alike = ends_alike(sweep);
    for member in &sweep.members {
        let pairs = sweep.keys.iter().zip(&member.values).enumerate();
        let others = pairs.filter(|(axis, _)| Some(*axis) != along);
        let others = others.map(|(_, (key, value))| {
            format!("{} = {value}", key.rsplit('.').next().unwrap_or(key))
        });
        let time = member.results().filter(|_| !ends_alike);
        let time = time.map(|results| format!("t = {}", significant(results.t, 6)));
        let name = others.chain(time).collect::<Vec<_>>().join(", ");
        let found = member.results().and_then(|results| point(member, results));
        let Some(found) = found else { continue };
        match curves.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(found),
            None => curves.push((name, vec![found])),
        }
    }
    for (_, points) in &mut curves {
        points.sort_by(|one, two| one.0.total_cmp(&two.0));
    }
    curves
}

fn drawn(mut plot: LinePlot, curves: Vec<Curve>) -> LinePlot {
    let count = curves.len();
    if count > MOST {
        plot.subtitle = format!("the first {MOST} of {count} curves");
    }
    for (name, points) in curves.into_iter().take(MOST) {
        let (xs, ys): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        plot = plot.series(name, &xs, &ys, Style::LinePoints);
    }
    plot
}

fn errors(sweep: &Sweep) -> LinePlot {
    let along = sweep.keys.iter().position(|key| key == CELLS);
    let mut all = Vec::new();
    for component in sweep.components() {
        let of = curves(sweep, along, |member, results| {
            let h = member.spacing.iter().copied().fold(f64::INFINITY, f64::min);
            Some((h, results.errors.get(component)?[1]))
        });
        all.extend(of.into_iter().map(|(name, points)| match name.as_str() {
            "" => (component.to_string(), points),
            name => (format!("{component}, {name}"), points),
        }));
    }
    let plot = LinePlot::new()
        .title(format!("{}: errors against the exact solution", sweep.problem))
        .labels("smallest spacing h", "l2 error")
        .log_x()
        .log_y();
    drawn(plot, all)
}

fn observable(sweep: &Sweep, name: &str, axis: usize) -> LinePlot {
    let curves = curves(sweep, Some(axis), |member, results| {
        Some((at(member, axis)?, *results.observed.get(name)?))
    });
    let xs = || sweep.members.iter().filter_map(|member| at(member, axis));
    let (low, high) = (xs().fold(f64::INFINITY, f64::min), xs().fold(0.0, f64::max));
    let plot = LinePlot::new()
        .title(format!("{}: {name} at the end", sweep.problem))
        .labels(sweep.keys[axis].as_str(), name);
    drawn(if low > 0.0 && high / low > LOG { plot.log_x() } else { plot }, curves)
}
