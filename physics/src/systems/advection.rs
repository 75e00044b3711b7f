//! Transport by a given flow.

system! {
    /// Advection of a tracer `q` by a flow `u` that is given, `∂q/∂t = -u·∇q`.
    pub system Advection in nd {
        field q: scalar [1];
        source u: vector [m/s];

        ddt(q) = -dot(u, grad(q));

        observe total = mean(q);
        observe square = mean(q^2);
        cfl { advective: norm(u); }
    }
    scheme central6 for Advection { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
}
