//! Links between devices: the bytes that they move and the time of an exchange without values.

/// A link between two devices, in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Bytes that a kernel reads from the memory of the other device in a second.
    pub reads: f64,
    /// Bytes that a copy engine, or an adapter of a network, moves in a second.
    pub copies: f64,
    /// Seconds of an exchange without values: both devices wait for each other before it and after it.
    pub latency: f64,
    /// Seconds of each message; 0 where one launch moves all of them.
    pub message: f64,
}

impl Link {
    /// A network: adapters move its values, message by message. `bits` is the rate of a port, of which nine tenths are
    /// taken to arrive.
    const fn network(bits: f64, latency: f64, message: f64) -> Self {
        let bytes = 0.9 * bits / 8.0;
        Link { reads: bytes, copies: bytes, latency, message }
    }
}

/// A kind of link with a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownLink {
    /// Its name.
    pub name: &'static str,
    /// The source of its numbers.
    pub source: &'static str,
    /// Does it join cards of one host?
    pub in_host: bool,
    /// The link itself.
    pub link: Link,
}

/// The rates of ports by the sheets of their makers; the seconds are assumed.
const BY_SHEET: &str =
    "nine tenths of the rate of a port; 4 us for an exchange and 1 us for a message are assumed";

/// The rates of lanes by the standards; four fifths of them are taken to arrive.
const BY_STANDARD: &str =
    "four fifths of the rate of 16 lanes; an exchange is taken to be as long as over NVLink 4";

/// Seconds of an exchange without values between two H100 of one host: two kernels of a captured graph, each of which
/// waits for the other card, of six that took 36 us.
const IN_HOST: f64 = 12e-6;

/// All kinds, the fastest of a host and of a network first.
pub const LINKS: &[KnownLink] = &[
    KnownLink {
        name: "NVLink4",
        source: "measured between two H100: 256 MB, six kernels of a captured graph",
        in_host: true,
        link: Link { reads: 364e9, copies: 357e9, latency: IN_HOST, message: 0.0 },
    },
    KnownLink {
        name: "NVLink3",
        source: "300 GB/s by the sheet of the A100, four fifths of them; an exchange as over NVLink 4",
        in_host: true,
        link: Link { reads: 240e9, copies: 240e9, latency: IN_HOST, message: 0.0 },
    },
    KnownLink {
        name: "PCIe5",
        source: BY_STANDARD,
        in_host: true,
        link: Link { reads: 50e9, copies: 50e9, latency: IN_HOST, message: 0.0 },
    },
    KnownLink {
        name: "PCIe4",
        source: BY_STANDARD,
        in_host: true,
        link: Link { reads: 25e9, copies: 25e9, latency: IN_HOST, message: 0.0 },
    },
    KnownLink {
        name: "NDR",
        source: BY_SHEET,
        in_host: false,
        link: Link::network(400e9, 4e-6, 1e-6),
    },
    KnownLink {
        name: "HDR",
        source: BY_SHEET,
        in_host: false,
        link: Link::network(200e9, 4e-6, 1e-6),
    },
    KnownLink {
        name: "Slingshot11",
        source: BY_SHEET,
        in_host: false,
        link: Link::network(200e9, 4e-6, 1e-6),
    },
];

/// The link of this name, however it is spelled.
///
/// ```
/// use stencil_compiler::cost::link;
///
/// assert_eq!(link("nvlink4").map(|link| link.name), Some("NVLink4"));
/// assert_eq!(link("ethernet"), None);
/// ```
pub fn link(name: &str) -> Option<&'static KnownLink> {
    LINKS.iter().find(|known| known.name.eq_ignore_ascii_case(name))
}

/// The link that joins cards of a host whose driver calls them so: as the maker's sheets have it, else PCIe 4.
///
/// ```
/// use stencil_compiler::cost::usual_link;
///
/// assert_eq!(usual_link("Some H100 80GB HBM3").name, "NVLink4");
/// assert_eq!(usual_link("Some H100 PCIe").name, "PCIe5");
/// assert_eq!(usual_link("Some Card 256").name, "PCIe4");
/// ```
pub fn usual_link(card: &str) -> &'static KnownLink {
    let is_in_slot = card.split([' ', '-']).any(|word| word.eq_ignore_ascii_case("pcie"));
    let name = match (super::called(card).map(|model| model.name), is_in_slot) {
        (Some("H200" | "H100"), false) => "NVLink4",
        (Some("H200" | "H100"), true) => "PCIe5",
        (Some("A100"), false) => "NVLink3",
        _ => "PCIe4",
    };
    link(name).unwrap_or(&LINKS[0])
}

/// The bus between a host and a card that is called so, as the maker's sheets have it: a card in a slot and one on a board have
/// the same lanes.
///
/// ```
/// use stencil_compiler::cost::usual_bus;
///
/// assert_eq!(usual_bus("Some H100 80GB HBM3").map(|bus| bus.name), Some("PCIe5"));
/// assert_eq!(usual_bus("Some Card 256"), None);
/// ```
pub fn usual_bus(card: &str) -> Option<&'static KnownLink> {
    match super::called(card)?.name {
        "H200" | "H100" => link("PCIe5"),
        "A100" => link("PCIe4"),
        _ => None,
    }
}
