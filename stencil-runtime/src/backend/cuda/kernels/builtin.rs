//! Kernels of this backend that are the same for all systems.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaModule};
use stencil_compiler::emit::{Patches, Source};
use stencil_compiler::expr::Real;
use stencil_compiler::schedule::Layout;

use crate::Number;
use crate::backend::cuda::CudaError;
use crate::backend::cuda::card::{OLDEST, Opened};
use crate::backend::cuda::compile::cache::Cache;
use crate::backend::cuda::kernels::ghosts::{self, Packing};
use crate::backend::cuda::kernels::launch::{function, one};
use crate::backend::cuda::kernels::reduce;
use crate::backend::cuda::memory;
use crate::backend::cuda::memory::patches;
use crate::backend::cuda::memory::strided;
use crate::mesh::DEEPEST;

/// The form of kernels that are the same for all systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// One patch, or many.
    pub(crate) patches: Patches,
    /// The layout of arrays, or surfaces.
    pub(crate) layout: Layout,
    /// Do rules of faces read [several components](crate::mesh::Boundaries::reads_others)?
    pub(crate) across: bool,
}

/// Returns the kernels that are the same for all systems, for one precision.
pub(crate) fn own_text<T: Number>(form: Form) -> String {
    let moves = match form.layout {
        Layout::Soa | Layout::Surface => "",
        Layout::Aos => strided::TEXT,
    };
    format!("{}\n{}{moves}", with_ghosts::<T>(form, false), reduce::TEXT)
}

/// Returns the kernels that pack and unpack ghost cells, whose values go from process to process.
pub(crate) fn packing_source<T: Number>(layout: Layout, across: bool) -> Source {
    let form = Form { patches: Patches::Many, layout, across };
    source("packing", with_ghosts::<T>(form, true))
}

/// Returns the head, and the text of kernels for ghost cells in their places or packed.
fn with_ghosts<T: Number>(Form { patches, layout, across }: Form, packed: bool) -> String {
    format!(
        "{}#define ARRAYS {}\n#define DEEPEST {DEEPEST}\n#define PACKED {}\n#define ACROSS {}\n{}",
        head_of::<T>(patches, layout),
        memory::ARRAYS,
        i32::from(packed),
        i32::from(across),
        ghosts::TEXT
    )
}

/// Returns the head of texts of this backend, whose arrays are alone.
pub(crate) fn head<T: Real>(patches: Patches) -> String {
    head_of::<T>(patches, Layout::Soa)
}

fn head_of<T: Real>(patches: Patches, layout: Layout) -> String {
    format!(
        "typedef {} real;\n#define MANY {}\n#define BESIDE {}\n#define SURFACE {}\n{}\n",
        if T::BYTES == 4 { "float" } else { "double" },
        i32::from(patches == Patches::Many),
        i32::from(layout == Layout::Aos),
        i32::from(layout == Layout::Surface),
        patches::TEXT
    )
}

/// Returns the kernels that are the same for all systems, as sources: one for arrays, and one for surfaces if fields
/// are surfaces.
pub(crate) fn own_sources<T: Number>(form: Form) -> Vec<Source> {
    let layouts = match form.layout {
        Layout::Soa | Layout::Aos => vec![form.layout],
        Layout::Surface => vec![Layout::Soa, form.layout],
    };
    let of = |layout| source("own", own_text::<T>(Form { layout, ..form }));
    layouts.into_iter().map(of).collect()
}

/// Returns a text of this backend as a source.
fn source(name: &str, text: String) -> Source {
    Source {
        name: name.into(),
        text,
        shared_bytes: 0,
        threads: [256, 1, 1],
        needs: OLDEST,
        line_notes: Vec::new(),
        line_origins: Vec::new(),
    }
}

/// Compiles and loads the kernels that pack and unpack ghost cells of arrays with this layout.
pub(crate) fn packing<T: Number>(
    card: &Opened,
    cache: Option<&Cache>,
    (layout, across): (Layout, bool),
) -> Result<Packing, CudaError> {
    let module = one(card, cache, &packing_source::<T>(layout, across))?;
    Ok(Packing {
        pack: function(&module, "pack_ghosts")?,
        unpack: function(&module, "unpack_ghosts")?,
    })
}

/// The kernels that are the same for all systems.
pub(crate) struct Own {
    /// Module for arrays.
    arrays: Arc<CudaModule>,
    /// Module for fields, observed functions, and other arrays with their layout.
    fields: Arc<CudaModule>,
}

impl Own {
    /// Returns a kernel for fields and arrays with their layout.
    pub(crate) fn of_fields(&self, name: &str) -> Result<CudaFunction, CudaError> {
        function(&self.fields, name)
    }

    /// Returns the kernels that fill ghost cells, of arrays and of fields.
    pub(crate) fn fill_ghosts(&self) -> Result<(CudaFunction, CudaFunction), CudaError> {
        let of = |module| function(module, "fill_ghosts");
        Ok((of(&self.arrays)?, of(&self.fields)?))
    }

    /// Returns the kernels that reduce values.
    pub(crate) fn reduce(&self) -> Result<reduce::Kernels, CudaError> {
        Ok(reduce::Kernels {
            values: self.of_fields("reduce_values")?,
            parts: self.of_fields("reduce_parts")?,
            numbers: self.of_fields("reduce_numbers")?,
        })
    }
}

/// Compiles and loads the kernels that are the same for all systems.
pub(crate) fn own<T: Number>(
    card: &Opened,
    cache: Option<&Cache>,
    form: Form,
) -> Result<Own, CudaError> {
    let sources = own_sources::<T>(form);
    let modules = sources.iter().map(|source| one(card, cache, source));
    let modules: Vec<Arc<CudaModule>> = modules.collect::<Result<_, _>>()?;
    let missing =
        || CudaError::Kernel { kernel: "own".into(), reason: "it was not compiled".into() };
    Ok(Own {
        arrays: modules.first().ok_or_else(missing)?.clone(),
        fields: modules.last().ok_or_else(missing)?.clone(),
    })
}
