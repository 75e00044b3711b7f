//! The simplest equation that makes shocks.

system! {
    /// The viscous Burgers equation, `∂u/∂t + ∂(u²/2)/∂x = ν ∂²u/∂x²` (Burgers, Adv. Appl. Mech. 1, 171, 1948).
    ///
    /// Written as a conservation law: the mean of `u` is constant, to rounding.
    pub system Burgers in 1d {
        field u: scalar [m/s];
        param nu: real [m^2/s] = 1e-2 where nu >= 0;

        ddt(u) = -d[x](u^2/2) + nu * d2[x](u);

        observe momentum = mean(u);
        observe energy = mean(u^2/2);
        cfl { advective: abs(u); diffusive: nu; }
    }
    scheme central6 for Burgers { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
}
