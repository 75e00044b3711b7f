//! Transport by a given flow, through faces.

system! {
    /// Transport of `q` by a flow `u` that stays as it is, `∂q/∂t + ∇·(q u) = 0` (LeVeque, Finite Volume Methods for Hyperbolic
    /// Problems, 2002, Eqs. 2.5 and 18.17), as a conservation law.
    ///
    /// `u` is set as fields are, and a uniform one is transport at a constant velocity. `Advection` is the same of differences: `q` does
    /// not jump there, and the flow may depend on time.
    pub system Transport in nd {
        conserved q: scalar [1];
        field u: vector [m/s];

        flux q -> q*u;
        ddt(u) = 0*u;
        primitive { q; }
        waves { flow: u; }

        observe total = mean(q);
        observe square = mean(q^2);
        observe lowest = min(q);
        observe highest = max(q);
    }
    scheme plm_roe for Transport { reconstruct: plm<limiter = mc>; riemann: roe; time: ssprk2; }
    scheme ppm_roe for Transport { reconstruct: ppm; riemann: roe; time: ssprk3; }
    scheme weno5_roe for Transport { reconstruct: weno5; riemann: roe; time: ssprk3; }
    scheme weno_z_fluxes for Transport { reconstruct: weno_z in fluxes; riemann: rusanov; time: ssprk3; }
    scheme waves_roe for Transport { reconstruct: waves<limiter = mc>; riemann: roe; time: euler; }
}
