//! Patterns of two reacting chemicals.

system! {
    /// The Gray-Scott model (Pearson, Science 261, 189, 1993): `U + 2V → 3V` and `V → P`, with diffusion.
    ///
    /// `u` and `v` are the concentrations, `du` and `dv` their diffusivities. `u` flows in at the rate `feed`; `v` is
    /// washed out at that rate and decays at the rate `kill`.
    pub system GrayScott in nd {
        field u: scalar [1];
        field v: scalar [1];
        param du: real [m^2/s] = 2e-5 where du >= 0;
        param dv: real [m^2/s] = 1e-5 where dv >= 0;
        param feed: real [1/s] = 0.04 where feed >= 0;
        param kill: real [1/s] = 0.06 where kill >= 0;

        let reaction = u*v^2;
        ddt(u) = du*lap(u) - reaction + feed*(1 - u);
        ddt(v) = dv*lap(v) + reaction - (feed + kill)*v;

        observe mean_u = mean(u);
        observe mean_v = mean(v);
        cfl { diffusive: max(du, dv); }
    }
    scheme central4 for GrayScott { space: central<order = 4>; mixed: bidiagonal; time: rk3_williamson; }
}
