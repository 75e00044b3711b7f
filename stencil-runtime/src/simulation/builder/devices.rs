//! The devices of a run.

use std::fmt::{self, Display};
use std::str::FromStr;

use crate::backend::cuda::Card;

/// The devices that share the patches of a run. Results do not depend on them.
///
/// ```
/// use stencil_runtime::Devices;
///
/// let read = |text: &str| text.parse::<Devices>();
/// assert_eq!(read("all"), Ok(Devices::All));
/// assert_eq!(read("2"), Ok(Devices::Count(2)));
/// assert_eq!(read("0,3"), Ok(Devices::Cards(vec![0, 3])));
/// assert_eq!(read("[1]"), Ok(Devices::Cards(vec![1])));
/// assert!(read("1,1").unwrap_err().contains("card 1 is listed twice"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Devices {
    /// All cards; one device on the processor.
    All,
    /// So many: the first cards, or devices that the processor simulates.
    Count(usize),
    /// These cards, counted from 0; as many simulated devices on the processor.
    Cards(Vec<usize>),
}

impl Default for Devices {
    fn default() -> Self {
        Devices::Count(1)
    }
}

impl From<usize> for Devices {
    fn from(count: usize) -> Self {
        Devices::Count(count)
    }
}

impl From<Vec<usize>> for Devices {
    fn from(cards: Vec<usize>) -> Self {
        Devices::Cards(cards)
    }
}

impl<const N: usize> From<[usize; N]> for Devices {
    fn from(cards: [usize; N]) -> Self {
        Devices::Cards(cards.into())
    }
}

impl Devices {
    /// Returns their number, if it is known without a look at the machine.
    pub fn known(&self) -> Option<usize> {
        match self {
            Devices::All => None,
            Devices::Count(count) => Some(*count),
            Devices::Cards(cards) => Some(cards.len()),
        }
    }

    /// Returns their number on cards or on the processor. Cards that cannot be counted are one.
    pub(crate) fn count(&self, on_cards: bool) -> usize {
        let all = || if on_cards { Card::count().unwrap_or(1).max(1) } else { 1 };
        self.known().unwrap_or_else(all)
    }
}

impl FromStr for Devices {
    type Err = String;

    /// Reads `all`, a count or a list of cards. The message of a mistake has its way out behind a `; `.
    fn from_str(text: &str) -> Result<Self, String> {
        const HELP: &str = "write `all`, a count such as `2`, or cards such as `0,1`";
        let text = text.trim();
        let number = |word: &str| match word.trim() {
            "" => Err(format!("a number is missing in `{text}`; {HELP}")),
            word => word.parse().map_err(|_| format!("`{word}` is no number of devices; {HELP}")),
        };
        let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        match (text, list) {
            ("", _) | (_, Some("")) => Err(format!("no devices are given; {HELP}")),
            ("all", _) => Ok(Devices::All),
            (one, None) if !one.contains(',') => match number(one)? {
                0 => Err(format!("0 devices do no steps; {HELP}")),
                count => Ok(Devices::Count(count)),
            },
            (_, list) => {
                let cards = list.unwrap_or(text).split(',').map(number);
                let cards: Vec<usize> = cards.collect::<Result<_, _>>()?;
                let twice = (1..cards.len()).find(|at| cards[..*at].contains(&cards[*at]));
                match twice {
                    Some(at) => {
                        Err(format!("card {} is listed twice; list each card once", cards[at]))
                    }
                    None => Ok(Devices::Cards(cards)),
                }
            }
        }
    }
}

impl Display for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Devices::All => f.write_str("all"),
            Devices::Count(count) => write!(f, "{count}"),
            Devices::Cards(cards) => write!(f, "{cards:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_as_they_are_written() {
        for text in ["all", "4", "[2]", "[0, 1]"] {
            let devices: Devices = text.parse().unwrap();
            assert_eq!(devices.to_string(), text);
        }
        assert_eq!(Devices::Cards(vec![3, 5]).count(false), 2);
        assert_eq!((Devices::All.count(false), Devices::default().count(true)), (1, 1));
    }

    #[test]
    fn mistakes_have_a_way_out() {
        for (text, message) in [
            ("", "no devices are given; write `all`"),
            ("[]", "no devices are given; "),
            ("0", "0 devices do no steps; "),
            ("two", "`two` is no number of devices; "),
            ("-1", "`-1` is no number of devices; "),
            ("0,,1", "a number is missing in `0,,1`; "),
            ("0,x", "`x` is no number of devices; "),
            ("2,0,2", "card 2 is listed twice; list each card once"),
        ] {
            let told = text.parse::<Devices>().unwrap_err();
            assert!(told.starts_with(message), "{told}");
        }
    }
}
