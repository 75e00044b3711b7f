//! Comparisons of schedules on a card with the processor, bit for bit.

use stencil_compiler::diag::counted;

/// The comparisons of all systems, in their order.
#[derive(Clone, Debug, Default)]
pub struct Comparisons(pub Vec<Comparison>);

/// The comparison of a system in one precision.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The system, its dimension and the precision, in columns.
    pub name: String,
    /// Schedules that were compared.
    pub schedules: usize,
    /// Values that were compared.
    pub values: usize,
    /// Values that differ.
    pub differing: usize,
    /// A line for each schedule that is wrong.
    pub wrong: Vec<String>,
}

impl Comparison {
    /// Returns its lines of the table.
    pub fn text(&self) -> String {
        let (name, schedules, values, differing) =
            (&self.name, self.schedules, self.values, self.differing);
        let mut lines = format!("{name} {schedules:>9} {values:>12} {differing:>10}\n");
        for line in &self.wrong {
            lines += &format!("  {line}\n");
        }
        lines
    }
}

impl Comparisons {
    /// Returns the line above the table.
    pub fn heading() -> String {
        format!(
            "{:<24} {}  {:<4} {:>9} {:>12} {:>10}\n",
            "system", "dim", "", "schedules", "values", "differing"
        )
    }

    /// Returns the verdict.
    ///
    /// # Errors
    /// If bits differ, or a schedule did not run.
    pub fn end(&self) -> Result<&'static str, String> {
        let wrong: usize = self.0.iter().map(|of| of.wrong.len()).sum();
        let schedules = counted(wrong, "schedule");
        match self.0.iter().map(|of| of.differing).sum::<usize>() {
            0 if wrong == 0 => Ok("all bits are equal\n"),
            0 => Err(format!(
                "error: {schedules} did not run; all others have the bits of the processor"
            )),
            _ => Err(format!(
                "error: {schedules} did not run, or have other bits than the processor"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_that_did_not_run_are_told_from_other_bits() {
        let all = |wrong: usize, differing| {
            let wrong = vec!["gpu: illegal schedule".to_string(); wrong];
            Comparisons(vec![Comparison { wrong, differing, ..Comparison::default() }]).end()
        };
        assert_eq!(all(0, 0), Ok("all bits are equal\n"));
        assert!(all(1, 0).unwrap_err().contains("1 schedule did not run; all others have"));
        assert!(all(2, 7).unwrap_err().contains("2 schedules did not run, or have other bits"));
    }
}
