//! Waves in crystals.

use stencil_runtime::pde;

pde! {
    /// Elastic waves in a cubic crystal, in a frame along its axes.
    ///
    /// `w` is the displacement and `v` its velocity. `c11`, `c12` and `c44` are the elastic constants over the density;
    /// the crystal is isotropic where `c11 = c12 + 2 c44`.
    #[interpreted]
    pub system ElasticWave in 3d {
        field w: vector [m];
        field v: vector [m/s];
        param c11: real [m^2/s^2] = 2.7 where c11 > 0;
        param c12: real [m^2/s^2] = 1.1;
        param c44: real [m^2/s^2] = 0.8 where c44 > 0;

        ddt(w) = v;
        ddt(v) = c44 * lap(w) + (c12 + c44) * grad(div(w))
               + (c11 - c12 - 2*c44) * [d2[x](w.x), d2[y](w.y), d2[z](w.z)];
    }
    scheme central6 for ElasticWave { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
}
