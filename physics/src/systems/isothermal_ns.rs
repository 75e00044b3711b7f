//! Isothermal compressible flow.

use stencil_runtime::pde;

pde! {
    /// Isothermal compressible Navier-Stokes equations (Pekkilä et al. 2017, Eqs. 1-3).
    ///
    /// `lnrho` is the logarithm of the density, `u` the velocity, `cs` the speed of sound and `nu` the kinematic
    /// viscosity.
    pub system IsothermalNs in 3d {
        field lnrho: scalar [1];
        field u: vector [m/s];
        param cs: real [m/s] = 1.0;
        param nu: real [m^2/s] = 5e-3 where nu >= 0;

        let s = sym_traceless(grad(u));
        ddt(lnrho) = -dot(u, grad(lnrho)) - div(u);
        ddt(u) = -dot(u, grad(u)) - cs^2 * grad(lnrho)
               + nu * (lap(u) + grad(div(u))/3 + 2*dot(s, grad(lnrho)));

        observe mass = mean(exp(lnrho));
        observe kinetic_energy = mean(exp(lnrho)*dot(u, u)/2);
        observe enstrophy = mean(dot(curl(u), curl(u))/2);
        observe largest_speed = max(norm(u));
        cfl { advective: norm(u) + cs; diffusive: 4*nu/3; }
    }
    scheme central6 for IsothermalNs { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
}
