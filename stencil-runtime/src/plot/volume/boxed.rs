//! The box around a volume: its picture with edges, ticks, labels, and a legend or a colour bar.

use super::camera::{Sight, Vector};
use super::cast::{self, Content, Light};
use super::grid::Grid;
use super::{Rendering, Volume};
use crate::plot::axes::{self, Axis, LABEL, TICK_TEXT};
use crate::plot::bar;
use crate::plot::canvas::Rect;
use crate::plot::color::{Color, ColorMap};
use crate::plot::legend::Legend;
use crate::plot::scene::{Point, Scene, Stroke};
use crate::plot::text::{Align, Fonts, MIDDLE, Style};
use crate::plot::ticks::{self, Tick};

const MARGIN: i32 = 30;
/// Room for labels around the box: beside it, above it and below it.
const ROOM: (i32, i32, i32) = (104, 30, 88);
/// From an edge to the end of a tick, to its label and to the label of the axis.
const REACH: [f32; 3] = [9.0, 24.0, 66.0];
/// An edge that is shorter in the picture has no ticks.
const SHORTEST: f32 = 70.0;
/// The pixels to a tick.
const SPACE: f32 = 90.0;
/// The back of dark pictures, on which a glowing cloud shows.
const NIGHT: Color = Color(20, 22, 28);

/// The colours around a volume.
struct Paper {
    back: Color,
    grid: Color,
    edge: Color,
    text: Color,
}

impl Paper {
    /// Clouds whose low values are dark are drawn on a dark back.
    fn of(volume: &Volume<'_>) -> Self {
        let is_dark = volume.rendering == Rendering::Cloud
            && !matches!(volume.map, ColorMap::Diverging | ColorMap::Cyclic);
        match is_dark {
            true => Paper {
                back: NIGHT,
                grid: Color(52, 56, 66),
                edge: Color(150, 156, 168),
                text: Color(226, 229, 235),
            },
            false => Paper {
                back: Color::WHITE,
                grid: Color::GRID,
                edge: Color(120, 126, 135),
                text: Color::INK,
            },
        }
    }
}

/// Draws a volume that is checked.
pub(super) fn draw(volume: &Volume<'_>) -> Scene {
    let fonts = Fonts::new();
    let sight = Sight::new(volume.camera, volume.extent, volume.side);
    let (w, h) = sight.size();
    // Some pixels more, so that edges are whole.
    let inner = (w.ceil() as i32 + 6, h.ceil() as i32 + 6);
    let top = MARGIN + axes::heading_room(&volume.title, &volume.subtitle);
    let panel = Rect { x: MARGIN, y: top, w: inner.0 + 2 * ROOM.0, h: inner.1 + ROOM.1 + ROOM.2 };
    let image = Rect { x: panel.x + ROOM.0, y: panel.y + ROOM.1, w: inner.0, h: inner.1 };
    let (range, has_values) = volume.color_range();
    let surfaces = volume.surfaces_in(range);
    let beside = Beside::new(volume, &fonts, range, &surfaces, panel);
    let width = panel.right() + beside.room(&fonts) + MARGIN;
    let mut scene = Scene::new(width as f32, (panel.bottom() + MARGIN) as f32);
    let paper = Paper::of(volume);
    let drawn = Drawn { volume, sight, paper, fonts, image };
    scene.fill(panel, drawn.paper.back);
    let pixels = drawn.pixels(range, &surfaces);
    scene.image(image, pixels);
    drawn.frame(&mut scene);
    let titles = (volume.title.as_str(), volume.subtitle.as_str());
    axes::heading(&mut scene, &drawn.fonts, panel, titles, width - panel.x - MARGIN);
    if !has_values {
        axes::no_data(&mut scene, &drawn.fonts, panel);
    }
    beside.draw(&mut scene, &drawn.fonts, panel);
    scene
}

/// The key to the colours, beside the box.
enum Beside<'a> {
    Bar(ColorMap, Axis),
    Legend(Legend<'a>, Rect, Vec<Color>),
}

impl<'a> Beside<'a> {
    fn new(
        volume: &Volume<'_>,
        fonts: &Fonts,
        range: (f64, f64),
        surfaces: &'a [(f32, Color, String)],
        panel: Rect,
    ) -> Self {
        if volume.rendering == Rendering::Cloud {
            let axis = Axis::vertical(range, volume.log, panel.h, &volume.label);
            return Beside::Bar(volume.map, axis);
        }
        let names = surfaces.iter().map(|(_, _, name)| name.as_str()).collect();
        let legend = Legend::new(names, fonts);
        let place = legend.beside(panel);
        Beside::Legend(legend, place, surfaces.iter().map(|(_, color, _)| *color).collect())
    }

    fn room(&self, fonts: &Fonts) -> i32 {
        match self {
            Beside::Bar(_, axis) => bar::room(fonts, axis),
            Beside::Legend(_, place, _) => place.w + bar::GAP,
        }
    }

    fn draw(&self, scene: &mut Scene, fonts: &Fonts, panel: Rect) {
        match self {
            Beside::Bar(map, axis) => bar::draw(scene, fonts, panel, *map, axis),
            Beside::Legend(legend, place, colors) => {
                legend.draw(scene, *place, |scene, row, [from, to]| {
                    let middle = ((from.0 + to.0) / 2.0, from.1);
                    scene.disc(middle, 9.0, colors[row]);
                });
            }
        }
    }
}

/// A volume with all that its picture needs.
struct Drawn<'m, 'a> {
    volume: &'m Volume<'a>,
    sight: Sight,
    paper: Paper,
    fonts: Fonts,
    image: Rect,
}

impl Drawn<'_, '_> {
    /// Returns the pixels of the box: its content over the edges and lines behind it.
    fn pixels(&self, range: (f64, f64), surfaces: &[(f32, Color, String)]) -> Vec<Color> {
        let (w, h) = (self.image.w, self.image.h);
        let mut behind = Scene::new(w as f32, h as f32);
        behind.fill(Rect { x: 0, y: 0, w, h }, self.paper.back);
        self.draw_behind(&mut behind, (w as f32 / 2.0, h as f32 / 2.0));
        let grid = Grid::new(self.volume, range, self.sight.sides);
        let content = match self.volume.rendering {
            Rendering::Cloud => Content::Cloud(self.volume.map),
            Rendering::Surfaces(_) => {
                Content::Surfaces(surfaces.iter().map(|(at, color, _)| (*at, *color)).collect())
            }
        };
        let lights = cast::cast(&grid, &self.sight, &content, (w as usize, h as usize));
        let back = behind.canvas().into_pixels();
        back.into_iter().zip(lights).map(|(color, light)| over(color, light)).collect()
    }

    /// Returns the corner of the box at the low (`false`) or high end of each axis.
    fn corner(&self, ends: [bool; 3]) -> Vector {
        std::array::from_fn(|axis| self.sight.sides[axis] * if ends[axis] { 0.5 } else { -0.5 })
    }

    /// Returns the end of each axis that is nearer to the camera.
    fn near(&self) -> [bool; 3] {
        self.sight.toward.map(|way| way >= 0.0)
    }

    fn ticks(&self, axis: usize) -> Vec<Tick> {
        let (low, high) = self.volume.extent[axis];
        let length = self.sight.scale * self.sight.sides[axis];
        ticks::linear(low, high, (length as f32 / SPACE).clamp(2.0, 6.0) as usize)
    }

    /// Returns the place of a coordinate along its axis.
    fn along(&self, axis: usize, value: f64) -> f64 {
        let (low, high) = self.volume.extent[axis];
        self.sight.sides[axis] * ((value - low) / (high - low) - 0.5)
    }

    /// Draws the three faces behind the content, with lines at the ticks.
    fn draw_behind(&self, scene: &mut Scene, (cx, cy): Point) {
        let far = self.near().map(|near| !near);
        let place = |point: Vector| {
            let (x, y) = self.sight.place(point);
            (cx + x, cy + y)
        };
        for axis in 0..3 {
            let others = [(axis + 1) % 3, (axis + 2) % 3];
            for tick in self.ticks(axis) {
                for other in others {
                    let mut from = self.corner(far);
                    from[axis] = self.along(axis, tick.value);
                    let mut to = from;
                    to[other] = -to[other];
                    scene.line(&[place(from), place(to)], Stroke::new(self.paper.grid, 1.5));
                }
            }
        }
        for axis in 0..3 {
            let mut to = far;
            to[axis] = !to[axis];
            let line = [place(self.corner(far)), place(self.corner(to))];
            scene.line(&line, Stroke::new(self.paper.edge, 1.5));
        }
    }

    /// Draws the edges in front, ticks and labels.
    fn frame(&self, scene: &mut Scene) {
        let far = self.near().map(|near| !near);
        let centre = middle_of(self.image);
        let place = |point: Vector| {
            let (x, y) = self.sight.place(point);
            (centre.0 + x, centre.1 + y)
        };
        for axis in 0..3 {
            for (b, c) in [(false, false), (false, true), (true, false), (true, true)] {
                let mut ends = [false; 3];
                (ends[(axis + 1) % 3], ends[(axis + 2) % 3]) = (b, c);
                let is_behind =
                    (0..3).filter(|other| *other != axis).all(|other| ends[other] == far[other]);
                if !is_behind {
                    let from = self.corner(ends);
                    let mut to = from;
                    to[axis] = -to[axis];
                    scene.line(&[place(from), place(to)], Stroke::new(self.paper.edge, 1.5));
                }
            }
            let edge = self.edge(axis);
            self.label_edge(scene, axis, edge, &place);
        }
    }

    /// Returns a point of the edge that carries the labels of an axis: below the box for x and y, on its left for z.
    fn edge(&self, axis: usize) -> Vector {
        let near = self.near();
        if axis < 2 {
            let other = 1 - axis;
            let mut ends = [false; 3];
            // From below, the far edges of the lower face are the lowest ones of the picture.
            ends[other] = near[other] == near[2];
            return self.corner(ends);
        }
        let sides = [[near[0], !near[1], false], [!near[0], near[1], false]];
        let [a, b] = sides.map(|ends| self.corner(ends));
        if self.sight.place(a).0 <= self.sight.place(b).0 { a } else { b }
    }

    fn label_edge(
        &self,
        scene: &mut Scene,
        axis: usize,
        edge: Vector,
        place: &impl Fn(Vector) -> Point,
    ) {
        let on = |value: f64| {
            let mut point = edge;
            point[axis] = value;
            place(point)
        };
        let half = 0.5 * self.sight.sides[axis];
        let (from, to) = (on(-half), on(half));
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        if length < SHORTEST {
            return;
        }
        let centre = middle_of(self.image);
        let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        // Across the edge, away from the box.
        let (nx, ny) = (dy / length, -dx / length);
        let is_out = nx * (middle.0 - centre.0) + ny * (middle.1 - centre.1) >= 0.0;
        let (nx, ny) = if is_out { (nx, ny) } else { (-nx, -ny) };
        let out = |(x, y): Point, reach: f32| (x + reach * nx, y + reach * ny);
        for tick in self.ticks(axis) {
            let at = on(self.along(axis, tick.value));
            let stroke = Stroke::new(self.paper.edge, 1.5);
            scene.line(&[at, out(at, REACH[0])], stroke);
            let style = Style { color: self.paper.text, ..TICK_TEXT };
            self.write(scene, &tick.label, out(at, REACH[1]), nx, style);
        }
        let style = Style { color: self.paper.text, ..LABEL };
        scene.write(
            ["x", "y", "z"][axis],
            {
                let (x, y) = out(middle, REACH[2]);
                (x, y + LABEL.size * MIDDLE)
            },
            Align::Center,
            style,
        );
    }

    /// Writes a label whose nearest point to the box is at `at`, if the box lies on the other side.
    fn write(&self, scene: &mut Scene, text: &str, (x, y): Point, nx: f32, style: Style) {
        let width = self.fonts.width(text, style);
        // The more the box lies beside the label, the more of its width is moved away from it.
        let x = x + (2.2 * nx).clamp(-1.0, 1.0) * (width / 2.0 - 4.0);
        scene.write(text, (x, y + style.size * MIDDLE), Align::Center, style);
    }
}

fn middle_of(area: Rect) -> Point {
    (area.x as f32 + area.w as f32 / 2.0, area.y as f32 + area.h as f32 / 2.0)
}

/// Returns a colour behind light.
fn over(back: Color, [r, g, b, cover]: Light) -> Color {
    let mix = |back: u8, light: f32| {
        let sum = f32::from(back) * (1.0 - cover) + 255.0 * light;
        sum.round().clamp(0.0, 255.0) as u8
    };
    Color(mix(back.0, r), mix(back.1, g), mix(back.2, b))
}
