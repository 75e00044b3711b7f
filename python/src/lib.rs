//! The module `stencil._stencil` of Python: systems, problems, runs and reports, as the library makes them.
//!
//! Each class holds a value of the library and passes calls on. The package around it, in `package/stencil`, has the names
//! that users import. Arrays go both ways without any knowledge of numpy: values come as objects with an
//! `__array_interface__`, and are taken from any buffer.

use pyo3::prelude::*;

mod arrays;
mod emit;
mod errors;
mod library;
mod pictures;
mod plan;
mod problem;
mod run;
mod settings;
mod shared;
mod system;
mod tune;

/// The compiler and the engines behind the package `stencil`.
#[pymodule]
mod _stencil {
    #[pymodule_export]
    use super::arrays::{Values, View};
    #[pymodule_export]
    use super::library::{cards, error_page, problems, settings, systems};
    #[pymodule_export]
    use super::pictures::Picture;
    #[pymodule_export]
    use super::plan::Plan;
    #[pymodule_export]
    use super::problem::Problem;
    #[pymodule_export]
    use super::run::Run;
    #[pymodule_export]
    use super::system::System;
    #[pymodule_export]
    use super::tune::{Tuned, tune};
}
