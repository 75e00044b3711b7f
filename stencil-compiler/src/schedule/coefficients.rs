//! The source from which kernels take uniforms, which are the same in every cell.

use super::Schedule;

/// The source of the uniforms that do not change in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coefficients {
    /// Arguments of the kernel, with those that change.
    #[default]
    Parameter,
    /// They stand in the text of the kernel, which is one of the run then.
    Literal,
}

impl Coefficients {
    /// Every choice.
    pub const ALL: [Coefficients; 2] = [Coefficients::Parameter, Coefficients::Literal];

    /// Its word in schedules.
    pub fn word(self) -> &'static str {
        match self {
            Coefficients::Parameter => "parameter",
            Coefficients::Literal => "literal",
        }
    }

    /// The choice of this name.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.word() == word)
    }
}

impl Schedule {
    /// The schedule with another source of coefficients.
    pub fn with_coefficients(&self, coefficients: Coefficients) -> Self {
        Schedule {
            coefficients,
            ..self.clone()
        }
    }

    /// The schedule for a processor, whose programs are compiled before a run and have no literals of it.
    pub fn of_processor(&self) -> Self {
        self.with_coefficients(Coefficients::Parameter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm;
    use crate::compile::{Target, compile};
    use crate::discretize::discretize;
    use crate::expr::real::Precision;
    use crate::model::parse::parse_str;
    use crate::schedule::{Blocking, strategies, text};
    use crate::search;

    fn heat() -> Algorithm {
        let source =
            "system Heat in 3d { field q: scalar; param k: real = 1; ddt(q) = k * lap(q); }
            scheme s for Heat { space: central<order = 2>; time: ssprk2; }";
        discretize(&parse_str(source).unwrap()).unwrap()
    }

    fn schedule(source: &str) -> Schedule {
        text::parse(&format!("schedule {source}")).unwrap()
    }

    /// Any blocking serves them, and a run of fused substeps and single ones has them in both.
    #[test]
    fn coefficients_are_a_choice_of_their_own() {
        let algorithm = heat();
        for strategy in strategies::ALL {
            let usual = Schedule::default().blocked(&algorithm, Blocking::new(strategy.name, &[]));
            let literal = usual.with_coefficients(Coefficients::Literal);
            let printed = text::print(&literal);
            assert_eq!(text::parse(&printed), Ok(literal.clone()), "{printed}");
            let of = |schedule: &Schedule| {
                let compiled = compile(&algorithm, schedule, &Target::new(4));
                compiled.unwrap_or_else(|e| panic!("{}: {e}", strategy.name))
            };
            assert_eq!(of(&literal).plan.coefficients, Coefficients::Literal);
            // The values are those of a run.
            assert_eq!(of(&literal).kernels, of(&usual).kernels);
        }
        let both = schedule("fuse 2 coefficients literal kernel direct");
        assert_eq!(both.unfused(&algorithm).coefficients, Coefficients::Literal);
        assert_eq!(
            schedule("coefficients parameter kernel direct"),
            schedule("kernel direct")
        );
    }

    #[test]
    fn a_search_looks_at_them_in_the_end() {
        let algorithm = heat();
        let march = schedule("kernel march");
        let others = [
            search::first(&algorithm),
            search::neighbours(&algorithm, &march),
        ];
        let usual = |s: &Schedule| s.coefficients == Coefficients::default();
        assert!(others.concat().iter().all(usual));
        let literals = |of: &Schedule| {
            let refined = of.refined(3, Precision::F32).into_iter();
            refined.filter(|s| !usual(s)).count()
        };
        assert_eq!(literals(&march), 1);
    }
}
