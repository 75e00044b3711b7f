//! The observables of a run over its time, as many rows as a page shows.

use stencil_runtime::plot::{LinePlot, PlotError, Scene, Style};

use super::CURVE;

/// The most rows that are kept: as many as a picture has columns.
const MOST: usize = 2048;

/// Observables at some steps. Of more rows than a picture shows, every second one is left out, and again.
#[derive(Clone, Debug, Default)]
pub struct Series {
    names: Vec<String>,
    /// The time and the values of each row.
    rows: Vec<(f64, Vec<f64>)>,
    /// Only each one of so many rows is kept.
    every: usize,
    seen: usize,
}

impl Series {
    /// Makes an empty series of these observables.
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        Series { names: names.into_iter().collect(), rows: Vec::new(), every: 1, seen: 0 }
    }

    /// Returns the names of the observables.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Adds a row, later than all others.
    pub fn push(&mut self, t: f64, values: impl IntoIterator<Item = f64>) {
        if self.seen.is_multiple_of(self.every) {
            self.rows.push((t, values.into_iter().collect()));
        }
        self.seen += 1;
        if self.rows.len() > MOST {
            let mut at = 0;
            self.rows.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.every *= 2;
        }
    }

    /// Returns the last values, in the order of the names.
    pub fn last(&self) -> Option<&[f64]> {
        self.rows.last().map(|(_, values)| values.as_slice())
    }

    /// Returns the number of rows that are kept.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Is no row kept?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Draws an observable over time; `None` if there is none of this name.
    ///
    /// # Errors
    /// If it cannot be drawn.
    pub fn scene(&self, name: &str) -> Option<Result<Scene, PlotError>> {
        let at = self.names.iter().position(|known| known == name)?;
        let (ts, values): (Vec<f64>, Vec<f64>) =
            self.rows.iter().map(|(t, values)| (*t, values[at])).unzip();
        let plot = LinePlot::new().labels("t", name).plot_size(CURVE.0, CURVE.1);
        Some(plot.series("", &ts, &values, Style::Line).scene())
    }
}
