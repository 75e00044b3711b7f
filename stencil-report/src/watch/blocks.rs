//! A shot on a terminal: two values in a character, one above the other.

use std::fmt::Write as _;

use stencil_runtime::plot::Color;

use super::{Look, Shot};

/// The colours that a terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// 24 bits.
    True,
    /// The 256 of xterm.
    Indexed,
    /// None: darker and lighter characters.
    None,
}

/// Characters from dark to light.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// Ends all colours.
const PLAIN: &str = "\x1b[0m";

impl Colors {
    /// Returns the colours by the variables `COLORTERM`, `TERM` and `NO_COLOR`.
    pub fn of(colorterm: Option<&str>, term: Option<&str>, no_color: bool) -> Self {
        let term = term.unwrap_or_default();
        let is_true = colorterm.is_some_and(|it| it == "truecolor" || it == "24bit");
        let is_plain = no_color || term.is_empty() || term == "dumb" || term.starts_with("vt");
        match (is_plain, is_true || term.ends_with("-direct")) {
            (true, _) => Colors::None,
            (false, true) => Colors::True,
            (false, false) if term == "linux" => Colors::None,
            (false, false) => Colors::Indexed,
        }
    }

    /// Returns the parameters of the escape sequence that begins a colour, of letters (38) or behind them (48).
    fn code(self, layer: u8, color: Color) -> String {
        let Color(r, g, b) = color;
        match self {
            Colors::True => format!("{layer};2;{r};{g};{b}"),
            Colors::Indexed | Colors::None => format!("{layer};5;{}", index(color)),
        }
    }
}

/// Returns the nearest colour of the cube of 6 × 6 × 6, or of the greys, of xterm.
fn index(Color(r, g, b): Color) -> u8 {
    let level = |at: u8| if at == 0 { 0 } else { 55 + 40 * i32::from(at) };
    let nearest = |value: u8| {
        let distance = |at: &u8| (level(*at) - i32::from(value)).abs();
        (0..6_u8).min_by_key(distance).unwrap_or(0)
    };
    let [red, green, blue] = [r, g, b].map(nearest);
    let mean = (i32::from(r) + i32::from(g) + i32::from(b)) / 3;
    let grey = ((mean - 8 + 5) / 10).clamp(0, 23);
    let off = |levels: [i32; 3]| -> i32 {
        let own = [r, g, b].map(i32::from);
        levels.iter().zip(own).map(|(level, own)| (level - own).pow(2)).sum()
    };
    match off([red, green, blue].map(level)) <= off([8 + 10 * grey; 3]) {
        true => 16 + 36 * red + 6 * green + blue,
        false => 232 + grey as u8,
    }
}

impl Shot {
    /// Draws the plane into at most so many columns and lines of a terminal, at equal scale along both axes; a curve as bars.
    /// Each line ends without colours.
    pub fn blocks(
        &self,
        (columns, lines): (usize, usize),
        look: Look,
        colors: Colors,
    ) -> Vec<String> {
        let (columns, lines) = (columns.max(1), lines.max(1));
        let place = look.places(self);
        if self.is_curve {
            return self.bars((columns, lines), place);
        }
        let [width, height] = self.fitted([columns, 2 * lines]);
        let at = |column: usize, row: usize| place(self.mean([column, row], [width, height]));
        let map = look.map_of(self.range());
        let missing = Color(158, 158, 158);
        let color = |column, row| at(column, row).map_or(missing, |place| map.at(place));
        let mut drawn = Vec::new();
        for pair in 0..height.div_ceil(2) {
            let mut line = String::new();
            for column in 0..width {
                let (upper, lower) = (2 * pair, (2 * pair + 1).min(height - 1));
                if colors == Colors::None {
                    let of = |row| at(column, row).unwrap_or(0.0);
                    let place = 0.5 * (of(upper) + of(lower)) * SHADES.len() as f64;
                    line.push(SHADES[(place.max(0.0) as usize).min(SHADES.len() - 1)]);
                    continue;
                }
                let above = colors.code(38, color(column, upper));
                let below = colors.code(48, color(column, lower));
                let _ = write!(line, "\x1b[{above};{below}m▀");
            }
            line.push_str(if colors == Colors::None { "" } else { PLAIN });
            drawn.push(line);
        }
        drawn
    }

    /// Returns the largest size within another one that has the shape of the plane.
    fn fitted(&self, most: [usize; 2]) -> [usize; 2] {
        let sides = self.axes.each_ref().map(|line| line.cells as f64 * line.spacing);
        let scale = (most[0] as f64 / sides[0]).min(most[1] as f64 / sides[1]);
        let size = |axis: usize| ((sides[axis] * scale).round() as usize).clamp(1, most[axis]);
        [size(0), size(1)]
    }

    /// Returns the mean of the cells below a pixel of so many; rows count from the top.
    fn mean(&self, pixel: [usize; 2], pixels: [usize; 2]) -> f64 {
        let cells = self.cells();
        let part = |axis: usize, pixel: usize| {
            let first = pixel * cells[axis] / pixels[axis];
            let end = ((pixel + 1) * cells[axis]).div_ceil(pixels[axis]);
            first..end.clamp(first + 1, cells[axis].max(first + 1))
        };
        let (columns, rows) = (part(0, pixel[0]), part(1, pixels[1] - 1 - pixel[1]));
        let (mut sum, mut count) = (0.0, 0.0);
        for row in rows {
            for column in columns.clone() {
                sum += self.values.get([row, column]).copied().unwrap_or(f64::NAN);
                count += 1.0;
            }
        }
        sum / count
    }

    /// Draws a curve as bars from the bottom, each of eighths of a character.
    fn bars(
        &self,
        (columns, lines): (usize, usize),
        place: impl Fn(f64) -> Option<f64>,
    ) -> Vec<String> {
        let width = columns.min(self.cells()[0].max(1));
        let eighths = |column: usize| {
            let place = place(self.mean([column, 0], [width, 1])).unwrap_or(0.0);
            (place.clamp(0.0, 1.0) * (8 * lines - 1) as f64).round() as usize + 1
        };
        let heights: Vec<usize> = (0..width).map(eighths).collect();
        let bar = |height: usize, line: usize| match height.saturating_sub(8 * line).min(8) {
            0 => ' ',
            part => ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'][part - 1],
        };
        let line = |line: usize| heights.iter().map(|height| bar(*height, line)).collect();
        (0..lines).rev().map(line).collect()
    }
}
