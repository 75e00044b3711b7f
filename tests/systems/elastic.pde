/// Anisotropic (cubic) elastic waves: displacement w, velocity v.
pub system ElasticWave in 3d {
    field w: vector [m];
    field v: vector [m/s];
    param c11: real [m^2/s^2] = 2.7;
    param c12: real [m^2/s^2] = 1.1;
    param c44: real [m^2/s^2] = 0.8;

    ddt(w) = v;
    ddt(v) = c44 * lap(w) + (c12 + c44) * grad(div(w))
           + (c11 - c12 - 2*c44) * [d2[x](w.x), d2[y](w.y), d2[z](w.z)];
}
scheme central6 for ElasticWave { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
