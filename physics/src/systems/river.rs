//! Water over a bed, which may lie dry.

system! {
    /// The shallow-water equations over a bed (LeVeque, Finite Volume Methods for Hyperbolic Problems, 2002, section 17.13), as
    /// conservation laws, with hydrostatic reconstruction (Audusse, Bouchut, Bristeau, Klein and Perthame, SIAM J. Sci.
    /// Comput. 25, 2050, 2004): a lake at rest stays so, and its shores may move.
    ///
    /// `h` is the depth and `m` the momentum of a column over its density; `bed` stays as it is. Water less deep than `dry`
    /// stands still.
    pub system River in nd {
        conserved h: scalar [m] where h >= 0;
        conserved m: vector [m^2/s];
        field bed: scalar [m];
        param g: real [m/s^2] = 9.81 where g > 0;
        param dry: real [m] = 1e-9 where dry > 0;

        let u = if h > dry { m / h } else { 0*m };
        let p = g*h^2/2;
        let c = sqrt(g*max(h, 0));
        let surface = h + bed;
        flux h -> h*u;
        flux m -> outer(u, m) + p * I;
        ddt(m) = -g*h*grad(bed);
        ddt(bed) = 0;
        primitive { h; u; surface; m = h*u; bed = surface - h; }
        face { bed by max; h = max(surface - bed, 0); }
        waves { flow: u; sound: c; density: h; pressure: p; }

        observe volume = mean(h);
    }
    scheme plm_hll for River { reconstruct: plm<limiter = van_leer> in primitive; riemann: hll; time: ssprk2; }
    scheme plm_hllc for River { reconstruct: plm<limiter = van_leer> in primitive; riemann: hllc; time: ssprk2; }
}
