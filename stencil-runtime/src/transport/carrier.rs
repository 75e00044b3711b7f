//! The library that carries values between the memories of cards.

use std::fmt::{self, Display};
use std::str::FromStr;

/// The library that carries values of ghost cells between cards of several processes, or of one. Results do not depend on it.
///
/// ```
/// use stencil_runtime::transport::Carrier;
///
/// assert_eq!("nccl".parse(), Ok(Carrier::Nccl));
/// assert_eq!(Carrier::Staged.to_string(), "staged");
/// assert!("ucx".parse::<Carrier>().unwrap_err().contains("nccl, mpi or staged"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// NCCL, from card to card, in the order of the work of each card.
    Nccl,
    /// MPI, from card to card.
    Mpi,
    /// MPI, from the memory of the host to that of the host.
    Staged,
}

impl Carrier {
    /// All of them, the fastest first.
    pub const ALL: [Self; 3] = [Carrier::Nccl, Carrier::Mpi, Carrier::Staged];

    /// Returns the words for it.
    pub fn words(self) -> &'static str {
        match self {
            Carrier::Nccl => "NCCL",
            Carrier::Mpi => "MPI, which reaches the memory of cards",
            Carrier::Staged => "MPI, through the memory of the host",
        }
    }
}

impl Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Carrier::Nccl => "nccl",
            Carrier::Mpi => "mpi",
            Carrier::Staged => "staged",
        })
    }
}

impl FromStr for Carrier {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Carrier::ALL.into_iter().find(|carrier| carrier.to_string() == text);
        found.ok_or_else(|| format!("`{text}` carries nothing; write nccl, mpi or staged"))
    }
}
