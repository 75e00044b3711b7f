//! Consecutive values that one instruction reads or writes.

use super::EmitError;
use super::c_like::Printer;
use super::infix::{self, SUM};
use super::nest::Tree;
use crate::schedule::COPY_BYTES;

impl Printer<'_> {
    /// Reads consecutive values of a shared array.
    pub(super) fn load_shared(
        &mut self,
        regs: &[u32],
        array: &str,
        at: &str,
    ) -> Result<(), EmitError> {
        if regs.len() == 1 {
            return self.define(regs[0], &format!("{array}[{at}]"));
        }
        // One instruction moves 16 bytes at most.
        let step = regs.len().min(COPY_BYTES / self.precision.bytes());
        let vector =
            self.dialect.vector(self.precision, step).filter(|_| matches!(regs.len(), 2 | 4));
        let Some(vector) = vector else {
            return Err(EmitError::Arity { what: "a shared load", found: regs.len() });
        };
        for (i, part) in regs.chunks(step).enumerate() {
            let at = if i == 0 { at.to_string() } else { format!("{at} + {}", i * step) };
            let name = format!("v{}_", self.vectors);
            self.vectors += 1;
            self.line(&format!(
                "const {vector} {name} = *reinterpret_cast<const {vector}*>(&{array}[{at}]);"
            ));
            for (reg, member) in part.iter().zip(["x", "y", "z", "w"]) {
                self.define(*reg, &format!("{name}.{member}"))?;
            }
        }
        Ok(())
    }

    /// Writes consecutive values of an array, also those near its ends to ghost cells of other devices.
    pub(super) fn write_and_send(
        &mut self,
        array: &str,
        values: &[Tree],
        at: impl Fn(&Self, i32) -> Result<String, EmitError>,
    ) -> Result<(), EmitError> {
        let mut named = Vec::new();
        for value in values {
            let name = format!("s{}_", self.vectors);
            self.vectors += 1;
            let value = infix::print(value, SUM, self)?;
            self.line(&format!("const {} {name} = {value};", self.real()));
            named.push(name);
        }
        let first = at(self, 0)?;
        // One comparison for almost all cells.
        self.line(&format!("if (static_cast<unsigned>({first} - low) < inside) {{"));
        self.write_named(array, &named, &at)?;
        // Patches that have a layer less than others compute the next one of their neighbour, too.
        self.line(&format!("}} else if ({first} < end) {{"));
        self.write_named(array, &named, &at)?;
        for (test, to) in [("< low", "to_low"), (">= high", "to_high")] {
            self.line(&format!("if ({first} {test}) {{"));
            self.write_named(array, &named, |printer: &Self, n| {
                Ok(format!("{to} + {}", at(printer, n)?))
            })?;
            self.line("}");
        }
        self.line("}");
        Ok(())
    }

    /// Writes consecutive values of an array; `at` spells the index of each.
    pub(super) fn write(
        &mut self,
        array: &str,
        values: &[Tree],
        at: impl Fn(&Self, i32) -> Result<String, EmitError>,
    ) -> Result<(), EmitError> {
        let printed = values.iter().map(|value| infix::print(value, SUM, self));
        let printed = printed.collect::<Result<Vec<String>, _>>()?;
        self.write_named(array, &printed, at)
    }

    /// The same with values as texts.
    fn write_named(
        &mut self,
        array: &str,
        values: &[String],
        at: impl Fn(&Self, i32) -> Result<String, EmitError>,
    ) -> Result<(), EmitError> {
        let step = values.len().min(COPY_BYTES / self.precision.bytes());
        for (first, part) in (0..).step_by(step.max(1)).zip(values.chunks(step.max(1))) {
            let at = at(self, first)?;
            let printed = part.join(", ");
            let line = match (part.len(), self.dialect.vector(self.precision, part.len())) {
                (1, _) => format!("{array}[{at}] = {printed};"),
                (_, Some(vector)) => {
                    format!("*reinterpret_cast<{vector}*>(&{array}[{at}]) = {vector}{{{printed}}};")
                }
                (found, None) => {
                    return Err(EmitError::Arity { what: "a store", found });
                }
            };
            self.line(&line);
        }
        Ok(())
    }
}
