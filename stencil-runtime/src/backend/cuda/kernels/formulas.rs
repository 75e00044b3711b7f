//! Formulas of users on a card: sources, and numbers on faces, as functions of place and time.

use std::sync::Arc;

use cudarc::driver::{
    CudaFunction, CudaSlice, CudaStream, CudaView, CudaViewMut, DeviceRepr, LaunchConfig,
    PushKernelArg,
};
use stencil_compiler::catalogue::Halves;
use stencil_compiler::emit::{self, Patches, Source};
use stencil_compiler::expr::Real;
use stencil_compiler::model::formula::Formula;

use crate::backend::cuda::card::OLDEST;
use crate::backend::cuda::kernels::builtin::head;
use crate::backend::cuda::kernels::ghosts::tables;
use crate::backend::cuda::kernels::launch::{choice, function, one};
use crate::backend::cuda::memory::patches::{MeshShape, Owned};
use crate::backend::cuda::{Cache, CudaError, Opened};
use crate::mesh::{Boundaries, Face, Mesh, Number};

/// The kernels.
const TEXT: &str = include_str!("formulas.cu");

const THREADS: u32 = 256;

/// Blocks of a launch, at most: each thread loops over further cells.
const MOST_BLOCKS: usize = 1 << 14;

/// The same struct as in the text.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Points {
    origin: [f64; 3],
    spacing: [f64; 3],
    shift: f64,
    periodic: [i32; 4],
}

// SAFETY: plain numbers in the layout of C, without padding.
unsafe impl DeviceRepr for Points {}

/// Formulas on the card, and their arguments.
#[derive(Debug)]
pub(crate) struct Formulas {
    source: CudaFunction,
    face: CudaFunction,
    shape: MeshShape,
    /// The patches of its card.
    own: Owned,
    mesh: Mesh,
    points: Points,
    params: CudaSlice<f64>,
    /// The number of formulas that are sources; the formulas of faces follow them.
    sources: usize,
    /// Faces, each with the points of its component.
    faces: Vec<(Face, Points)>,
}

/// Sources and numbers on faces that change with time and are formulas, over these parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unsteady {
    /// Components of sources.
    pub(crate) sources: Vec<(String, Formula)>,
    /// Numbers on faces, each for a component at this place in its cells, in the order of their tables.
    pub(crate) faces: Vec<(Face, Halves, Formula)>,
    pub(crate) params: Vec<f64>,
}

impl Unsteady {
    /// Returns the formulas of these sources, and the formulas on faces if all functions there are formulas.
    pub(crate) fn new(
        sources: Vec<(String, Formula)>,
        boundaries: &Boundaries,
        params: &[f64],
    ) -> Self {
        let faces = tables(boundaries).map(|table| match table.number {
            Number::Function(function) => {
                Some((table.face, table.halves, function.formula()?.clone()))
            }
            Number::Constant(_) => None,
        });
        Unsteady {
            sources,
            faces: faces.collect::<Option<_>>().unwrap_or_default(),
            params: params.to_vec(),
        }
    }

    /// Returns all formulas: the sources, then the faces.
    fn formulas(&self) -> Vec<&Formula> {
        let sources = self.sources.iter().map(|(_, formula)| formula);
        let faces = self.faces.iter().map(|(.., formula)| formula);
        sources.chain(faces).collect()
    }

    /// Returns the text of its kernels, if there is any formula.
    pub(crate) fn source<T: Real>(&self, patches: Patches) -> Result<Option<Source>, CudaError> {
        let formulas = self.formulas();
        if formulas.is_empty() {
            return Ok(None);
        }
        Ok(Some(Source {
            name: "formulas".into(),
            text: text::<T>(patches, self.params.len(), &formulas)?,
            shared_bytes: 0,
            threads: [THREADS, 1, 1],
            needs: OLDEST,
            line_notes: Vec::new(),
            line_origins: Vec::new(),
        }))
    }
}

/// Returns the text of the kernels for some formulas over `params` parameters, x, y, z and t.
fn text<T: Real>(
    patches: Patches,
    params: usize,
    formulas: &[&Formula],
) -> Result<String, CudaError> {
    let name = |at: usize| format!("formula_{at}");
    let names: Vec<String> = (0..formulas.len()).map(name).collect();
    let named = names.iter().map(String::as_str).zip(formulas.iter().copied());
    let functions = emit::cuda_formulas(&named.collect::<Vec<_>>())?;
    Ok(format!(
        "{}#define PARAMS {params}\n\n{functions}{}{TEXT}",
        head::<T>(patches),
        choice("formula", &names)
    ))
}

impl Formulas {
    /// Compiles the formulas.
    pub(crate) fn new<T: Real>(
        card: &Opened,
        cache: Option<&Cache>,
        (patches, shape, own): (Patches, MeshShape, Owned),
        (mesh, periodic): (&Mesh, [bool; 3]),
        unsteady: &Unsteady,
    ) -> Result<Option<Self>, CudaError> {
        let Some(source) = unsteady.source::<T>(patches)? else {
            return Ok(None);
        };
        let module = one(card, cache, &source)?;
        let [x, y, z] = periodic.map(i32::from);
        let points = |of: &Mesh| Points {
            origin: of.origin,
            spacing: of.spacing(),
            shift: of.shift(),
            periodic: [x, y, z, 0],
        };
        let faces = unsteady.faces.iter();
        // There is at least one number, so that there is an address.
        let params: Vec<f64> = unsteady.params.iter().copied().chain([0.0]).collect();
        let failed = CudaError::driver("copying parameters to the card");
        Ok(Some(Formulas {
            source: function(&module, "sample_source")?,
            face: function(&module, "sample_face")?,
            shape,
            own,
            mesh: *mesh,
            points: points(mesh),
            params: card.stream.clone_htod(&params).map_err(&failed)?,
            sources: unsteady.sources.len(),
            faces: faces.map(|(face, halves, _)| (*face, points(&mesh.at(*halves)))).collect(),
        }))
    }

    /// Returns the bytes of its parameters.
    pub(crate) fn bytes(&self) -> usize {
        self.params.num_bytes()
    }

    /// Are there formulas on faces?
    pub(crate) fn has_faces(&self) -> bool {
        !self.faces.is_empty()
    }

    /// Returns the faces with a table of numbers each, in the order of their tables.
    pub(crate) fn faces(&self) -> impl Iterator<Item = Face> {
        self.faces.iter().map(|(face, _)| *face)
    }

    /// Evaluates the formula of a source in all cells of its card's patches of an array, ghost cells included, at a time
    /// in the memory of the cards.
    pub(crate) fn source(
        &self,
        stream: &Arc<CudaStream>,
        which: usize,
        first: u64,
        time: &CudaView<'_, f64>,
    ) -> Result<(), CudaError> {
        let [_, y, z] = [0, 1, 2].map(|a| (self.shape.n[a] + 2 * self.shape.halo[a]) as usize);
        let rows = y.saturating_mul(z).saturating_mul(self.own.count());
        let which = which as i32;
        let mut launch = stream.launch_builder(&self.source);
        launch.arg(&which).arg(&first).arg(&self.shape);
        launch.arg(&self.points).arg(&self.own).arg(&self.params).arg(time);
        // SAFETY: the arguments are those of the kernel, which writes the cells of the array and
        // its ghost cells.
        let launched = unsafe { launch.launch(grid(rows)) };
        launched.map_err(CudaError::driver("evaluating a source"))?;
        Ok(())
    }

    /// Evaluates the formula of a face in its table, which has a number for each line of cells, at a
    /// time in the memory of the card.
    pub(crate) fn face(
        &self,
        stream: &Arc<CudaStream>,
        number: usize,
        table: &mut CudaViewMut<'_, f64>,
        time: &CudaView<'_, f64>,
    ) -> Result<(), CudaError> {
        let cells = table.len().div_ceil(THREADS as usize);
        let which = (self.sources + number) as i32;
        let (face, points) = &self.faces[number];
        let axis = face.axis.index() as i32;
        let wall = self.mesh.wall(*face);
        let mut launch = stream.launch_builder(&self.face);
        launch.arg(&which).arg(table).arg(&axis).arg(&wall);
        launch.arg(&self.shape).arg(points);
        launch.arg(&self.params).arg(time);
        // SAFETY: the arguments are those of the kernel; the table has a number for each line.
        let launched = unsafe { launch.launch(grid(cells)) };
        launched.map_err(CudaError::driver("evaluating numbers on a face"))?;
        Ok(())
    }
}

fn grid(blocks: usize) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (blocks.clamp(1, MOST_BLOCKS) as u32, 1, 1),
        block_dim: (THREADS, 1, 1),
        shared_mem_bytes: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::compile::nvrtc::tests::nvrtc;

    #[test]
    fn the_text_compiles_for_each_architecture() {
        let Some(nvrtc) = nvrtc() else {
            return;
        };
        let names = ["k", "x", "y", "z", "t"];
        let read = |text: &str| Formula::parse(text, &names).unwrap();
        let all = [
            read("sin(k*x - t) * exp(-y^2)"),
            read("if z > 1/2 { pow(4 + atan2(y, x), t) } else { t }"),
            read("3/4"),
            read("x"),
        ];
        let all: Vec<&Formula> = all.iter().collect();
        for patches in [Patches::One, Patches::Many] {
            for text in [text::<f32>(patches, 1, &all), text::<f64>(patches, 1, &all)] {
                let text = text.unwrap();
                for architecture in ["sm_80", "sm_90", "sm_100"] {
                    let compiled = nvrtc.compile(&text, "formulas.cu", architecture).unwrap();
                    assert_eq!(compiled.kernels.len(), 2);
                }
            }
        }
    }
}
