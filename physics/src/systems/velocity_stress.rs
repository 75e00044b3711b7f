//! Earthquake waves.

system! {
    /// Elastic waves in an isotropic medium, with velocities on faces, normal stresses in cells and shear stresses on
    /// edges (R. Madariaga, Bull. Seismol. Soc. Am. 66, 639, 1976; J. Virieux, Geophysics 51, 889, 1986).
    ///
    /// `v` is the velocity and `s` the stress over the density. `lambda` and `mu` are Lamé's constants over the density:
    /// pressure waves have the speed `sqrt(lambda + 2 mu)`, shear waves `sqrt(mu)`. At a wall nothing moves along the
    /// normal, and nothing pulls along the wall.
    pub system VelocityStress in nd {
        face field v: vector [m/s];
        edge field s: symmetric [m^2/s^2];
        param lambda: real [m^2/s^2] = 1;
        param mu: real [m^2/s^2] = 1 where mu >= 0;

        ddt(v) = div(s);
        ddt(s) = lambda*div(v)*I + 2*mu*sym(grad(v));

        let faster = to_cells(v);
        observe kinetic_energy = mean(dot(faster, faster)/2);
        observe mean_pressure = mean(-trace(s));
        cfl { advective: sqrt(lambda + 2*mu); }
    }
    scheme virieux for VelocityStress { space: central<order = 2>; time: ssprk3; }
    scheme virieux4 for VelocityStress { space: central<order = 4>; time: rk4; }
}
