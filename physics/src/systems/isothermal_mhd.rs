//! Isothermal flow of a conducting gas.

system! {
    /// Isothermal compressible magnetohydrodynamics, viscous and resistive: [`Mhd`](crate::systems::Mhd) without heat.
    ///
    /// `lnrho` is the logarithm of the density, `u` the velocity and `a` the vector potential of the magnetic field
    /// `B = B₀ + ∇×a`, where `B₀ = (bx0, by0, bz0)` is uniform: a potential on a periodic box has no mean field of its own.
    /// `cs` is the speed of sound, `nu` the kinematic viscosity, `eta` the magnetic diffusivity and `mu0` the
    /// permeability.
    ///
    /// The gauge is the one in which the potential diffuses, `∂a/∂t = u×B + η∇²a`, see [`Mhd`](crate::systems::Mhd).
    pub system IsothermalMhd in 3d {
        field lnrho: scalar [1];
        field u: vector [m/s];
        field a: vector [T m];
        param cs: real [m/s] = 1 where cs > 0;
        param nu: real [m^2/s] = 5e-3 where nu >= 0;
        param eta: real [m^2/s] = 5e-3 where eta >= 0;
        param mu0: real [T^2 m s^2/kg] = 1 where mu0 > 0;
        param bx0: real [T] = 0;
        param by0: real [T] = 0;
        param bz0: real [T] = 0;

        let b = curl(a) + [bx0, by0, bz0];
        let j = (grad(div(a)) - lap(a))/mu0;
        let s = sym_traceless(grad(u));
        let rho = exp(lnrho);
        ddt(lnrho) = -dot(u, grad(lnrho)) - div(u);
        ddt(u) = -dot(u, grad(u)) - cs^2 * grad(lnrho) + cross(j, b)/rho
               + nu * (lap(u) + grad(div(u))/3 + 2*dot(s, grad(lnrho)));
        ddt(a) = cross(u, b) + eta * lap(a);

        observe mass = mean(rho);
        observe kinetic_energy = mean(rho*dot(u, u)/2);
        observe magnetic_energy = mean(dot(b, b)/(2*mu0));
        observe largest_speed = max(norm(u));
        observe cross_helicity = mean(dot(u, b));
        cfl {
            advective: norm(u) + sqrt(cs^2 + dot(b, b)/(mu0*rho));
            diffusive: max(4*nu/3, eta);
        }
    }
    scheme central6 for IsothermalMhd { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
}
