//! Systems of equations: one file each, and one line in [`ALL`].

use stencil_runtime::{Definition, Error, System, SystemDef};

pub mod elastic;
pub mod heat;
pub mod isothermal_ns;

pub use elastic::ElasticWave;
pub use heat::Heat;
pub use isothermal_ns::IsothermalNs;

/// Every system.
pub static ALL: &[Definition] = &[
    elastic::ElasticWave::DEFINITION,
    heat::Heat::DEFINITION,
    isothermal_ns::IsothermalNs::DEFINITION,
];

/// The system of this name; case and underscores do not matter.
///
/// ```
/// assert_eq!(physics::systems::find("isothermal_ns")?.name(), "IsothermalNs");
/// assert!(physics::systems::find("isothermal_mhd").unwrap_err().to_string().contains("IsothermalNs"));
/// # Ok::<(), stencil_runtime::Error>(())
/// ```
///
/// # Errors
/// If there is none; the error lists all.
pub fn find(name: &str) -> Result<SystemDef, Error> {
    let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    match ALL
        .iter()
        .find(|definition| plain(definition.name) == plain(name))
    {
        Some(definition) => SystemDef::new(definition),
        None => Err(Error::unknown(
            "the standard library",
            "system",
            name,
            ALL.iter().map(|d| d.name),
        )),
    }
}
