//! Drawings that several commands make, and the letters of all of them.

use std::path::Path;

use stencil_runtime::plot::{Anchor, Color, Lettering, LinePlot, PlotError, Scene};

pub(crate) mod bars;
pub(crate) mod roofline;
pub(crate) mod timeline;

/// A drawing or a plot.
#[derive(Clone, Debug)]
pub enum Picture {
    /// A drawing.
    Scene(Box<Scene>),
    /// Curves over axes.
    Plot(Box<LinePlot>),
}

impl Picture {
    /// Saves it as PNG.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save_png(&self, file: &Path) -> Result<(), PlotError> {
        match self {
            Picture::Scene(scene) => scene.save_png(file),
            Picture::Plot(plot) => plot.save(file),
        }
    }
}

impl From<Scene> for Picture {
    fn from(scene: Scene) -> Self {
        Picture::Scene(Box::new(scene))
    }
}

impl From<LinePlot> for Picture {
    fn from(plot: LinePlot) -> Self {
        Picture::Plot(Box::new(plot))
    }
}

/// Room around a picture.
pub(crate) const MARGIN: f32 = 36.0;

/// A title and a line below it, from the left margin.
pub(crate) fn heading(scene: &mut Scene, title: &str, subtitle: &str) {
    let bold = Lettering { is_bold: true, ..Lettering::new(26.0) };
    scene.text((MARGIN, MARGIN + 8.0), title, bold);
    let (letters, room) = (faint(18.0), scene.size().0 - 2.0 * MARGIN);
    scene.text((MARGIN, MARGIN + 40.0), fitted(subtitle, letters, room), letters);
}

/// A text, cut where it is too long for the room.
fn fitted(text: &str, letters: Lettering, room: f32) -> String {
    if letters.width(text) <= room {
        return text.to_string();
    }
    let mut text = text.to_string();
    while !text.is_empty() && letters.width(&format!("{text}…")) > room {
        text.pop();
    }
    format!("{}…", text.trim_end())
}

/// Letters of second rank.
pub(crate) fn faint(size: f32) -> Lettering {
    Lettering { color: Color::FAINT, ..Lettering::new(size) }
}

/// The same letters, centred.
pub(crate) fn centred(letters: Lettering) -> Lettering {
    Lettering { anchor: Anchor::Middle, ..letters }
}
