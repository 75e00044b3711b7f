//! Waves in crystals.

system! {
    /// Elastic waves in a cubic crystal, in a frame along its axes.
    ///
    /// `w` is the displacement and `v` its velocity. `c11`, `c12` and `c44` are the elastic constants over the density;
    /// the crystal is isotropic where `c11 = c12 + 2 c44`.
    pub system ElasticWave in 3d {
        field w: vector [m];
        field v: vector [m/s];
        param c11: real [m^2/s^2] = 2.7 where c11 > 0;
        param c12: real [m^2/s^2] = 1.1;
        param c44: real [m^2/s^2] = 0.8 where c44 > 0;

        ddt(w) = v;
        ddt(v) = c44 * lap(w) + (c12 + c44) * grad(div(w))
               + (c11 - c12 - 2*c44) * [d2[x](w.x), d2[y](w.y), d2[z](w.z)];

        let strain = sym(grad(w));
        let axial = strain.xx^2 + strain.yy^2 + strain.zz^2;
        let shear = strain.xy^2 + strain.yz^2 + strain.xz^2;
        observe kinetic_energy = mean(dot(v, v)/2);
        observe elastic_energy = mean((c11*axial + c12*(trace(strain)^2 - axial))/2 + 2*c44*shear);
        cfl { advective: sqrt(max(c11, c44) + abs(c12)); }
    }
    scheme central6 for ElasticWave { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
}
