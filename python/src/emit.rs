//! Stages of the compiler as text.

use stencil_compiler::expr::real::Precision;
use stencil_report::emit::{Emission, Stage};
use stencil_runtime::SystemDef;
use stencil_runtime::backend::cuda::usual_device;

use crate::errors::{Raised, Result};
use crate::settings;

/// The text that is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// The name of the stage.
    pub(crate) stage: &'a str,
    pub(crate) cells: Option<[usize; 3]>,
    pub(crate) precision: Precision,
    /// A preset, a file or a text; the usual preset of the stage if none is given.
    pub(crate) schedule: Option<&'a str>,
    pub(crate) launch: Option<usize>,
    pub(crate) architecture: &'a str,
    pub(crate) marks: bool,
}

/// Returns a stage of a system as text.
pub(crate) fn text(system: &SystemDef, asked: &Asked<'_>) -> Result<String> {
    let stage = Stage::of_name(asked.stage).ok_or_else(|| {
        let names = Stage::ALL.map(|(name, ..)| name).join(", ");
        Raised::new("UnknownName", format!("no stage `{}`; there are {names}", asked.stage))
    })?;
    let wanted = asked.schedule.unwrap_or(stage.usual_preset());
    let on = (asked.precision, usual_device(asked.architecture).multiprocessor);
    let schedule = || {
        let found = settings::schedule(wanted, system.algorithm(), on, asked.cells)?;
        Ok::<_, Raised>((settings::name_of(wanted), found))
    };
    let emission = Emission {
        model: system.model(),
        algorithm: system.algorithm(),
        precision: asked.precision,
        cells: asked.cells,
        schedule: stage.is_scheduled().then(schedule).transpose()?,
        architecture: asked.architecture,
        launch: asked.launch,
        marks: asked.marks,
    };
    Ok(emission.text(stage)?)
}
