//! Flow of a conducting gas with heat.

system! {
    /// Compressible magnetohydrodynamics of an ideal gas: viscous, resistive and heat-conducting, with entropy.
    ///
    /// The non-conservative form of the Pencil Code (Brandenburg & Dobler, Comput. Phys. Commun. 147, 471, 2002) and of
    /// Astaroth (Pekkilä et al. 2017, section 7; Väisälä et al., ApJ 907, 83, 2021):
    ///
    /// - `∂lnρ/∂t = -u·∇lnρ - ∇·u`
    /// - `∂u/∂t = -u·∇u - c²(∇s/c_p + ∇lnρ) + j×B/ρ + ν(∇²u + ∇∇·u/3 + 2S·∇lnρ) + ζ(∇∇·u + (∇·u)∇lnρ)`
    /// - `∂a/∂t = u×B + η∇²a`
    /// - `∂s/∂t = -u·∇s + (ημ₀j²/ρ + 2νS:S + ζ(∇·u)²)/T + (K/ρ)(∇²lnT + |∇lnT|²)`
    ///
    /// with `B = B₀ + ∇×a`, `μ₀j = ∇∇·a - ∇²a` and the traceless rate of strain `S`. `lnrho` is the logarithm of the
    /// density, `u` the velocity, `a` the vector potential, `s` the specific entropy. `B₀ = (bx0, by0, bz0)` is uniform:
    /// a potential on a periodic box has no mean field of its own.
    ///
    /// The speed of sound is `c² = cs0² exp(γs/c_p + (γ-1)(lnρ - lnrho0))` and the temperature `T = c²/((γ-1)c_p)`:
    /// that of an ideal gas, so there is no reference temperature to choose. `zeta` is the bulk viscosity over the
    /// density; its force has the gradient of the density, so that it adds to the heat as much as it takes from the
    /// flow. `conductivity` is `K`, uniform; its last term is `∇·(K∇T)/(ρT)`.
    ///
    /// The gauge is the one in which the potential diffuses. For uniform `eta` it differs from `-ημ₀j` (no electrostatic
    /// potential) by the gradient of `η∇·a`, which no magnetic field sees; but it damps the part of the potential without
    /// a magnetic field too, where noise would otherwise gather.
    pub system Mhd in 3d {
        field lnrho: scalar [1];
        field u: vector [m/s];
        field a: vector [T m];
        field s: scalar [J/kg/K];
        param cs0: real [m/s] = 1 where cs0 > 0;
        param lnrho0: real [1] = 0;
        param gamma: real [1] = 1.6666666666666667 where gamma > 1;
        param cp: real [J/kg/K] = 1 where cp > 0;
        param mu0: real [T^2 m s^2/kg] = 1 where mu0 > 0;
        param nu: real [m^2/s] = 5e-3 where nu >= 0;
        param zeta: real [m^2/s] = 0 where zeta >= 0;
        param eta: real [m^2/s] = 5e-3 where eta >= 0;
        param conductivity: real [W/m/K] = 5e-3 where conductivity >= 0;
        param bx0: real [T] = 0;
        param by0: real [T] = 0;
        param bz0: real [T] = 0;

        let b = curl(a) + [bx0, by0, bz0];
        let j = (grad(div(a)) - lap(a))/mu0;
        let strain = sym_traceless(grad(u));
        let rho = exp(lnrho);
        let lnt = gamma*s/cp + (gamma - 1)*(lnrho - lnrho0);
        let cs2 = cs0^2*exp(lnt);
        let temperature = cs2/((gamma - 1)*cp);
        let heating = eta*mu0*dot(j, j)/rho + 2*nu*trace(dot(strain, strain)) + zeta*div(u)^2;

        ddt(lnrho) = -dot(u, grad(lnrho)) - div(u);
        ddt(u) = -dot(u, grad(u)) - cs2*(grad(s)/cp + grad(lnrho)) + cross(j, b)/rho
               + nu*(lap(u) + grad(div(u))/3 + 2*dot(strain, grad(lnrho)))
               + zeta*(grad(div(u)) + div(u)*grad(lnrho));
        ddt(a) = cross(u, b) + eta*lap(a);
        ddt(s) = -dot(u, grad(s)) + heating/temperature
               + conductivity/rho*(lap(lnt) + dot(grad(lnt), grad(lnt)));

        observe mass = mean(rho);
        observe kinetic_energy = mean(rho*dot(u, u)/2);
        observe magnetic_energy = mean(dot(b, b)/(2*mu0));
        observe internal_energy = mean(rho*cs2/(gamma*(gamma - 1)));
        observe largest_speed = max(norm(u));
        observe hottest = max(temperature);
        cfl {
            advective: norm(u) + sqrt(cs2 + dot(b, b)/(mu0*rho));
            diffusive: max(4*nu/3 + zeta, max(eta, gamma*conductivity/(rho*cp)));
        }
    }
    scheme central6 for Mhd { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
}
