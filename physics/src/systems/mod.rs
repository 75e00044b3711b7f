//! Systems of equations: one file each, and one line in [`ALL`].

use stencil_runtime::problem::Library;
use stencil_runtime::{Definition, Error, System, SystemDef};

/// Declares a system, behind the functions that it links. Its kernels are part of the program if the feature `compiled` is on.
#[cfg(feature = "compiled")]
macro_rules! system {
    ($($declaration:tt)*) => {
        stencil_runtime::pde! { $($declaration)* }
    };
}
#[cfg(not(feature = "compiled"))]
macro_rules! system {
    (use $($segment:ident)::+; $($declaration:tt)*) => {
        stencil_runtime::pde! { use $($segment)::+; #[interpreted] $($declaration)* }
    };
    ($($declaration:tt)*) => {
        stencil_runtime::pde! { #[interpreted] $($declaration)* }
    };
}

pub mod acoustics;
pub mod advection;
pub mod burgers;
pub mod burgers_law;
pub mod compressible_ns;
pub mod elastic;
pub mod gray_scott;
pub mod heat;
pub mod ideal_gas;
pub mod ideal_mhd;
pub mod isothermal_mhd;
pub mod isothermal_ns;
pub mod kdv;
pub mod layered_acoustics;
pub mod maxwell;
pub mod mhd;
pub mod relativistic_gas;
pub mod river;
pub mod shallow_water;
pub mod traffic;
pub mod transport;
pub mod two_layers;
pub mod velocity_stress;
pub mod wave;

pub use acoustics::Acoustics;
pub use advection::Advection;
pub use burgers::Burgers;
pub use burgers_law::BurgersLaw;
pub use compressible_ns::CompressibleNs;
pub use elastic::ElasticWave;
pub use gray_scott::GrayScott;
pub use heat::Heat;
pub use ideal_gas::IdealGas;
pub use ideal_mhd::IdealMhd;
pub use isothermal_mhd::IsothermalMhd;
pub use isothermal_ns::IsothermalNs;
pub use kdv::Kdv;
pub use layered_acoustics::LayeredAcoustics;
pub use maxwell::Maxwell;
pub use mhd::Mhd;
pub use relativistic_gas::RelativisticGas;
pub use river::River;
pub use shallow_water::ShallowWater;
pub use traffic::Traffic;
pub use transport::Transport;
pub use two_layers::TwoLayers;
pub use velocity_stress::VelocityStress;
pub use wave::Wave;

/// Every system; those for any number of dimensions in each of them, the plane first.
pub static ALL: &[Definition] = &[
    Acoustics::<2>::DEFINITION,
    Acoustics::<1>::DEFINITION,
    Acoustics::<3>::DEFINITION,
    Advection::<2>::DEFINITION,
    Advection::<1>::DEFINITION,
    Advection::<3>::DEFINITION,
    Burgers::DEFINITION,
    BurgersLaw::<2>::DEFINITION,
    BurgersLaw::<1>::DEFINITION,
    BurgersLaw::<3>::DEFINITION,
    CompressibleNs::<2>::DEFINITION,
    CompressibleNs::<1>::DEFINITION,
    CompressibleNs::<3>::DEFINITION,
    ElasticWave::DEFINITION,
    GrayScott::<2>::DEFINITION,
    GrayScott::<1>::DEFINITION,
    GrayScott::<3>::DEFINITION,
    Heat::<2>::DEFINITION,
    Heat::<1>::DEFINITION,
    Heat::<3>::DEFINITION,
    IdealGas::<2>::DEFINITION,
    IdealGas::<1>::DEFINITION,
    IdealGas::<3>::DEFINITION,
    IdealMhd::<2>::DEFINITION,
    IdealMhd::<1>::DEFINITION,
    IdealMhd::<3>::DEFINITION,
    IsothermalMhd::DEFINITION,
    IsothermalNs::DEFINITION,
    Kdv::DEFINITION,
    LayeredAcoustics::<2>::DEFINITION,
    LayeredAcoustics::<1>::DEFINITION,
    Maxwell::<2>::DEFINITION,
    Maxwell::<1>::DEFINITION,
    Maxwell::<3>::DEFINITION,
    Mhd::DEFINITION,
    RelativisticGas::<2>::DEFINITION,
    RelativisticGas::<1>::DEFINITION,
    RelativisticGas::<3>::DEFINITION,
    River::<2>::DEFINITION,
    River::<1>::DEFINITION,
    ShallowWater::<2>::DEFINITION,
    ShallowWater::<1>::DEFINITION,
    Traffic::DEFINITION,
    Transport::<2>::DEFINITION,
    Transport::<1>::DEFINITION,
    Transport::<3>::DEFINITION,
    TwoLayers::<2>::DEFINITION,
    TwoLayers::<1>::DEFINITION,
    VelocityStress::<2>::DEFINITION,
    VelocityStress::<1>::DEFINITION,
    VelocityStress::<3>::DEFINITION,
    Wave::<2>::DEFINITION,
    Wave::<1>::DEFINITION,
    Wave::<3>::DEFINITION,
];

/// Returns all systems, for problem files that name them.
///
/// ```
/// assert!(physics::systems::library().names().any(|name| name == "Mhd"));
/// ```
pub fn library() -> Library {
    Library::new(ALL.iter().copied())
}

/// Returns the system of this name; case and underscores do not matter. Of a system for any number of dimensions it is
/// the one in the plane, see [`find_in`].
///
/// ```
/// assert_eq!(physics::systems::find("isothermal_ns")?.name(), "IsothermalNs");
/// assert!(physics::systems::find("isothermal").unwrap_err().to_string().contains("IsothermalNs"));
/// # Ok::<(), stencil_runtime::Error>(())
/// ```
///
/// # Errors
/// If there is none; the error lists all.
pub fn find(name: &str) -> Result<SystemDef, Error> {
    match named(name).next() {
        Some(definition) => SystemDef::new(definition),
        None => Err(unknown(name)),
    }
}

/// Returns the system of this name in a number of dimensions.
///
/// ```
/// assert_eq!(physics::systems::find_in("wave", 3)?.model().dimension, 3);
/// # Ok::<(), stencil_runtime::Error>(())
/// ```
///
/// # Errors
/// If there is none of this name, or none in this number of dimensions; the error lists all.
pub fn find_in(name: &str, dimension: usize) -> Result<SystemDef, Error> {
    let mut others = Vec::new();
    for definition in named(name) {
        let system = SystemDef::new(definition)?;
        match system.model().dimension {
            own if own == dimension => return Ok(system),
            own => others.push((system.name().to_string(), own)),
        }
    }
    let Some((name, _)) = others.first() else {
        return Err(unknown(name));
    };
    let others: Vec<String> = others.iter().map(|(_, own)| format!("{own}d")).collect();
    Err(Error::Declaration(format!(
        "error: `{name}` is declared in {}, not in {dimension}d\n  help: a system `in nd` is for any number of dimensions",
        others.join(" and ")
    )))
}

fn named(name: &str) -> impl Iterator<Item = &'static Definition> {
    let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    let name = plain(name);
    ALL.iter().filter(move |d| plain(d.name) == name)
}

fn unknown(name: &str) -> Error {
    let mut names: Vec<&str> = ALL.iter().map(|d| d.name).collect();
    names.dedup();
    Error::unknown("the standard library", "system", name, names.into_iter())
}
