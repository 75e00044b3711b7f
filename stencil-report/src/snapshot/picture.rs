//! Planes as heat maps, lines as curves, boxes as surfaces and clouds.

use ndarray::{Array2, Array3};
use stencil_runtime::plot::{
    Camera, ColorMap, Heatmap, LinePlot, Panels, PlotError, Rendering, Sampling, Scene, Style,
    Volume,
};

use super::view::{Kind, View};
use super::{AXES, Field, Look, Mesh};

/// The values of one file, as they are to be shown.
#[derive(Debug)]
pub struct Picture<'a> {
    pub(super) fields: &'a [Field],
    pub(super) content: Content<'a>,
    pub(super) system: String,
    pub(super) caption: String,
}

/// The values of each field.
#[derive(Debug)]
pub(super) enum Content<'a> {
    /// The cuts of some views through each field.
    Cuts(&'a [View], Vec<Vec<Array2<f64>>>),
    /// One field in its box.
    Solid(Solid<'a>),
}

/// One field in its box.
#[derive(Debug)]
pub(super) struct Solid<'a> {
    pub(super) values: Array3<f64>,
    pub(super) mesh: &'a Mesh,
    pub(super) rendering: &'a Rendering,
    pub(super) camera: Camera,
}

impl Picture<'_> {
    /// Draws it; of a film, with its legend in one place in all pictures.
    ///
    /// # Errors
    /// If it cannot be drawn.
    pub fn scene(&self, look: &Look, is_film: bool) -> Result<Scene, PlotError> {
        match &self.content {
            Content::Solid(solid) => self.solid(look, solid).scene(),
            Content::Cuts(views, parts) => match views {
                [View { kind: Kind::Line(axis), .. }] => {
                    let mut plot = self.curves(look, &views[0], *axis, parts);
                    plot.has_legend_beside = is_film;
                    plot.scene()
                }
                _ => self.panels(look, views, parts).scene(),
            },
        }
    }

    /// The values of one field.
    pub(super) fn values(&self, at: usize) -> Box<dyn Iterator<Item = f64> + '_> {
        match &self.content {
            Content::Solid(solid) => Box::new(solid.values.iter().copied()),
            Content::Cuts(_, parts) => {
                let parts = parts.get(at).map_or(&[][..], Vec::as_slice);
                Box::new(parts.iter().flat_map(|part| part.iter().copied()))
            }
        }
    }

    /// The title of one field: with the system, if it is the only one.
    fn title(&self, field: &Field) -> String {
        match self.is_single() {
            true => format!("{}: {}", self.system, field.label),
            false => field.label.clone(),
        }
    }

    fn is_single(&self) -> bool {
        self.fields.len() == 1 && !self.system.is_empty()
    }

    /// The time, and the place of a cut.
    fn subtitle(&self, view: &View) -> String {
        let time = Some(self.caption.clone()).filter(|caption| !caption.is_empty());
        time.into_iter().chain(view.places()).collect::<Vec<_>>().join(", ")
    }

    fn panels<'p>(&self, look: &Look, views: &[View], parts: &'p [Vec<Array2<f64>>]) -> Panels<'p> {
        let mut panels = Vec::new();
        for (at, (field, parts)) in self.fields.iter().zip(parts).enumerate() {
            let colors = look.colors(field, at);
            for (view, part) in views.iter().zip(parts) {
                let Kind::Plane([columns, rows]) = view.kind else {
                    continue;
                };
                let mesh = view.mesh();
                let ((x0, x1), (y0, y1)) = (mesh.edges(columns), mesh.edges(rows));
                let mut map = Heatmap::new(part.view(), [x0, x1, y0, y1])
                    .title(self.title(field))
                    .subtitle(self.subtitle(view))
                    .labels(AXES[columns], AXES[rows])
                    .color_label(field.label.clone())
                    .map(colors)
                    .sampling(sampling(colors));
                map.log = look.log;
                map.range = look.map_range(at, colors);
                panels.push(map);
            }
        }
        let mut panels = Panels::new(panels);
        if views.len() > 1 {
            panels = panels.columns(views.len());
        }
        if self.is_single() { panels } else { panels.title(self.system.clone()) }
    }

    fn curves(
        &self,
        look: &Look,
        view: &View,
        axis: usize,
        parts: &[Vec<Array2<f64>>],
    ) -> LinePlot {
        let mesh = view.mesh();
        let names: Vec<&str> = self.fields.iter().map(|f| f.label.as_str()).collect();
        let title = match self.system.as_str() {
            "" => names.join(", "),
            system => system.to_string(),
        };
        let mut plot = LinePlot::new().title(title).subtitle(self.subtitle(view));
        let xs: Vec<f64> = (0..mesh.points[axis]).map(|i| mesh.at(axis, i)).collect();
        for (name, part) in names.iter().zip(parts.iter().flatten()) {
            let ys: Vec<f64> = part.iter().copied().collect();
            // A single curve is named on its axis.
            let name = if names.len() > 1 { name } else { "" };
            plot = plot.series(name, &xs, &ys, Style::Line);
        }
        plot = plot.labels(AXES[axis], if let [name] = names[..] { name } else { "" });
        if look.log {
            plot = plot.log_y();
        }
        plot.y_range = look.given.or_else(|| look.with_room());
        plot
    }

    fn solid<'p>(&self, look: &Look, solid: &'p Solid<'_>) -> Volume<'p> {
        let extent = std::array::from_fn(|axis| solid.mesh.edges(axis));
        let mut volume = Volume::new(solid.values.view(), extent).subtitle(self.caption.clone());
        if let [field] = self.fields {
            let colors = look.colors(field, 0);
            volume = volume.title(self.title(field)).label(field.label.clone()).map(colors);
            volume.range = look.map_range(0, colors);
        }
        volume.rendering = solid.rendering.clone();
        volume.camera = solid.camera;
        volume.log = look.log;
        volume
    }
}

/// Between two angles on either side of the end of a turn, there is no angle in the middle.
pub(super) fn sampling(colors: ColorMap) -> Sampling {
    match colors {
        ColorMap::Cyclic => Sampling::Nearest,
        _ => Sampling::Smooth,
    }
}
