//! Waves on strings, membranes and in air.

system! {
    /// The wave equation `∂²p/∂t² = c² ∇²p`, as two equations of first order in time.
    ///
    /// `p` is the displacement or the pressure, `v` its rate of change and `c` the speed of the waves.
    pub system Wave in nd {
        field p: scalar [Pa];
        field v: scalar [Pa/s];
        param c: real [m/s] = 1 where c > 0;

        ddt(p) = v;
        ddt(v) = c^2 * lap(p);

        observe energy = mean((v^2 + c^2*dot(grad(p), grad(p)))/2);
        cfl { advective: c; }
    }
    scheme central6 for Wave { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
    scheme central8 for Wave { space: central<order = 8>; mixed: bidiagonal; time: rk4; }
}
