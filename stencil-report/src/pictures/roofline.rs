//! Dots below the roof of a machine: flops for each byte that memory moves, and flops a second (Williams et al.,
//! Commun. ACM 52(4), 65-76, 2009).

use stencil_compiler::cost::Rates;
use stencil_runtime::plot::{Anchor, Color, Lettering, Point, Scene, Stroke};

use super::{MARGIN, centred, faint, heading};

/// The plot: left, top, width, height.
const PLOT: [f32; 4] = [130.0, 110.0, 1000.0, 640.0];

/// The roofs above the dots of a picture, in billions a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Roofs {
    /// Flops, a multiply-add being two.
    pub(crate) peak: f64,
    /// Bytes of a copy, read and written.
    pub(crate) copy: f64,
}

impl Roofs {
    /// Those of a card, for values of so many bytes.
    pub(crate) fn of_card(rates: &Rates, value_bytes: usize) -> Self {
        Roofs { peak: rates.peak_flops(value_bytes) / 1e9, copy: rates.copy_bytes / 1e9 }
    }

    /// The most flops a second where each byte that moves is for so many of them.
    pub(crate) fn over(self, intensity: f64) -> f64 {
        self.peak.min(intensity * self.copy)
    }
}

/// How a dot is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Small.
    Plain,
    /// Large.
    Named,
    /// Large, with a ring.
    Main,
}

/// Something that takes time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dot {
    /// Billion flops a second. Without any the dot stands at the left end, as far below the roof as its bytes are
    /// below the speed of a copy.
    pub(crate) flops: f64,
    /// Billion bytes a second.
    pub(crate) bytes: f64,
    /// Billion flops a second that its own operations allow, where these are not multiply-adds alone.
    pub(crate) most: Option<f64>,
    /// By which its colour is chosen.
    pub(crate) kind: String,
    /// The text beside it.
    pub(crate) label: Option<String>,
    pub(crate) mark: Mark,
}

impl Dot {
    fn intensity(&self) -> Option<f64> {
        (self.flops > 0.0).then(|| self.flops / self.bytes)
    }

    /// Flops for each byte and a second, where those without any stand at the left end.
    fn at(&self, left: f64) -> (f64, f64) {
        match self.intensity() {
            Some(intensity) => (intensity, self.flops),
            None => (left, left * self.bytes),
        }
    }
}

/// A picture of dots.
#[derive(Clone, Debug)]
pub(crate) struct Roofline {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// The title of the axis of rates.
    pub(crate) rate: &'static str,
    pub(crate) roofs: Roofs,
    /// Later ones on top.
    pub(crate) dots: Vec<Dot>,
    /// Marks with their meaning, for the legend.
    pub(crate) marks: Vec<(Mark, &'static str)>,
}

/// Both axes, by powers of ten.
struct Axes {
    x: [f64; 2],
    y: [f64; 2],
}

impl Axes {
    /// Axes that hold all dots and where the roofs meet.
    fn new(Roofline { roofs, dots, .. }: &Roofline) -> Self {
        let ridge = roofs.peak / roofs.copy;
        let found = || dots.iter().filter_map(Dot::intensity);
        let is_number = |value: &f64| value.is_finite() && *value > 0.0;
        // So much of the slope is seen that its name has room.
        let least = found().filter(is_number).fold(ridge / 5.0, f64::min) / 1.6;
        let most = found().filter(is_number).fold(ridge, f64::max) * 2.0;
        let rates = dots.iter().map(|dot| dot.at(least).1).filter(is_number);
        let (low, high) = rates.fold((roofs.peak / 10.0, roofs.peak), |(low, high), rate| {
            (low.min(rate), high.max(rate))
        });
        Axes { x: [least.log10(), most.log10()], y: [(low / 1.6).log10(), (high * 1.7).log10()] }
    }

    fn left(&self) -> f64 {
        10f64.powf(self.x[0])
    }

    fn place(&self, x: f64, y: f64) -> Point {
        let [left, top, width, height] = PLOT;
        let along = |[low, high]: [f64; 2], value: f64| {
            ((value.log10() - low) / (high - low)).clamp(-1.0, 2.0) as f32
        };
        (left + width * along(self.x, x), top + height * (1.0 - along(self.y, y)))
    }
}

impl Roofline {
    /// Draws it.
    pub(crate) fn draw(&self) -> Scene {
        let axes = Axes::new(self);
        let mut scene = Scene::new(1400.0, 850.0);
        heading(&mut scene, &self.title, &self.subtitle);
        grid(&mut scene, &axes, self.rate);
        roof_of(&mut scene, &axes, self.roofs);
        let roof: Vec<Point> = (0..200)
            .map(|k| 10f64.powf(axes.x[0] + (axes.x[1] - axes.x[0]) * f64::from(k) / 199.0))
            .map(|x| axes.place(x, self.roofs.over(x)))
            .collect();
        self.paint(&mut scene, &axes, &roof);
        scene
    }
}

/// Lines at powers of ten and at two and five times these, with numbers, and what the axes are.
fn grid(scene: &mut Scene, axes: &Axes, rate: &str) {
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
                    scene.text((x, top + height + 20.0), number, centred(Lettering::new(16.0)));
                } else {
                    let (_, y) = axes.place(1.0, value);
                    scene.line(&[(left, y), (left + width, y)], stroke);
                    let letters = Lettering { anchor: Anchor::End, ..Lettering::new(16.0) };
                    scene.text((left - 12.0, y), number, letters);
                }
            }
        }
    }
    scene.rect([left, top, width, height], None, Some(Stroke::new(Color::INK, 2.0)));
    let below = (left + width / 2.0, top + height + 54.0);
    let words = "flops for each byte that memory moves";
    scene.text(below, words, centred(Lettering::new(19.0)));
    let letters = Lettering { is_up: true, ..centred(Lettering::new(19.0)) };
    scene.text((MARGIN + 6.0, top + height / 2.0), rate, letters);
}

/// The roof, with the names of its two parts.
fn roof_of(scene: &mut Scene, axes: &Axes, roofs: Roofs) {
    let Roofs { peak, copy } = roofs;
    let roof = |x: f64| roofs.over(x);
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
        ((right, y - 16.0), format!("arithmetic: {}flop/s", prefixed(peak))),
        ((middle - 16.0, slope - 12.0), format!("a copy: {}B/s", prefixed(copy))),
    ] {
        let letters = Lettering { anchor: Anchor::End, ..faint(16.0) };
        let width = letters.width(&words) + 8.0;
        let paper = [at.0 - width + 4.0, at.1 - 10.0, width, 20.0];
        scene.rect(paper, Some(Color::WHITE), None);
        scene.text(at, words, letters);
    }
}

/// Billions as a number with a prefix.
fn prefixed(billions: f64) -> String {
    match billions {
        many if many >= 1e3 => format!("{:.2} T", many / 1e3),
        few => format!("{few:.1} G"),
    }
}

/// The colour of a kind, of all kinds in their order.
fn color(kinds: &[&str], kind: &str) -> Color {
    let at = kinds.iter().position(|own| *own == kind).unwrap_or(0);
    Color::PALETTE[at % Color::PALETTE.len()]
}

impl Roofline {
    /// Dots with labels that keep clear of the roof, and a legend beside the plot.
    fn paint(&self, scene: &mut Scene, axes: &Axes, roof: &[Point]) {
        let mut kinds: Vec<&str> = self.dots.iter().map(|dot| dot.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let place = |(x, y): (f64, f64)| axes.place(x, y);
        let mut placed = Vec::new();
        let mut taken = Vec::new();
        for dot in &self.dots {
            let (x, y) = dot.at(axes.left());
            let at = place((x, y));
            if let Some(most) = dot.most.filter(|most| *most > y) {
                let (_, top) = place((x, most));
                reach(scene, at, top);
                taken.push([at.0 - 3.0, top - 4.0, 6.0, at.1 - top]);
            }
            placed.push((at, dot));
        }
        taken.extend(roof.iter().map(|(x, y)| [x - 3.0, y - 3.0, 6.0, 6.0]));
        for (at, dot) in &placed {
            disc(scene, *at, dot.mark, color(&kinds, &dot.kind));
        }
        labels(scene, &placed, taken);
        self.legend(scene, &kinds);
    }

    fn legend(&self, scene: &mut Scene, kinds: &[&str]) {
        let (x, mut y) = (PLOT[0] + PLOT[2] + 30.0, PLOT[1] + 14.0);
        let room = scene.size().0 - x - 18.0 - MARGIN / 2.0;
        let write = |scene: &mut Scene, words: &str, letters: Lettering, y: &mut f32| {
            for line in lines(words, letters, room) {
                scene.text((x + 18.0, *y), line, letters);
                *y += 22.0;
            }
            *y += 8.0;
        };
        for kind in kinds {
            scene.circle((x, y), 7.0, Some(color(kinds, kind)), None);
            write(scene, kind, Lettering::new(17.0), &mut y);
        }
        y += 14.0;
        for (mark, words) in &self.marks {
            match mark {
                Mark::Plain => scene.circle((x, y), 5.0, Some(Color::FAINT), None),
                Mark::Named => {
                    let stroke = Some(Stroke::new(Color::INK, 1.6));
                    scene.circle((x, y), 7.0, Some(Color::WHITE), stroke);
                }
                Mark::Main => {
                    let stroke = Some(Stroke::new(Color::INK, 3.0));
                    scene.circle((x, y), 9.0, Some(Color::WHITE), stroke);
                }
            }
            write(scene, words, faint(17.0), &mut y);
        }
        if self.dots.iter().any(|dot| dot.most.is_some()) {
            reach(scene, (x, y + 16.0), y - 6.0);
            write(scene, "what its own operations allow", faint(17.0), &mut y);
        }
        if self.dots.iter().any(|dot| dot.flops <= 0.0) {
            let words = "without flops: at the left end, as far below the roof as below a copy";
            write(scene, words, faint(17.0), &mut y);
        }
    }
}

/// A dot.
fn disc(scene: &mut Scene, at: Point, mark: Mark, own: Color) {
    match mark {
        Mark::Main => {
            let stroke = Some(Stroke::new(Color::INK, 3.0));
            scene.circle(at, 13.0, Some(Color::WHITE), stroke);
            scene.circle(at, 7.5, Some(own), None);
        }
        Mark::Named => {
            scene.circle(at, 7.5, Some(own), Some(Stroke::new(Color::INK, 1.6)));
        }
        Mark::Plain => scene.circle(at, 5.0, Some(own.blend(Color::WHITE, 0.35)), None),
    }
}

/// A thin line from a dot to what its operations allow.
fn reach(scene: &mut Scene, at: Point, top: f32) {
    let thin = Stroke::new(Color::FAINT, 1.2);
    scene.line(&[at, (at.0, top)], thin);
    scene.line(&[(at.0 - 9.0, top), (at.0 + 9.0, top)], Stroke::new(Color::INK, 2.2));
}

/// Words in lines that fit.
fn lines(words: &str, letters: Lettering, room: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split(' ') {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match (longer, lines.last_mut()) {
            (Some(longer), Some(last)) if letters.width(&longer) <= room => *last = longer,
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// Writes labels beside their dots, where no other label, no dot and nothing else that is `taken` is; a thin line leads to those that
/// are not near.
fn labels(scene: &mut Scene, dots: &[(Point, &Dot)], mut taken: Vec<[f32; 4]>) {
    let named: Vec<(Point, &Dot, &String)> =
        dots.iter().rev().filter_map(|(at, dot)| Some((*at, *dot, dot.label.as_ref()?))).collect();
    taken.extend(dots.iter().map(|((x, y), dot)| {
        let half = if dot.label.is_some() { 9.0 } else { 5.0 };
        [x - half, y - half, 2.0 * half, 2.0 * half]
    }));
    taken.extend(scene.texts().iter().map(|(_, at)| *at));
    for (of, dot, label) in named {
        let letters = Lettering { is_bold: dot.mark == Mark::Main, ..Lettering::new(16.0) };
        let size = (letters.width(label), 18.0);
        let Some((at, from)) = free(of, size, &taken) else {
            continue;
        };
        taken.push([at.0 - 3.0, at.1 - size.1 / 2.0, size.0 + 6.0, size.1]);
        if from > 40.0 {
            let end = (of.0.clamp(at.0, at.0 + size.0), at.1);
            let end = (end.0, end.1 + (of.1 - at.1).signum() * 10.0);
            scene.line(&[of, end], Stroke::new(Color::FAINT, 1.0));
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
