//! Diffusion of heat.

use stencil_runtime::pde;

pde! {
    /// Diffusion of heat in a plane, with the diffusivity `kappa`.
    #[interpreted]
    pub system Heat in 2d {
        field temperature: scalar [K];
        param kappa: real [m^2/s] = 1 where kappa >= 0;

        ddt(temperature) = kappa * lap(temperature);
    }
    scheme central6 for Heat { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
}
