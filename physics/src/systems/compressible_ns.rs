//! A gas with friction and conduction of heat.

system! {
    use crate::functions::viscosity;
    /// The compressible Navier-Stokes equations of an ideal gas without dimensions (Kim et al., Comput. Fluids 251, 105744, 2023, Eqs. 2 to
    /// 8), as conservation laws.
    ///
    /// Lengths are in units of a reference length, densities of a reference density, and velocities of the reference speed of
    /// sound, so that the temperature `gamma*p/rho` is one at rest. `rho` is the density, `m` the momentum and `E` the energy in a
    /// volume. `reynolds` and `mach` are of the reference velocity: the viscosity at the temperature one is `mach/reynolds`, and it grows
    /// as the temperature to the power `exponent`; 0.76 is for air, and 0 for a viscosity that is the same everywhere.
    ///
    /// Stress and conduction are differences of differences, so that they conserve, too. The scheme `weno5_fluxes` is that of the paper
    /// (section 2.2), with Roe's mean of both cells, as in it, and the entropy fix of Harten and Hyman.
    pub system CompressibleNs in nd {
        conserved rho: scalar [1];
        conserved m: vector [1];
        conserved E: scalar [1];
        param gamma: real [1] = 1.4 where gamma > 1;
        param reynolds: real [1] = 100 where reynolds > 0;
        param mach: real [1] = 1 where mach > 0;
        param prandtl: real [1] = 0.72 where prandtl > 0;
        param exponent: real [1] = 0.76 where exponent >= 0;

        let u = m / rho;
        let p = (gamma - 1) * (E - dot(m, u)/2);
        let temperature = gamma * p / rho;
        let c = sqrt(temperature);
        let H = (E + p) / rho;
        let mu = mach/reynolds * viscosity(temperature, exponent);
        let stress = mu * (grad(u) + transpose(grad(u)) - 2/3*div(u)*I);
        let energy_flux = dot(stress, u) + mu/((gamma - 1)*prandtl) * grad(temperature);
        flux rho -> m;
        flux m -> outer(m, u) + p * I;
        flux E -> (E + p) * u;
        ddt(m) = div(stress);
        ddt(E) = div(energy_flux);
        primitive { rho; u; p; m = rho*u; E = p/(gamma - 1) + rho*dot(u, u)/2; }
        average { rho; u by sqrt(rho); H by sqrt(rho); m = rho*u; E = rho*(H + (gamma - 1)*dot(u, u)/2)/gamma; }
        waves { flow: u; sound: c; density: rho; pressure: p; }

        observe mass = mean(rho);
        observe energy = mean(E);
        observe kinetic_energy = mean(dot(m, u)/2);
        cfl { diffusive: max(4/3, gamma/prandtl)*mu/rho; }
    }
    scheme plm_hllc for CompressibleNs {
        space: central<order = 4>; mixed: composed; reconstruct: plm<limiter = mc> in primitive; riemann: hllc; time: ssprk2;
    }
    scheme weno5_roe for CompressibleNs {
        space: central<order = 4>; mixed: composed; reconstruct: weno5; riemann: roe; time: ssprk3;
    }
    scheme weno5_fluxes for CompressibleNs {
        space: central<order = 4>; mixed: composed; reconstruct: weno5 in fluxes; riemann: roe<average = cells>; time: ssprk3;
    }
    scheme weno5_hllc for CompressibleNs {
        space: central<order = 4>; mixed: composed; reconstruct: weno5 in primitive; riemann: hllc; time: ssprk3;
    }
}
