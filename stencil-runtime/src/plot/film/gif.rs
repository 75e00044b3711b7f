//! Films as GIF.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use color_quant::NeuQuant;
use gif::{Encoder, Repeat};

use super::{Encode, Frame, Reel};
use crate::io::PartFile;
use crate::plot::canvas::Canvas;
use crate::plot::color::Color;

/// Colours of a palette.
const MOST: usize = 256;
/// Colours from which a palette is learned, at least; fewer ones are repeated.
const LESSONS: usize = 300_000;

pub(super) struct Gif {
    encoder: Encoder<PartFile>,
    palette: Palette,
    /// Hundredths of a second that a picture stays.
    delay: u16,
}

impl Gif {
    pub(super) fn create(
        path: &Path,
        reel: Reel,
        (w, h): (i32, i32),
        samples: &[Canvas],
    ) -> io::Result<Self> {
        let palette = Palette::new(samples);
        let (width, height) = (side(w)?, side(h)?);
        let file = PartFile::create(path)?;
        let mut encoder =
            Encoder::new(file, width, height, &palette.bytes()).map_err(io::Error::other)?;
        encoder.set_repeat(Repeat::Infinite).map_err(io::Error::other)?;
        let delay = (100.0 / reel.rate).round().clamp(2.0, f64::from(u16::MAX)) as u16;
        Ok(Gif { encoder, palette, delay })
    }
}

fn side(pixels: i32) -> io::Result<u16> {
    u16::try_from(pixels).map_err(|_| {
        io::Error::other(format!("a side of {pixels} pixels is longer than a GIF can have (65535)"))
    })
}

impl Encode for Gif {
    fn push(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let area = frame.changed;
        let pixels: Vec<u8> = frame.fresh().map(|color| self.palette.index(color)).collect();
        let mut picture =
            gif::Frame::from_indexed_pixels(side(area.w)?, side(area.h)?, pixels, None);
        (picture.left, picture.top) = (side(area.x)?, side(area.y)?);
        picture.delay = self.delay;
        // Its colours are those of the whole film.
        picture.palette = None;
        picture.dispose = gif::DisposalMethod::Keep;
        self.encoder.write_frame(&picture).map_err(io::Error::other)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.encoder.into_inner().map_err(io::Error::other)?.finish()
    }
}

/// The colours of all pictures of a film, so that a value keeps its colour.
struct Palette {
    colors: Vec<Color>,
    /// Finds the nearest colour, if there are more than fit.
    nearest: Option<NeuQuant>,
    /// Places of colours that were asked for.
    known: HashMap<[u8; 3], u8>,
}

impl Palette {
    /// Makes the palette of all colours of some pictures: exact if they are few enough.
    fn new(samples: &[Canvas]) -> Self {
        let mut counts: BTreeMap<[u8; 3], usize> = BTreeMap::new();
        for c in samples.iter().flat_map(|canvas| canvas.pixels()) {
            *counts.entry([c.0, c.1, c.2]).or_default() += 1;
        }
        let place = |(at, color): (usize, &[u8; 3])| (*color, at as u8);
        if counts.len() <= MOST {
            let colors = counts.keys().map(|c| Color(c[0], c[1], c[2])).collect();
            let known = counts.keys().enumerate().map(place).collect();
            return Palette { colors, nearest: None, known };
        }
        // By the roots of their numbers a small detail has its colour, too. Paper stays white.
        let weighed = counts.iter().filter(|(color, _)| **color != [255; 3]);
        let lesson: Vec<[u8; 3]> =
            weighed.flat_map(|(color, count)| std::iter::repeat_n(*color, count.isqrt())).collect();
        let rounds = LESSONS.div_ceil(lesson.len());
        let lessons = std::iter::repeat_n(&lesson, rounds).flatten();
        let rgba: Vec<u8> = lessons.flat_map(|c| [c[0], c[1], c[2], 255]).collect();
        let nearest = NeuQuant::new(1, MOST - 1, &rgba);
        let rgb = nearest.color_map_rgb();
        let mut colors: Vec<Color> =
            rgb.chunks_exact(3).map(|c| Color(c[0], c[1], c[2])).take(MOST - 1).collect();
        let white = colors.len() as u8;
        colors.push(Color::WHITE);
        let known = HashMap::from([([255; 3], white)]);
        Palette { colors, nearest: Some(nearest), known }
    }

    fn bytes(&self) -> Vec<u8> {
        self.colors.iter().flat_map(|c| [c.0, c.1, c.2]).collect()
    }

    fn index(&mut self, color: Color) -> u8 {
        let key = [color.0, color.1, color.2];
        if let Some(at) = self.known.get(&key) {
            return *at;
        }
        let at = match &self.nearest {
            Some(nearest) => nearest.index_of(&[color.0, color.1, color.2, 255]) as u8,
            None => self.least_far(color),
        };
        self.known.insert(key, at);
        at
    }

    /// Returns the place of the colour with the least square of the distance.
    fn least_far(&self, color: Color) -> u8 {
        let far = |c: &Color| {
            let d = |a: u8, b: u8| (i32::from(a) - i32::from(b)).pow(2);
            d(c.0, color.0) + d(c.1, color.1) + d(c.2, color.2)
        };
        let nearest = self.colors.iter().enumerate().min_by_key(|(_, c)| far(c));
        nearest.map_or(0, |(at, _)| at as u8)
    }
}
