//! Links between cards, as the driver tells them.

use std::ffi::c_int;

use cudarc::driver::{result, sys};

use super::{Card, driver};

type AccessFn = unsafe extern "C" fn(*mut c_int, sys::CUdevice, sys::CUdevice) -> sys::CUresult;
type AttributeFn = unsafe extern "C" fn(
    *mut c_int,
    sys::CUdevice_P2PAttribute,
    sys::CUdevice,
    sys::CUdevice,
) -> sys::CUresult;

/// A link from a card to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardLink {
    /// The number of the card that reads and writes.
    pub from: usize,
    /// The number of the card whose memory that is.
    pub to: usize,
    /// Can kernels of the one read and write the memory of the other?
    pub has_access: bool,
    /// The rank of its speed among the links of the machine: the fastest has 0.
    pub rank: Option<i32>,
}

impl Card {
    /// Returns the links among some cards of this machine; those that the driver does not tell of are left out.
    pub fn links(cards: &[Card]) -> Vec<CardLink> {
        let pairs = cards.iter().flat_map(|from| cards.iter().map(move |to| (from, to)));
        let pairs = pairs.filter(|(from, to)| from.ordinal != to.ordinal);
        pairs.filter_map(|(from, to)| link(from.ordinal, to.ordinal)).collect()
    }
}

fn link(from: usize, to: usize) -> Option<CardLink> {
    driver::whole().ok()?;
    let device = |ordinal: usize| result::device::get(i32::try_from(ordinal).ok()?).ok();
    let (own, other) = (device(from)?, device(to)?);
    let rank = sys::CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
    let (mut access, mut value): (c_int, c_int) = (0, 0);
    // SAFETY: the driver is there, and each function is asked for with the type that its header declares; each writes one
    // integer, about devices that the driver has named.
    let (told, ranked) = unsafe {
        let ask = sys::culib().get::<AccessFn>(b"cuDeviceCanAccessPeer").ok()?;
        let told = ask(&raw mut access, own, other).result();
        let ask = sys::culib().get::<AttributeFn>(b"cuDeviceGetP2PAttribute").ok();
        (told, ask.map(|ask| ask(&raw mut value, rank, own, other).result()))
    };
    told.ok()?;
    let is_ranked = ranked.is_some_and(|ranked| ranked.is_ok());
    Some(CardLink { from, to, has_access: access != 0, rank: is_ranked.then_some(value) })
}
