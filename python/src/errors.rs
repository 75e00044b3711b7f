//! Errors of the library as exceptions of Python: each with its code, its text and a class.

use std::fmt::Display;

use pyo3::prelude::*;
use stencil_compiler::diag::Code;
use stencil_report::Failure;
use stencil_runtime::Error;
use stencil_runtime::plot::PlotError;
use stencil_runtime::problem::ProblemError;

/// The Python module that declares the exceptions.
const MODULE: &str = "stencil.errors";

/// An exception to raise: the name of its class, its text, and its code if it has one.
#[derive(Debug)]
pub(crate) struct Raised {
    class: &'static str,
    text: String,
    code: Option<String>,
}

/// The result of a call from Python.
pub(crate) type Result<T> = std::result::Result<T, Raised>;

impl Raised {
    /// Makes an exception of a class, with a text that may begin with `error[CODE]`.
    pub(crate) fn new(class: &'static str, text: impl Display) -> Self {
        let text = text.to_string().trim_end().to_string();
        let code = code_in(&text);
        Raised { class, text, code }
    }

    /// Makes the exception for a setting that makes no sense.
    pub(crate) fn setting(text: impl Display) -> Self {
        Raised::new("SettingError", text)
    }

    /// Makes the exception for a fault of the package itself.
    pub(crate) fn bug(text: impl Display) -> Self {
        Raised::new("Bug", format!("internal error: {text}. Please report this"))
    }
}

/// Returns the first code of a rendered text: that of `error[P0101]: ..`.
fn code_in(text: &str) -> Option<String> {
    let (code, _) = text.split_once("error[")?.1.split_once(']')?;
    Code::from_text(code).map(|code| code.to_string())
}

/// Returns the class of an error.
fn class(error: &Error) -> &'static str {
    match error {
        Error::Declaration(_) | Error::Formula { .. } => "DeclarationError",
        Error::Unknown { .. } => "UnknownName",
        Error::Read { .. } | Error::Restart { .. } | Error::Output(_) => "FileError",
        Error::Schedule(_) | Error::NoSchedule { .. } | Error::NotCompiled { .. } => {
            "ScheduleError"
        }
        Error::Cuda(_) | Error::Instructions(_) | Error::Memory(_) | Error::Threads { .. } => {
            "DeviceError"
        }
        Error::Initial { .. }
        | Error::Lost
        | Error::NoStableStep { .. }
        | Error::NotFinite(_)
        | Error::NoTimeStep { .. }
        | Error::Speed(_)
        | Error::StepRejected { .. }
        | Error::Unstable(_) => "NumericalError",
        Error::Bug(_) => "Bug",
        _ => "SettingError",
    }
}

impl From<Error> for Raised {
    fn from(error: Error) -> Self {
        let mut raised = Raised::new(class(&error), &error);
        raised.code = error.code().map(|code| code.to_string()).or(raised.code);
        raised
    }
}

impl From<Failure> for Raised {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Run(error) => error.into(),
            Failure::Told(text) => Raised::new("Error", text),
        }
    }
}

impl From<ProblemError> for Raised {
    fn from(error: ProblemError) -> Self {
        Raised::new("DeclarationError", error)
    }
}

impl From<PlotError> for Raised {
    fn from(error: PlotError) -> Self {
        Raised::new("FileError", error)
    }
}

impl From<Raised> for PyErr {
    fn from(raised: Raised) -> Self {
        let make = |py: Python<'_>| {
            let class = py.import(MODULE)?.getattr(raised.class)?;
            class.call1((raised.text, raised.code)).map(PyErr::from_value)
        };
        Python::attach(|py| make(py).unwrap_or_else(|error| error))
    }
}
