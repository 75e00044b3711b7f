//! Cars on a road.

system! {
    /// Traffic on a road without ramps (Lighthill and Whitham, Proc. R. Soc. A 229, 317, 1955; LeVeque, Finite Volume
    /// Methods for Hyperbolic Problems, 2002, Eq. 11.6): cars slow down where they are dense.
    ///
    /// `q` is the density of cars, 1 where they stand bumper to bumper, and `u` the speed on an empty road.
    pub system Traffic in 1d {
        conserved q: scalar [1];
        param u: real [m/s] = 1 where u > 0;

        flux q -> [u*q*(1 - q)];
        waves { flow: [u*(1 - 2*q)]; }

        observe cars = mean(q);
        cfl { advective: u*abs(1 - 2*q); }
    }
    scheme plm_hll for Traffic { reconstruct: plm<limiter = mc>; riemann: hll; time: ssprk3; }
}
