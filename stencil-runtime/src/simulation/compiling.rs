//! The compiled program of a system that was read at run time, and the change to it.

use std::mem;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use super::{Engine, Simulation};
use crate::backend::cpu::native;
use crate::{Error, Number};

/// The time of steps after which a program is compiled: a shorter run would not gain by it.
const DELAY: Duration = Duration::from_millis(300);

/// The compiled program of a run on the processor whose system is not compiled in, such as one that was read from a file.
/// Results do not depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// The run needs none: its system is compiled in, it was given a schedule or the row engine, it is on a card, its mesh
    /// is streamed, several ranks do it, or the variable `STENCIL_CC` is empty.
    Unwanted,
    /// There is none yet: the row engine does the steps. After 0.3 s of steps a thread has the kernels compiled by the C
    /// compiler of this machine, or takes what an earlier run kept.
    NotYet,
    /// It does the steps after this number.
    Since(u64),
    /// There is none, for this reason: the row engine does all steps.
    Failed(String),
}

/// The state of a program.
#[derive(Clone, Debug)]
pub(crate) enum Compiling {
    /// A thread may begin after this time of steps.
    Open,
    /// A thread compiles it.
    Begun(Arc<OnceLock<native::Found>>),
    Over(Program),
}

impl<T: Number> Simulation<T> {
    /// Returns the state of the compiled program.
    ///
    /// ```
    /// # use stencil_runtime::{Engine, Program, Simulation, SystemDef};
    /// let heat = SystemDef::from_text("h", "pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }")?;
    /// let run = || Simulation::<f64>::builder(&heat).cells([8, 1, 1]).dt(1e-3);
    /// assert_eq!(run().build()?.program(), Program::NotYet);
    /// assert_eq!(run().engine(Engine::Rows).build()?.program(), Program::Unwanted);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    pub fn program(&self) -> Program {
        match &self.compiling {
            Compiling::Over(program) => program.clone(),
            Compiling::Open | Compiling::Begun(_) => Program::NotYet,
        }
    }

    /// Begins to compile the program, or goes on by it if it is there. A program that fails changes nothing.
    pub(super) fn use_program(&mut self) -> Result<(), Error> {
        match &self.compiling {
            Compiling::Over(_) => {}
            Compiling::Open if self.timings.steps >= DELAY => {
                self.compiling = match native::is_off() {
                    true => Compiling::Over(Program::Unwanted),
                    false => self.begin_to_compile(),
                };
            }
            Compiling::Open => {}
            Compiling::Begun(found) => {
                if let Some(found) = found.get().cloned() {
                    self.compiling = Compiling::Over(self.go_on_compiled(found));
                }
            }
        }
        Ok(())
    }

    /// Compiles in a thread. Nobody waits for it: a process may end before it.
    fn begin_to_compile(&self) -> Compiling {
        let found = Arc::new(OnceLock::new());
        let publish = found.clone();
        let (system, instructions) = (self.system().clone(), self.setup.instructions);
        let work = move || {
            let of = (system.algorithm(), system.schedule());
            let _ = publish.set(native::program::<T>(of, instructions));
        };
        match thread::Builder::new().name("program".into()).spawn(work) {
            Ok(_) => Compiling::Begun(found),
            Err(error) => Compiling::Over(Program::Failed(error.to_string())),
        }
    }

    /// Goes on by a program that was found.
    fn go_on_compiled(&mut self, found: native::Found) -> Program {
        let kernels = match found {
            Ok(kernels) => kernels,
            Err(reason) => return Program::Failed(reason),
        };
        let system = self.system().with_kernels(kernels);
        let rows = mem::replace(&mut self.setup.system, system);
        let changed = self.change_to(Engine::Cpu, None);
        match changed {
            Ok(()) => Program::Since(self.steps),
            Err(error) => {
                self.setup.system = rows;
                Program::Failed(error.to_string())
            }
        }
    }
}

#[cfg(test)]
impl<T: Number> Simulation<T> {
    /// Goes on as if a thread had found this.
    pub(crate) fn found_program(&mut self, found: native::Found) {
        self.compiling = Compiling::Begun(Arc::new(OnceLock::from(found)));
    }
}
