//! Compiled programs of systems that are read at run time: kernels written as C, compiled by the compiler of this machine,
//! kept in a folder of the user, and loaded.
//!
//! The compiler gets the text that [`emit::c`](stencil_compiler::emit::c) makes of checked kernels, and nothing else.
//! Without a compiler, or where its code cannot be loaded, the row engine does the steps, with equal bits.

mod compiler;
mod store;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use libloading::Library;
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::emit::{self, RowAccess};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::Kernel;
use stencil_compiler::schedule::Schedule;

use super::instructions::{Checked, Instructions};
use super::loaded::{Function, Loaded};
use super::program::{CompiledKernel, Entry, Tables};
use crate::Number;

use compiler::{CCompiler, options};
use store::Store;

/// A program for some instructions, or the reason why there is none.
pub(crate) type Found = Result<&'static [CompiledKernel], String>;

/// Programs of this process. A library stays loaded, so that its functions can be called at any time.
static PROGRAMS: Mutex<BTreeMap<String, &'static [CompiledKernel]>> = Mutex::new(BTreeMap::new());

/// The place where compiled programs come from: a compiler, and a folder.
#[derive(Debug)]
pub(crate) struct Workshop {
    compiler: CCompiler,
    store: Store,
}

impl Workshop {
    /// The compiler and the folder of this user.
    ///
    /// # Errors
    /// The reason in words, if there is no compiler, or the folder is not the user's alone.
    pub(crate) fn of_user() -> Result<Self, String> {
        Ok(Workshop { compiler: CCompiler::of_user()?, store: Store::of_user()? })
    }

    /// Returns the kernels of an algorithm by a schedule over rows, one for each launch: from this process, from the folder, or
    /// compiled now.
    ///
    /// # Errors
    /// The reason in words.
    pub(crate) fn program<T: Number>(
        &self,
        (algorithm, schedule): (&Algorithm, &Schedule),
        instructions: Checked,
    ) -> Found {
        let options = options(instructions.get())?;
        let target = Target::processor(T::BYTES);
        let compiled = compile(algorithm, schedule, &target).map_err(|e| e.to_string())?;
        let kernels: Vec<&Kernel> = compiled.kernels.iter().collect();
        let lanes = instructions.register_bytes() / T::BYTES;
        let text = emit::c(&kernels, T::PRECISION, lanes).map_err(|e| e.to_string())?;
        let key = format!("{}\n{}\n{text}", self.compiler.version(), options.join(" "));
        if let Some(known) = programs().get(&key) {
            return Ok(known);
        }
        let library = match self.store.find(&key) {
            Some(library) => library,
            None => {
                let compile = |to: &_| self.compiler.compile(&text, &options, to);
                self.store.keep(&key, compile)?
            }
        };
        let program = table::<T>(&library, &kernels, lanes)?;
        // The library is never unloaded: its functions are called as long as the process lives.
        std::mem::forget(library);
        Ok(programs().entry(key).or_insert(program))
    }
}

fn programs() -> std::sync::MutexGuard<'static, BTreeMap<String, &'static [CompiledKernel]>> {
    PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the table of the kernels of a library, which lasts as long as the process.
fn table<T: Number>(
    library: &Library,
    kernels: &[&Kernel],
    lanes: usize,
) -> Result<&'static [CompiledKernel], String> {
    let mut table = Vec::new();
    for (number, kernel) in kernels.iter().enumerate() {
        let access = emit::row_access(kernel).map_err(|e| e.to_string())?;
        let tables = tables(kernel, access);
        let kernel = match T::PRECISION {
            Precision::F32 => CompiledKernel {
                tables,
                f32: entry(library, number, tables, lanes)?,
                f64: Entry::Missing,
            },
            Precision::F64 => CompiledKernel {
                tables,
                f32: Entry::Missing,
                f64: entry(library, number, tables, lanes)?,
            },
        };
        table.push(kernel);
    }
    Ok(table.leak())
}

fn entry<T: Number>(
    library: &Library,
    number: usize,
    tables: Tables,
    lanes: usize,
) -> Result<Entry<T>, String> {
    let name = format!("stencil_rows_{number}\0");
    // SAFETY: the library was made from the text of these kernels, whose functions have this type; the store has checked
    // that nobody else changed it.
    let function = unsafe { library.get::<Function<T>>(name.as_bytes()) };
    let function = function.map_err(|e| format!("the compiled program lacks a kernel: {e}"))?;
    // SAFETY: as above; the library stays loaded, and the processor was checked to have the instructions.
    let loaded = unsafe { Loaded::new(*function, tables.inputs, tables.outputs.len(), lanes) };
    Ok(Entry::Loaded(loaded))
}

fn tables(kernel: &Kernel, access: RowAccess) -> Tables {
    let names = |names: Vec<&String>| -> &'static [&'static str] {
        names.into_iter().map(|name| &*name.clone().leak()).collect::<Vec<&'static str>>().leak()
    };
    Tables {
        name: kernel.name.clone().leak(),
        buffers: names(kernel.buffers.iter().map(|buffer| &buffer.name).collect()),
        uniforms: names(kernel.uniforms.iter().collect()),
        inputs: access.inputs.leak(),
        outputs: access.outputs.leak(),
    }
}

/// Does the user want no compiler?
pub(crate) fn is_off() -> bool {
    std::env::var_os(compiler::VARIABLE).is_some_and(|own| own.is_empty())
}

/// Returns the program of the system's own schedule by the user's compiler.
///
/// # Errors
/// The reason in words.
pub(crate) fn program<T: Number>(of: (&Algorithm, &Schedule), instructions: Checked) -> Found {
    // A processor that cannot run it needs no compiler.
    options(instructions.get())?;
    Workshop::of_user()?.program::<T>(of, instructions)
}

#[cfg(test)]
mod tests;
