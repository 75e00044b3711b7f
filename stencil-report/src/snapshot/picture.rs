//! Planes as heat maps, lines as curves.

use std::path::Path;

use ndarray::Array2;
use stencil_runtime::plot::{ColorMap, Heatmap, LinePlot, Panels, PlotError, Style};

use super::view::Kind;
use super::{AXES, Field, Snapshot, View};
use crate::Failure;

/// The cut through each field of one file.
#[derive(Debug)]
pub struct Picture<'a> {
    fields: &'a [Field],
    view: &'a View,
    parts: Vec<Array2<f64>>,
    system: String,
    caption: String,
}

/// How values are shown: the same for all pictures of a film.
#[derive(Clone, Debug)]
pub struct Look {
    given: Option<(f64, f64)>,
    log: bool,
    map: Option<ColorMap>,
    /// The values seen of each field.
    seen: Vec<Option<(f64, f64)>>,
}

impl Look {
    /// Shows so many fields in a given range, on a logarithmic scale and in some colours; without a range and colours as their
    /// values ask for.
    pub fn new(given: Option<(f64, f64)>, log: bool, map: Option<ColorMap>, fields: usize) -> Self {
        Look { given, log, map, seen: vec![None; fields] }
    }

    /// Widens the range to what a picture holds.
    pub fn see(&mut self, picture: &Picture<'_>) {
        for (seen, part) in self.seen.iter_mut().zip(&picture.parts) {
            let shown = part.iter().copied().filter(|v| v.is_finite() && (!self.log || *v > 0.0));
            for v in shown {
                let (low, high) = seen.unwrap_or((v, v));
                *seen = Some((low.min(v), high.max(v)));
            }
        }
    }

    /// The range of one field.
    fn range(&self, at: usize) -> Option<(f64, f64)> {
        self.given.or_else(|| self.seen.get(at).copied().flatten())
    }

    /// The range of all fields together.
    fn together(&self) -> Option<(f64, f64)> {
        let seen = self.seen.iter().flatten().copied();
        let union = seen.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        self.given.or(union)
    }

    /// The colours of a field: as asked for, or by its sign.
    fn colors(&self, field: &Field, at: usize) -> ColorMap {
        match (self.map, self.range(at)) {
            (Some(map), _) => map,
            (None, _) if field.is_length() => ColorMap::Magma,
            // Signed values, both signs of some weight.
            (None, Some((low, high)))
                if !self.log
                    && low < 0.0
                    && high > 0.0
                    && (-low).min(high) > 0.1 * (-low).max(high) =>
            {
                ColorMap::Diverging
            }
            _ => ColorMap::Sequential,
        }
    }
}

impl<'a> Picture<'a> {
    /// Reads and cuts the fields of a file.
    ///
    /// # Errors
    /// If a field cannot be read, or has another mesh.
    pub fn cut(
        snapshot: &mut Snapshot,
        fields: &'a [Field],
        view: &'a View,
    ) -> Result<Self, Failure> {
        let mut parts = Vec::new();
        for field in fields {
            parts.push(snapshot.read(field, view.mesh().points, |values| view.cut(values))?);
        }
        let mut caption: Vec<String> = Vec::new();
        caption.extend((!snapshot.caption.is_empty()).then(|| snapshot.caption.clone()));
        caption.extend(view.places());
        Ok(Picture {
            fields,
            view,
            parts,
            system: snapshot.system.clone(),
            caption: caption.join(", "),
        })
    }

    /// Draws it.
    ///
    /// # Errors
    /// If it cannot be drawn or written.
    pub fn save(&self, look: &Look, path: &Path) -> Result<(), PlotError> {
        match self.view.kind {
            Kind::Plane(axes) => self.panels(look, axes).save(path),
            Kind::Line(axis) => self.curves(look, axis).save(path),
        }
    }

    fn panels(&self, look: &Look, [columns, rows]: [usize; 2]) -> Panels<'_> {
        let mesh = self.view.mesh();
        let ((x0, x1), (y0, y1)) = (mesh.edges(columns), mesh.edges(rows));
        let single = self.fields.len() == 1 && !self.system.is_empty();
        let mut panels = Vec::new();
        for (at, (field, part)) in self.fields.iter().zip(&self.parts).enumerate() {
            let colors = look.colors(field, at);
            let mut map = Heatmap::new(part.view(), [x0, x1, y0, y1])
                .title(if single {
                    format!("{}: {}", self.system, field.label)
                } else {
                    field.label.clone()
                })
                .subtitle(self.caption.clone())
                .labels(AXES[columns], AXES[rows])
                .color_label(field.label.clone())
                .map(colors);
            if look.log {
                map = map.log();
            }
            map.range = map_range(look, at, colors);
            panels.push(map);
        }
        let panels = Panels::new(panels);
        if single { panels } else { panels.title(self.system.clone()) }
    }

    fn curves(&self, look: &Look, axis: usize) -> LinePlot {
        let mesh = self.view.mesh();
        let names: Vec<&str> = self.fields.iter().map(|f| f.label.as_str()).collect();
        let title = match self.system.as_str() {
            "" => names.join(", "),
            system => system.to_string(),
        };
        let mut plot = LinePlot::new().title(title).subtitle(self.caption.clone());
        let xs: Vec<f64> = (0..mesh.points[axis]).map(|i| mesh.at(axis, i)).collect();
        for (name, part) in names.iter().zip(&self.parts) {
            let ys: Vec<f64> = part.iter().copied().collect();
            // A single curve is named on its axis.
            let name = if names.len() > 1 { name } else { "" };
            plot = plot.series(name, &xs, &ys, Style::Line);
        }
        plot = plot.labels(AXES[axis], if let [name] = names[..] { name } else { "" });
        if look.log {
            plot = plot.log_y();
        }
        plot.y_range = look.given.or_else(|| with_room(look));
        plot
    }
}

/// The ends of the colours. Without a given range diverging colours are symmetric around zero.
fn map_range(look: &Look, at: usize, colors: ColorMap) -> Option<(f64, f64)> {
    let (low, high) = look.range(at)?;
    let (low, high) = if look.given.is_none() && colors == ColorMap::Diverging {
        let end = low.abs().max(high.abs());
        (-end, end)
    } else {
        (low, high)
    };
    // A constant field gets its range from the heat map.
    (high - low > 1e-9 * low.abs().max(high.abs())).then_some((low, high))
}

/// The y axis of curves: all values, with some room above and below.
fn with_room(look: &Look) -> Option<(f64, f64)> {
    let (low, high) = look.together()?;
    if look.log {
        let room = (high / low).powf(0.06);
        return (high > low).then_some((low / room, high * room));
    }
    let room = 0.06 * (high - low);
    (high - low > 1e-9 * low.abs().max(high.abs())).then_some((low - room, high + room))
}
