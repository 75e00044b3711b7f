//! Riemann solvers: the flux through a face from what is on both sides of it.

use super::Law;
use super::algebra::Algebra;
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;

mod contact;
mod force;
mod hll;
mod hllc;
mod rusanov;

use contact::Contact;

/// One approximate solver.
pub(crate) struct Solver {
    /// Its name in the language.
    pub(crate) name: &'static str,
    /// What it is, and where it is from.
    pub(crate) source: &'static str,
    /// What it needs to know beside the flux.
    pub(crate) needs: Needs,
    /// The flux of each conserved component.
    pub(in crate::discretize) flux: fn(&mut Face<'_, '_, '_>) -> Result<Vec<Poly>>,
}

/// What a solver needs from `waves`, each with what is above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Needs {
    /// Nothing.
    Nothing,
    /// Bounds of the speeds.
    Speeds,
    /// What moves with the flow, and what pressure does.
    Contact,
}

/// All solvers.
pub(crate) const ALL: &[Solver] = &[force::SOLVER, hll::SOLVER, hllc::SOLVER, rusanov::SOLVER];

/// The solver of this name.
pub(crate) fn find(name: &str) -> Option<&'static Solver> {
    ALL.iter().find(|solver| solver.name == name)
}

/// What is known on one side of a face.
pub(super) struct Side {
    /// All components.
    pub(super) states: Vec<Poly>,
    /// Those that are conserved.
    pub(super) conserved: Vec<Poly>,
    /// Their fluxes.
    pub(super) fluxes: Vec<Poly>,
    /// The slowest and the fastest wave.
    pub(super) waves: Option<[Poly; 2]>,
    /// What a contact needs.
    pub(super) contact: Option<Contact>,
}

/// A face between two cells.
pub(in crate::discretize) struct Face<'f, 'e, 'a> {
    pub(super) algebra: Algebra<'e, 'a>,
    pub(super) law: &'f Law<'f>,
    pub(super) axis: usize,
    /// Conserved components with the axis, for names.
    pub(super) names: Vec<String>,
    /// Below and above.
    pub(super) sides: [Side; 2],
}

impl Face<'_, '_, '_> {
    /// How many components are conserved.
    fn len(&self) -> usize {
        self.names.len()
    }

    /// The sum of a component's fluxes on both sides, and the jump of the component.
    fn sum_and_jump(&mut self, at: usize) -> Result<[Poly; 2]> {
        let ([below, above], of) = (&self.sides, &mut self.algebra);
        let sum = of.plus(&below.fluxes[at], &above.fluxes[at])?;
        let jump = of.minus(&above.conserved[at], &below.conserved[at])?;
        let name = &self.names[at];
        Ok([
            of.named(&format!("{name}_flux_sum"), sum),
            of.named(&format!("{name}_jump"), jump),
        ])
    }

    /// Bounds of the speeds on both sides: the slowest and the fastest.
    fn speeds(&mut self) -> [Poly; 2] {
        let [Some(below), Some(above)] = self.sides.each_ref().map(|side| side.waves.clone())
        else {
            // The check of the scheme asks for them.
            return [Poly::default(), Poly::default()];
        };
        let of = &mut self.algebra;
        [of.min(&below[0], &above[0]), of.max(&below[1], &above[1])]
    }

    /// The flux as a grid function.
    fn named(&mut self, at: usize, flux: Poly) -> Poly {
        let name = format!("{}_flux", self.names[at]);
        self.algebra.named(&name, flux)
    }
}
