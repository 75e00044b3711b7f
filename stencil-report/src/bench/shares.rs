//! Parts of a step below the roof of the machine and as shares of the time, and schedules compared with the first.

use stencil_runtime::plot::{Color, LinePlot, Scene, Series, Style};

use super::names::{self, axes, schedule, short_schedule};
use super::parts::{PartCosts, Together};
use super::picture::{firsts, side};
use super::report::Measured;
use super::work::Work;
use crate::Picture;
use crate::pictures::bars::{Bar, Bars};
use crate::pictures::roofline::{Dot, Mark, Roofline, Roofs};
use crate::pictures::timeline;

/// A part with such a share of divisions and square roots in its instructions has a colour of its own.
const DIVIDING: f64 = 0.25;

/// Parts with a smaller share of the time have no label below the roof.
const NAMED: f64 = 0.02;

/// Parts that are compared in a picture of schedules.
const COMPARED: usize = 8;

/// Bars of a picture; what is left shares the last one.
const BARS: usize = 24;

/// Pictures of the parts of each case, with their names.
pub(super) fn of_parts(results: &[Measured]) -> Vec<(String, Scene)> {
    let mut all = Vec::new();
    let apart = results.iter().filter(|result| result.parts.is_some());
    let apart: Vec<&Measured> = apart.collect();
    for (result, name) in apart.iter().zip(names::of_cases(&apart)) {
        let Some(parts) = &result.parts else { continue };
        all.push((format!("{name}-roofline"), roofline(result, parts)));
        if !result.timeline.is_empty() {
            let (title, machine) = (format!("{}: a step in time", title(result)), result.machine());
            let words = format!("{machine}; schedule: {}; measured task by task", schedule(result));
            all.push((
                format!("{name}-timeline"),
                timeline::draw((&title, &words), &result.timeline),
            ));
        }
        let together = parts.together();
        if !together.is_empty() {
            all.push((format!("{name}-shares"), shares(result, parts, &together)));
        }
    }
    all
}

fn title(result: &Measured) -> String {
    let cells: Vec<String> = axes(result).map(|n| n.to_string()).collect();
    format!("{}, {}, {} cells", result.system, result.precision, cells.join(" x "))
}

/// Each part below the roof, and all of a step.
fn roofline(result: &Measured, parts: &PartCosts) -> Scene {
    let all = parts.seconds().unwrap_or(f64::NAN);
    let roofs = parts.roofs;
    let mut dots: Vec<Dot> = parts
        .together()
        .iter()
        .rev()
        .map(|own| Dot {
            kind: kind(&own.work),
            label: (own.seconds >= NAMED * all).then(|| own.label()),
            mark: Mark::Named,
            ..dot(&own.work, own.seconds, &roofs)
        })
        .collect();
    let step = 1e-3 * result.ms_per_step * parts.steps as f64;
    dots.push(Dot {
        kind: "a step".into(),
        label: Some("a step".into()),
        mark: Mark::Main,
        ..dot(&parts.work(), step, &roofs)
    });
    let picture = Roofline {
        title: format!("{}: a step below the roof", title(result)),
        subtitle: format!("{}; schedule: {}", result.machine(), schedule(result)),
        rate: "billion flops a second",
        roofs,
        dots,
        marks: Vec::new(),
    };
    picture.draw()
}

fn dot(work: &Work, seconds: f64, roofs: &Roofs) -> Dot {
    Dot {
        flops: work.flops / seconds / 1e9,
        bytes: work.bytes / seconds / 1e9,
        most: (work.flops > 0.0).then(|| work.most(roofs)),
        kind: String::new(),
        label: None,
        mark: Mark::Plain,
    }
}

fn kind(work: &Work) -> String {
    let words = match work {
        work if work.flops <= 0.0 => "moves bytes only",
        work if work.dividing() >= DIVIDING => "divisions and roots, a quarter of it or more",
        _ => "sums and products",
    };
    words.into()
}

/// The parts by their shares of the time of all of them.
fn shares(result: &Measured, parts: &PartCosts, together: &[Together]) -> Scene {
    let all: f64 = together.iter().map(|own| own.seconds).sum();
    let words = |seconds: f64| format!("{:.1} %, {:.1} us", 100.0 * seconds / all, 1e6 * seconds);
    let mut bars: Vec<Bar> = together
        .iter()
        .take(BARS)
        .map(|own| Bar {
            label: own.words(),
            value: own.seconds,
            words: words(own.seconds),
            color: 0,
        })
        .collect();
    let rest = together.get(BARS..).unwrap_or_default();
    if !rest.is_empty() {
        let seconds = rest.iter().map(|own| own.seconds).sum();
        bars.push(Bar {
            label: format!("{} others", rest.len()),
            value: seconds,
            words: words(seconds),
            color: 6,
        });
    }
    let step = 1e-3 * result.ms_per_step * parts.steps as f64;
    let picture = Bars {
        title: format!("{}: shares of the time of a step", title(result)),
        subtitle: format!(
            "{}; schedule: {}; all parts one by one {:.1} us, a step {:.1} us",
            result.machine(),
            schedule(result),
            1e6 * all / parts.steps as f64,
            1e6 * step / parts.steps as f64
        ),
        bars,
    };
    picture.draw()
}

/// Compares schedules with the first one: bars of the times of a step for one mesh, and ratios against the size for
/// several.
pub(super) fn of_schedules(results: &[Measured]) -> Vec<(String, Picture)> {
    let compared = || results.iter().filter(|r| r.of_first.is_some());
    let case = |r: &Measured| (r.system.clone(), r.precision, r.mixed, r.order);
    let mut all = Vec::new();
    for of in firsts(compared(), |r| case(r)) {
        let own: Vec<&Measured> = compared().filter(|r| case(r) == of).collect();
        let name = names::of_form(own[0], compared());
        let sizes = firsts(&own, |r| side(r));
        let title = format!("{}, {}", of.0, of.1);
        all.push(match sizes.len() {
            1 => (format!("{name}-schedules"), times(&own).into()),
            _ => (format!("{name}-ratios"), ratios(&title, &own).into()),
        });
    }
    all
}

/// The time of a step by each schedule, and of the longest parts that several of them have.
fn times(results: &[&Measured]) -> Scene {
    let words = |ms: f64, ratio: Option<f64>| {
        let ratio = ratio.unwrap_or(1.0);
        format!("{ms:.3} ms, {ratio:.2} times as fast")
    };
    let steps = results.iter().enumerate().map(|(at, result)| Bar {
        label: schedule(result),
        value: result.ms_per_step,
        words: words(result.ms_per_step, result.of_first),
        color: at,
    });
    let mut bars: Vec<Bar> = steps.collect();
    let parts = |result: &Measured| result.parts.as_ref().map_or(Vec::new(), PartCosts::together);
    // Bars beside those of steps are of one step, too.
    let at_once = |at: usize| results[at].parts.as_ref().map_or(1, |own| own.steps) as f64;
    let all: Vec<Vec<Together>> = results.iter().map(|r| parts(r)).collect();
    let mut shown = 0;
    for part in all.first().into_iter().flatten() {
        let same = |own: &&Together| own.is_like(part) && own.of_first().is_some();
        let found = all.iter().map(|own| own.iter().find(same));
        let found: Vec<(usize, &Together)> =
            found.enumerate().filter_map(|(at, own)| Some((at, own?))).collect();
        if found.len() < 2 || shown == COMPARED {
            continue;
        }
        shown += 1;
        bars.extend(found.iter().map(|(at, own)| {
            let ms = 1e3 * own.seconds / at_once(*at);
            Bar {
                label: format!("{}: {}", short_schedule(results[*at]), own.label()),
                value: ms,
                words: words(ms, own.of_first()),
                color: *at,
            }
        }));
    }
    let picture = Bars {
        title: results
            .first()
            .map_or(String::new(), |r| format!("{}: the time of a step", title(r))),
        subtitle: results.first().map_or(String::new(), |r| r.machine()),
        bars,
    };
    picture.draw()
}

/// The rate of each schedule over that of the first one, and dashed that of the part that differs most.
fn ratios(title: &str, results: &[&Measured]) -> LinePlot {
    let machine = results.first().map_or(String::new(), |r| r.machine());
    let mut plot = LinePlot::new()
        .title(title)
        .subtitle(machine)
        .labels("cells along an axis", "rate over that of the first schedule")
        .x_ticks(firsts(results, |r| side(r)));
    plot.x_log = true;
    let mut add = |at: usize, name: String, style, (xs, ys): (Vec<f64>, Vec<f64>)| {
        let color = Some(Color::PALETTE[at % Color::PALETTE.len()]);
        plot.series.push(Series { name, xs, ys, style, color });
    };
    for (at, name) in firsts(results, |r| schedule(r)).into_iter().enumerate() {
        let own = || results.iter().filter(|r| schedule(r) == name);
        let steps = own().map(|r| (side(r), r.of_first.unwrap_or(1.0))).unzip();
        add(at, name.clone(), Style::LinePoints, steps);
        let Some(part) = own().next_back().and_then(|r| differing(r)).filter(|_| at > 0) else {
            continue;
        };
        let ratio = |r: &&&Measured| {
            let parts = r.parts.as_ref()?.together();
            let same = parts.iter().find(|own| own.is_like(&part))?;
            Some((side(r), same.of_first()?))
        };
        let ratios = own().filter_map(|r| ratio(&r)).unzip();
        let short = own().next().map_or(name, |r| short_schedule(r));
        let name = format!("{short}: {}", part.label());
        add(at, name, Style::Dashed, ratios);
    }
    let most = plot.series.iter().flat_map(|own| &own.ys);
    let most = most.copied().filter(|y| y.is_finite()).fold(1.0, f64::max);
    plot.y_range = Some((0.0, 1.1 * most));
    plot
}

/// The part of a step, of those that take a while, whose time differs most from that by the first schedule.
fn differing(result: &Measured) -> Option<Together> {
    let parts = result.parts.as_ref()?;
    let all = parts.seconds()?;
    let far = |own: &Together| own.of_first().map_or(0.0, |ratio| ratio.ln().abs());
    let long = parts.together().into_iter().filter(|own| own.seconds >= NAMED * all);
    long.filter(|own| far(own) > 0.0).max_by(|a, b| far(a).total_cmp(&far(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::tests::{measured, on_card, parts};

    fn names<P>(pictures: &[(String, P)]) -> Vec<&str> {
        pictures.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn parts_are_drawn_below_the_roof_and_as_shares() {
        let of = Measured {
            parts: Some(parts()),
            schedule: Some("files/plain.schedule".into()),
            ..on_card(None)
        };
        let pictures = of_parts(&[measured(), of]);
        let stem = "Heat-f64-plain-64x32";
        assert_eq!(names(&pictures), [format!("{stem}-roofline"), format!("{stem}-shares")]);
        for (name, scene) in &pictures {
            let (width, height) = scene.size();
            let texts = scene.texts();
            for words in ["2 x new q", "ghost cells"] {
                assert!(texts.iter().any(|(text, _)| *text == words), "{name}: {words}");
            }
            for (text, [x, y, w, h]) in texts {
                let inside = x >= 0.0 && y >= 0.0 && x + w <= width && y + h <= height;
                assert!(inside, "{name}: `{text}`");
            }
        }
        // 50 of 64 us.
        let texts = pictures[1].1.texts();
        assert!(texts.iter().any(|(text, _)| *text == "78.1 %, 50.0 us"), "{texts:?}");
    }

    #[test]
    fn of_a_processor_there_is_the_whole_step() {
        let mut parts = parts();
        parts.all.iter_mut().for_each(|part| part.seconds = None);
        let of = Measured { parts: Some(parts), ..measured() };
        let pictures = of_parts(&[of]);
        let stem = "Heat-f64-compiled-2-threads-64x32";
        assert_eq!(names(&pictures), [format!("{stem}-roofline")]);
        let texts = pictures[0].1.texts();
        assert!(texts.iter().filter(|(text, _)| *text == "a step").count() == 2);
    }

    #[test]
    fn parts_that_schedules_share_are_compared() {
        let of = |schedule: &str, cells: usize, slow: f64, first: &[Measured]| {
            let mut own = parts();
            own.all[2..].iter_mut().for_each(|part| part.seconds = part.seconds.map(|s| s * slow));
            let mut of = Measured {
                schedule: Some(schedule.into()),
                cells: [cells; 3],
                parts: Some(own),
                ..on_card(None)
            };
            of.compare(first);
            of
        };
        let soa = of("files/soa.schedule", 32, 1.0, &[]);
        let aos = of("files/aos.schedule", 32, 2.0, std::slice::from_ref(&soa));
        let one = [soa, aos];
        let pictures = of_schedules(&one);
        let Picture::Scene(scene) = &pictures[0].1 else {
            panic!("no bars");
        };
        let texts = scene.texts();
        for words in
            ["aos: 2 x new q", "0.100 ms, 0.50 times as fast", "soa: speeds, and the time step"]
        {
            assert!(texts.iter().any(|(text, _)| *text == words), "{words} of {texts:?}");
        }
        let soa = of("files/soa.schedule", 64, 1.0, &[]);
        let aos = of("files/aos.schedule", 64, 4.0, std::slice::from_ref(&soa));
        let pictures = of_schedules(&[&one[..], &[soa, aos]].concat());
        let Picture::Plot(plot) = &pictures[0].1 else {
            panic!("no curves");
        };
        let [_, step, part] = &plot.series[..] else {
            panic!("{:?}", plot.series);
        };
        assert_eq!((&part.name[..], part.style), ("aos: 2 x new q", Style::Dashed));
        assert_eq!((part.color, &part.xs), (step.color, &step.xs));
        assert!((part.ys[0] - 0.5).abs() < 1e-12 && (part.ys[1] - 0.25).abs() < 1e-12);
    }

    #[test]
    fn parts_of_several_steps_are_drawn_as_of_one() {
        let of = |schedule: &str, first: &[Measured]| {
            let mut of = Measured {
                schedule: Some(schedule.into()),
                parts: Some(PartCosts { steps: 2, ..parts() }),
                ..on_card(None)
            };
            of.compare(first);
            of
        };
        let first = of("soa", &[]);
        let second = of("aos", std::slice::from_ref(&first));
        let pictures = of_schedules(&[first, second]);
        let Picture::Scene(scene) = &pictures[0].1 else {
            panic!("no bars");
        };
        // 50 us of two steps.
        let texts = scene.texts();
        let words = "0.025 ms, 1.00 times as fast";
        assert!(texts.iter().any(|(text, _)| *text == words), "{texts:?}");
    }

    #[test]
    fn schedules_are_bars_of_one_mesh_and_curves_of_several() {
        let of = |schedule: &str, cells: usize, ratio| Measured {
            schedule: Some(schedule.into()),
            cells: [cells; 3],
            of_first: Some(ratio),
            ..on_card(None)
        };
        assert!(of_schedules(&[on_card(None)]).is_empty());
        let one = [of("soa", 32, 1.0), of("aos", 32, 0.5)];
        let pictures = of_schedules(&one);
        assert_eq!(names(&pictures), ["Heat-f64-schedules"]);
        let Picture::Scene(scene) = &pictures[0].1 else {
            panic!("no bars");
        };
        let texts = scene.texts();
        assert!(texts.iter().any(|(text, _)| text.ends_with("0.50 times as fast")));
        let two = [&one[..], &[of("soa", 64, 1.0), of("aos", 64, 0.25)]].concat();
        let pictures = of_schedules(&two);
        assert_eq!(names(&pictures), ["Heat-f64-ratios"]);
        let Picture::Plot(plot) = &pictures[0].1 else {
            panic!("no curves");
        };
        assert_eq!((&plot.series[1].name[..], &plot.series[1].ys[..]), ("aos", &[0.5, 0.25][..]));
    }
}
