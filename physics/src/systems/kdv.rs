//! Solitons in shallow water.

system! {
    /// The Korteweg-de Vries equation, `∂u/∂t + 6 u ∂u/∂x + ∂³u/∂x³ = 0`, without dimensions
    /// (Korteweg & de Vries, Phil. Mag. 39, 422, 1895).
    ///
    /// Written as a conservation law: the mean of `u` is constant, to rounding. `momentum` and `energy` are the
    /// next two of its invariants; the scheme keeps them to its order.
    pub system Kdv in 1d {
        field u: scalar [1];

        ddt(u) = -3*d[x](u^2) - d3[x](u);

        observe mass = mean(u);
        observe momentum = mean(u^2);
        observe energy = mean(u^3 - d[x](u)^2/2);
        cfl { advective: 6*abs(u); dispersive: 1; }
    }
    scheme central8 for Kdv { space: central<order = 8>; mixed: bidiagonal; time: rk3_williamson; }
}
