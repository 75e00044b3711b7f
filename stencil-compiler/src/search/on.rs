//! The card and the precision that schedules are chosen for.

use crate::compile::Target;
use crate::cost::{MODELS, Rates};
use crate::expr::real::Precision;
use crate::kernel::Multiprocessor;

/// The card and the precision.
#[derive(Clone, Copy, Debug)]
pub struct On {
    /// The precision of values.
    pub precision: Precision,
    /// The resources of a multiprocessor. Times are compared on the newest modelled card with these multiprocessors.
    pub multiprocessor: Multiprocessor,
}

impl From<Precision> for On {
    /// On the newest card that is modelled.
    fn from(precision: Precision) -> Self {
        On::from((precision, Multiprocessor::NEWEST))
    }
}

impl From<(Precision, Multiprocessor)> for On {
    fn from((precision, multiprocessor): (Precision, Multiprocessor)) -> Self {
        On { precision, multiprocessor }
    }
}

impl On {
    /// Any mesh on the card.
    pub(super) fn target(&self) -> Target {
        Target::new(self.precision.bytes()).on(self.rates().device())
    }

    /// Rates by which times are compared.
    pub(super) fn rates(&self) -> Rates {
        Rates { multiprocessor: self.multiprocessor, ..MODELS[0].rates }
    }
}
