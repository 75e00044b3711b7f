//! The simplest law that makes shocks, through faces.

system! {
    /// Burgers' equation as a conservation law, `∂q/∂t + ∂(q²/2)/∂x + ∂(q²/2)/∂y + ∂(q²/2)/∂z = ν ∇²q` (LeVeque, Finite Volume Methods
    /// for Hyperbolic Problems, 2002, Eq. 11.13; in the plane Jiang and Tadmor, SIAM J. Sci. Comput. 19, 1892, 1998, Eq. 4.6).
    ///
    /// Without `nu` waves break into shocks, which move at the mean of both sides. `Burgers` is the same of differences: there viscosity
    /// has to make shocks wider than cells.
    pub system BurgersLaw in nd {
        conserved q: scalar [m/s];
        param nu: real [m^2/s] = 0 where nu >= 0;

        flux q -> q^2/2 * diagonal(I);
        ddt(q) = nu*lap(q);
        primitive { q; }
        waves { flow: q*diagonal(I); }

        observe momentum = mean(q);
        observe energy = mean(q^2/2);
        cfl { diffusive: nu; }
    }
    scheme plm_roe for BurgersLaw { space: central<order = 2>; reconstruct: plm<limiter = mc>; riemann: roe; time: ssprk2; }
    scheme ppm_hll for BurgersLaw { space: central<order = 2>; reconstruct: ppm; riemann: hll; time: ssprk3; }
    scheme weno5_roe for BurgersLaw { space: central<order = 4>; reconstruct: weno5; riemann: roe; time: ssprk3; }
    scheme weno_z_fluxes for BurgersLaw { space: central<order = 4>; reconstruct: weno_z in fluxes; riemann: rusanov; time: ssprk3; }
    scheme waves_roe for BurgersLaw { space: central<order = 2>; reconstruct: waves<limiter = mc>; riemann: roe; time: euler; }
}
