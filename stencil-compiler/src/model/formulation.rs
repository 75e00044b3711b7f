//! Choices that a scheme leaves open, and the ways to settle them. Each gives other bits, so none is a matter of
//! schedules.

use std::fmt;

use super::{Arith, Mixed, Model, Scheme};

/// The settled choices of a scheme that leaves them open; it holds none that the scheme makes itself.
///
/// ```
/// use stencil_compiler::model::Formulation;
///
/// let text = "mixed composed arith as_written";
/// let read: Formulation = text.parse()?;
/// assert_eq!(read.to_string(), text);
/// assert!("mixed either".parse::<Formulation>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Formulation {
    /// The meaning of a derivative of a derivative.
    pub mixed: Option<Mixed>,
    /// The way in which equations are expanded and collected.
    pub arith: Option<Arith>,
}

impl Mixed {
    /// The choice, or the default one if it is open.
    pub fn settled(self) -> Mixed {
        match self {
            Mixed::Either => Mixed::Bidiagonal,
            Mixed::Bidiagonal | Mixed::Product | Mixed::Composed => self,
        }
    }
}

impl Arith {
    /// The choice, or the default one if it is open.
    pub fn settled(self) -> Arith {
        match self {
            Arith::Either => Arith::Collected,
            Arith::Collected | Arith::AsWritten | Arith::Differences => self,
        }
    }
}

impl Scheme {
    /// Does it leave a choice open?
    pub fn is_open(&self) -> bool {
        self.mixed == Mixed::Either || self.arith == Arith::Either
    }

    /// All ways to settle it, the default first; a single empty one if nothing is open.
    pub fn formulations(&self) -> Vec<Formulation> {
        let mixed = Mixed::ALL.iter().map(|(_, mixed)| *mixed);
        let mixed = open(self.mixed, mixed, Mixed::settled);
        let arith = [Arith::Collected, Arith::AsWritten];
        let arith = open(self.arith, arith.into_iter(), Arith::settled);
        let with = |mixed: Option<Mixed>| {
            let each = arith.iter();
            each.map(move |arith| Formulation { mixed, arith: *arith })
        };
        mixed.into_iter().flat_map(with).collect()
    }

    /// The scheme with its open choices settled; those that it makes itself stay.
    #[must_use]
    pub fn by(&self, formulation: Formulation) -> Scheme {
        let mixed = formulation.mixed.filter(|_| self.mixed == Mixed::Either);
        let arith = formulation.arith.filter(|_| self.arith == Arith::Either);
        Scheme {
            mixed: mixed.unwrap_or(self.mixed).settled(),
            arith: arith.unwrap_or(self.arith).settled(),
            ..self.clone()
        }
    }

    /// Does it differ from another one only in choices that either leaves open?
    pub fn settles(&self, declared: &Scheme) -> bool {
        let choice = Formulation { mixed: Some(self.mixed), arith: Some(self.arith) };
        self.by(Formulation::default()) == declared.by(choice)
    }
}

impl Model {
    /// The model with nothing left open: its scheme is settled by a formulation, and others by the default.
    #[must_use]
    pub fn by(&self, formulation: Formulation) -> Model {
        let others = self.others.iter();
        Model {
            scheme: self.scheme.by(formulation),
            others: others.map(|o| o.by(Formulation::default())).collect(),
            ..self.clone()
        }
    }
}

/// The ways to settle a choice, the default first; a single `None` if the choice is made.
fn open<T: Copy + PartialEq>(
    choice: T,
    all: impl Iterator<Item = T>,
    settled: fn(T) -> T,
) -> Vec<Option<T>> {
    let usual = settled(choice);
    if usual == choice {
        return vec![None];
    }
    let others = all.filter(|other| ![choice, usual].contains(other));
    [usual].into_iter().chain(others).map(Some).collect()
}

impl fmt::Display for Formulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mixed = self.mixed.map(|mixed| format!("mixed {}", mixed.name()));
        let arith = self.arith.map(|arith| format!("arith {}", arith.name()));
        let words: Vec<String> = mixed.into_iter().chain(arith).collect();
        f.write_str(&words.join(" "))
    }
}

impl std::str::FromStr for Formulation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut found = Formulation::default();
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.chunks(2) {
            let known = match *pair {
                ["mixed", word] if found.mixed.is_none() => {
                    found.mixed = chosen(Mixed::ALL, word).filter(|m| m.settled() == *m);
                    found.mixed.is_some()
                }
                ["arith", word] if found.arith.is_none() => {
                    found.arith = chosen(Arith::ALL, word).filter(|a| a.settled() == *a);
                    found.arith.is_some()
                }
                _ => false,
            };
            if !known {
                return Err(format!(
                    "`{}` settles no choice; `mixed composed` does",
                    pair.join(" ")
                ));
            }
        }
        match words.is_empty() {
            true => Err("no choice is settled".to_string()),
            false => Ok(found),
        }
    }
}

fn chosen<T: Copy>(all: &[(&str, T)], word: &str) -> Option<T> {
    let found = all.iter().find(|(name, _)| *name == word);
    found.map(|(_, choice)| *choice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheme(mixed: Mixed, arith: Arith) -> Scheme {
        Scheme { mixed, arith, ..Scheme::default() }
    }

    #[test]
    fn what_is_open_is_settled_in_each_way_and_what_is_chosen_stays() {
        let all = scheme(Mixed::Either, Arith::Collected).formulations();
        let names: Vec<String> = all.iter().map(Formulation::to_string).collect();
        assert_eq!(names, ["mixed bidiagonal", "mixed product", "mixed composed"]);
        let both = scheme(Mixed::Either, Arith::Either);
        let all = both.formulations();
        assert_eq!(all.len(), 6);
        assert_eq!(all[0].to_string(), "mixed bidiagonal arith collected");
        // The first one is the default.
        assert_eq!(both.by(all[0]), both.by(Formulation::default()));
        for formulation in all {
            let settled = both.by(formulation);
            assert!(!settled.is_open());
            assert_eq!(formulation.to_string().parse(), Ok(formulation));
            assert_eq!(
                (Some(settled.mixed), Some(settled.arith)),
                (formulation.mixed, formulation.arith)
            );
        }
        let composed = scheme(Mixed::Composed, Arith::Either);
        assert!(
            composed.settles(&both) && both.settles(&scheme(Mixed::Bidiagonal, Arith::Collected))
        );
        assert!(!composed.settles(&scheme(Mixed::Product, Arith::Either)));
        let made = scheme(Mixed::Product, Arith::AsWritten);
        assert!(!made.is_open());
        assert_eq!(made.formulations(), [Formulation::default()]);
        assert_eq!(made.by(both.formulations()[4]), made);
    }

    #[test]
    fn what_settles_nothing_is_refused() {
        for text in ["", "mixed", "mixed either", "mixed composed mixed product", "order 6"] {
            assert!(text.parse::<Formulation>().is_err(), "{text}");
        }
    }
}
