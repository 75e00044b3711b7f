//! Functions of cell values, for systems of this library and of others: `use physics::functions::viscosity;` inside of `pde!`.

use stencil_runtime::pointwise;

/// Returns the viscosity of a gas over that at the temperature one, a power of the temperature; that of air is 0.76.
///
/// ```
/// use physics::functions::viscosity;
///
/// assert_eq!(viscosity(1.0, 0.76), 1.0);
/// assert_eq!(viscosity(4.0, 0.5), 2.0);
/// ```
#[pointwise]
pub fn viscosity(temperature: scalar, exponent: scalar) -> scalar {
    pow(temperature, exponent)
}

/// Returns the pressure of an ideal gas from its density, the square of its momentum and its energy in a volume (Toro,
/// Riemann Solvers and Numerical Methods for Fluid Dynamics, 2009, Eq. 1.8).
///
/// ```
/// use physics::functions::pressure;
/// use stencil_runtime::{System, SystemDef, pde};
///
/// pde! {
///     use physics::functions::pressure;
///     /// A gas along a line.
///     #[interpreted]
///     pub system Gas in 1d {
///         conserved rho: scalar;
///         conserved m: scalar;
///         conserved E: scalar;
///         let p = pressure(rho, m^2, E, 1.4);
///         flux rho -> [m];
///         flux m -> [m^2/rho + p];
///         flux E -> [(E + p)*m/rho];
///     }
/// }
///
/// assert_eq!(pressure(1.0, 4.0, 3.0, 1.5), 0.5);
/// let gas = SystemDef::new(&Gas::DEFINITION)?;
/// assert_eq!(gas.model().fluxes.len(), 3);
/// # Ok::<(), stencil_runtime::Error>(())
/// ```
#[pointwise]
pub fn pressure(rho: scalar, square: scalar, energy: scalar, gamma: scalar) -> scalar {
    (gamma - 1) * (energy - square / (2 * rho))
}
