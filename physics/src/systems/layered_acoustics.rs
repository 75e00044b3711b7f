//! Sound in a medium that differs from place to place.

system! {
    /// Linear acoustics in a medium that varies (LeVeque, Finite Volume Methods for Hyperbolic Problems, 2002, Eqs. 2.52
    /// and 9.35, in conserved variables), as conservation laws.
    ///
    /// `e` is the strain and `m` the momentum; `K` is the bulk modulus and `rho` the density of the medium, which stay as
    /// they are. The pressure above that at rest is `-K*e`.
    pub system LayeredAcoustics in nd {
        conserved e: scalar [1];
        conserved m: vector [kg/m^2/s];
        field K: scalar [Pa];
        field rho: scalar [kg/m^3];

        let c = sqrt(K/rho);
        flux e -> -m/rho;
        flux m -> -K*e * I;
        ddt(K) = 0;
        ddt(rho) = 0;
        waves { sound: c; }

        observe energy = mean((K*e^2 + dot(m, m)/rho)/2);
        cfl { advective: c; }
    }
    scheme waves_roe for LayeredAcoustics { reconstruct: waves<limiter = mc>; riemann: roe; time: euler; }
    scheme plm_hll for LayeredAcoustics { reconstruct: plm<limiter = mc>; riemann: hll; time: ssprk2; }
}
