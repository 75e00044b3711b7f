//! Diffusion of heat.

system! {
    /// Diffusion of heat, `∂T/∂t = κ ∇²T`, with the diffusivity `kappa`.
    pub system Heat in nd {
        field temperature: scalar [K];
        param kappa: real [m^2/s] = 1 where kappa >= 0;

        ddt(temperature) = kappa * lap(temperature);

        observe heat = mean(temperature);
        observe hottest = max(temperature);
        cfl { diffusive: kappa; }
    }
    scheme central6 for Heat { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
}
