//! All candidates below the roof of the card: flops for each byte that memory moves, and flops a second.

use stencil_compiler::schedule::{Schedule, presets};
use stencil_runtime::plot::{Anchor, Color, Lettering, Point, Scene, Stroke};

use super::{MARGIN, centred, faint, heading, subtitle};
use crate::explain::plan::candidates::{Candidate, Predicted, Problem};
use crate::explain::plan::report::Report;

/// The plot: left, top, width, height.
const PLOT: [f32; 4] = [130.0, 110.0, 1000.0, 640.0];

/// A candidate as a dot.
struct Dot {
    at: Point,
    /// By which its colour is chosen.
    strategy: String,
    /// What stands beside it.
    label: Option<String>,
    is_plan: bool,
}

/// Both axes, by powers of ten.
struct Axes {
    x: [f64; 2],
    y: [f64; 2],
}

impl Axes {
    fn place(&self, x: f64, y: f64) -> Point {
        let [left, top, width, height] = PLOT;
        let along = |[low, high]: [f64; 2], value: f64| {
            ((value.log10() - low) / (high - low)).clamp(-1.0, 2.0) as f32
        };
        (
            left + width * along(self.x, x),
            top + height * (1.0 - along(self.y, y)),
        )
    }
}

/// Draws them.
pub(super) fn draw(problem: &Problem<'_>, report: &Report) -> Scene {
    let rates = &problem.on.rates;
    let peak = rates.peak_flops(problem.precision.bytes()) / 1e9;
    let roof = |x: f64| peak.min(x * rates.copy_bytes / 1e9);
    let values = |found: &Predicted| {
        let flops = found.sum(|c| c.flops);
        let rate = flops * problem.points() / found.seconds / 1e9;
        (flops / found.moved(problem), rate)
    };
    let plan = values(&report.plan.predicted);
    let others = report.rejected.iter();
    let others: Vec<(&Candidate, (f64, f64))> = others
        .filter_map(|c| Some((c, values(c.outcome.as_ref().ok()?))))
        .collect();
    let all = || others.iter().map(|(_, at)| *at).chain([plan]);
    let least = |of: fn((f64, f64)) -> f64| all().map(of).fold(f64::INFINITY, f64::min);
    let most = all()
        .map(|at| at.0)
        .fold(peak * 1e9 / rates.copy_bytes, f64::max);
    let axes = Axes {
        x: [(least(|at| at.0) / 1.6).log10(), (most * 2.0).log10()],
        y: [(least(|at| at.1) / 1.6).log10(), (peak * 1.7).log10()],
    };
    let mut scene = Scene::new(1400.0, 850.0);
    let title = format!("{}: candidates below the roof", report.system);
    heading(&mut scene, &title, &subtitle(report));
    grid(&mut scene, &axes);
    roof_of(&mut scene, &axes, (peak, rates.copy_bytes / 1e9), roof);
    let mut dots: Vec<Dot> = others
        .iter()
        .rev()
        .map(|(candidate, (x, y))| Dot {
            at: axes.place(*x, *y),
            strategy: strategy(&candidate.schedule),
            label: candidate.is_preset.then(|| candidate.name.clone()),
            is_plan: false,
        })
        .collect();
    dots.push(Dot {
        at: axes.place(plan.0, plan.1),
        strategy: strategy(&report.plan.schedule),
        label: Some(match presets::find(&report.plan.name) {
            Some(preset) => format!("the plan, {}", preset.name),
            None => "the plan".to_string(),
        }),
        is_plan: true,
    });
    let roof: Vec<Point> = (0..200)
        .map(|k| 10f64.powf(axes.x[0] + (axes.x[1] - axes.x[0]) * f64::from(k) / 199.0))
        .map(|x| axes.place(x, roof(x)))
        .collect();
    paint(&mut scene, &dots, &roof);
    scene
}

fn strategy(schedule: &Schedule) -> String {
    let first = schedule.kernels.first();
    first.map_or(String::new(), |kernel| kernel.strategy.clone())
}

/// Lines at powers of ten and at two and five times these, with numbers, and what the axes are.
fn grid(scene: &mut Scene, axes: &Axes) {
    let [left, top, width, height] = PLOT;
    for (range, is_x) in [(axes.x, true), (axes.y, false)] {
        for power in range[0].floor() as i32..=range[1].ceil() as i32 {
            for factor in [1.0, 2.0, 5.0] {
                let value = factor * 10f64.powi(power);
                if !(range[0]..=range[1]).contains(&value.log10()) {
                    continue;
                }
                let number = format!("{value}");
                let stroke = Stroke::new(Color::GRID, if factor == 1.0 { 2.0 } else { 1.0 });
                if is_x {
                    let (x, _) = axes.place(value, 1.0);
                    scene.line(&[(x, top), (x, top + height)], stroke);
                    scene.text(
                        (x, top + height + 20.0),
                        number,
                        centred(Lettering::new(16.0)),
                    );
                } else {
                    let (_, y) = axes.place(1.0, value);
                    scene.line(&[(left, y), (left + width, y)], stroke);
                    let letters = Lettering {
                        anchor: Anchor::End,
                        ..Lettering::new(16.0)
                    };
                    scene.text((left - 12.0, y), number, letters);
                }
            }
        }
    }
    scene.rect(
        [left, top, width, height],
        None,
        Some(Stroke::new(Color::INK, 2.0)),
    );
    let below = (left + width / 2.0, top + height + 54.0);
    let words = "flops for each byte that memory moves";
    scene.text(below, words, centred(Lettering::new(19.0)));
    let letters = Lettering {
        is_up: true,
        ..centred(Lettering::new(19.0))
    };
    let words = "billion flops a second, predicted";
    scene.text((MARGIN + 6.0, top + height / 2.0), words, letters);
}

/// The roof, with what its two parts are.
fn roof_of(scene: &mut Scene, axes: &Axes, (peak, copy): (f64, f64), roof: impl Fn(f64) -> f64) {
    let ridge = peak / copy;
    let low = 10f64.powf(axes.x[0]).max(10f64.powf(axes.y[0]) / copy);
    let high = 10f64.powf(axes.x[1]);
    let points = [low, ridge, high].map(|x| axes.place(x, roof(x)));
    scene.line(&points, Stroke::new(Color::INK, 3.5));
    let (_, y) = axes.place(ridge, peak);
    let (middle, _) = axes.place((low * ridge).sqrt(), peak);
    let (_, slope) = axes.place(1.0, roof((low * ridge).sqrt()));
    // Above the roof, where no candidate can be.
    let right = PLOT[0] + PLOT[2] - 10.0;
    for (at, words) in [
        (
            (right, y - 16.0),
            format!("arithmetic: {:.1} Tflop/s", peak / 1e3),
        ),
        (
            (middle - 16.0, slope - 12.0),
            format!("a copy: {:.2} TB/s", copy / 1e3),
        ),
    ] {
        let letters = Lettering {
            anchor: Anchor::End,
            ..faint(16.0)
        };
        let width = letters.width(&words) + 8.0;
        let paper = [at.0 - width + 4.0, at.1 - 10.0, width, 20.0];
        scene.rect(paper, Some(Color::WHITE), None);
        scene.text(at, words, letters);
    }
}

/// Dots with labels that keep clear of the roof, and a legend beside the plot.
fn paint(scene: &mut Scene, dots: &[Dot], roof: &[Point]) {
    let mut names: Vec<&str> = dots.iter().map(|dot| dot.strategy.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let color = |name: &str| {
        let at = names.iter().position(|own| *own == name).unwrap_or(0);
        Color::PALETTE[at % Color::PALETTE.len()]
    };
    for dot in dots {
        let own = color(&dot.strategy);
        match (dot.is_plan, &dot.label) {
            (true, _) => {
                scene.circle(
                    dot.at,
                    13.0,
                    Some(Color::WHITE),
                    Some(Stroke::new(Color::INK, 3.0)),
                );
                scene.circle(dot.at, 7.5, Some(own), None);
            }
            (false, Some(_)) => {
                scene.circle(dot.at, 7.5, Some(own), Some(Stroke::new(Color::INK, 1.6)));
            }
            (false, None) => scene.circle(dot.at, 5.0, Some(own.blend(Color::WHITE, 0.35)), None),
        }
    }
    labels(scene, dots, roof);
    let (x, mut y) = (PLOT[0] + PLOT[2] + 30.0, PLOT[1] + 14.0);
    for name in &names {
        scene.circle((x, y), 7.0, Some(color(name)), None);
        scene.text((x + 18.0, y), *name, Lettering::new(17.0));
        y += 30.0;
    }
    y += 14.0;
    scene.circle(
        (x, y),
        7.0,
        Some(Color::WHITE),
        Some(Stroke::new(Color::INK, 1.6)),
    );
    scene.text((x + 18.0, y), "a preset", faint(17.0));
    scene.circle(
        (x, y + 30.0),
        9.0,
        Some(Color::WHITE),
        Some(Stroke::new(Color::INK, 3.0)),
    );
    scene.text((x + 18.0, y + 30.0), "the plan", faint(17.0));
}

/// Writes labels beside their dots, where no other label, no dot and no roof is; a thin line leads to those that
/// are not near.
fn labels(scene: &mut Scene, dots: &[Dot], roof: &[Point]) {
    let named: Vec<(&Dot, &String)> = dots
        .iter()
        .rev()
        .filter_map(|dot| Some((dot, dot.label.as_ref()?)))
        .collect();
    let mut taken: Vec<[f32; 4]> = dots
        .iter()
        .map(|dot| {
            let half = if dot.label.is_some() { 9.0 } else { 5.0 };
            [dot.at.0 - half, dot.at.1 - half, 2.0 * half, 2.0 * half]
        })
        .collect();
    taken.extend(scene.texts().iter().map(|(_, at)| *at));
    taken.extend(roof.iter().map(|(x, y)| [x - 3.0, y - 3.0, 6.0, 6.0]));
    for (dot, label) in named {
        let letters = Lettering {
            is_bold: dot.is_plan,
            ..Lettering::new(16.0)
        };
        let size = (letters.width(label), 18.0);
        let Some((at, from)) = free(dot.at, size, &taken) else {
            continue;
        };
        taken.push([at.0 - 3.0, at.1 - size.1 / 2.0, size.0 + 6.0, size.1]);
        if from > 40.0 {
            let end = (dot.at.0.clamp(at.0, at.0 + size.0), at.1);
            let end = (end.0, end.1 + (dot.at.1 - at.1).signum() * 10.0);
            scene.line(&[dot.at, end], Stroke::new(Color::FAINT, 1.0));
        }
        scene.text(at, label, letters);
    }
}

/// A place for a text of some size near a point that covers nothing; its left middle, and how far away.
fn free(of: Point, (w, h): (f32, f32), taken: &[[f32; 4]]) -> Option<(Point, f32)> {
    let [left, top, width, height] = PLOT;
    let apart = |[ax, ay, aw, ah]: [f32; 4], [bx, by, bw, bh]: [f32; 4]| {
        ax + aw <= bx || bx + bw <= ax || ay + ah <= by || by + bh <= ay
    };
    for ring in 1..12 {
        let far = 8.0 + 14.0 * ring as f32;
        for turn in 0..16 {
            let (sin, cos) = (turn as f32 / 16.0 * std::f32::consts::TAU).sin_cos();
            let edge = (of.0 + far * cos, of.1 + far * sin);
            let x = match cos {
                c if c > 0.3 => edge.0,
                c if c < -0.3 => edge.0 - w,
                _ => edge.0 - w / 2.0,
            };
            let own = [x - 3.0, edge.1 - h / 2.0, w + 6.0, h];
            let inside = own[0] > left + 4.0
                && own[0] + own[2] < left + width - 4.0
                && own[1] > top + 4.0
                && own[1] + own[3] < top + height - 4.0;
            if inside && taken.iter().all(|other| apart(own, *other)) {
                return Some(((x, edge.1), far));
            }
        }
    }
    None
}
