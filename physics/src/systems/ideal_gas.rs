//! A gas without friction: the Euler equations.

system! {
    /// The Euler equations of an ideal gas (Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics, 2009,
    /// Eqs. 3.1 to 3.6), as conservation laws.
    ///
    /// `rho` is the density, `m` the momentum and `E` the energy in a volume, internal and kinetic.
    pub system IdealGas in nd {
        conserved rho: scalar [kg/m^3] where rho > 0;
        conserved m: vector [kg/m^2/s];
        conserved E: scalar [J/m^3];
        param gamma: real [1] = 1.4 where gamma > 1;

        let u = m / rho;
        let p = (gamma - 1) * (E - dot(m, u)/2) where p > 0;
        let c = sqrt(gamma * p / rho);
        let H = (E + p) / rho;
        flux rho -> m;
        flux m -> outer(m, u) + p * I;
        flux E -> (E + p) * u;
        primitive { rho; u; p; m = rho*u; E = p/(gamma - 1) + rho*dot(u, u)/2; }
        average { rho; u by sqrt(rho); H by sqrt(rho); m = rho*u; E = rho*(H + (gamma - 1)*dot(u, u)/2)/gamma; }
        waves { flow: u; sound: c; density: rho; pressure: p; }

        observe mass = mean(rho);
        observe energy = mean(E);
        cfl { advective: norm(u) + c; }
    }
    scheme plm_hll for IdealGas { reconstruct: plm<limiter = mc>; riemann: hll; time: ssprk3; repair: none; }
    scheme weno_z_hll for IdealGas { reconstruct: weno_z; riemann: hll; time: ssprk3; repair: none; }
    scheme plm_hllc for IdealGas { reconstruct: plm<limiter = mc> in primitive; riemann: hllc; time: ssprk2; repair: none; }
    scheme ppm_hllc for IdealGas { reconstruct: ppm in primitive; riemann: hllc; time: ssprk3; repair: none; }
    scheme plm_roe for IdealGas { reconstruct: plm<limiter = mc> in characteristic; riemann: roe; time: ssprk2; repair: none; }
    scheme weno5_roe for IdealGas { reconstruct: weno5; riemann: roe; time: ssprk3; repair: none; }
    scheme weno_z_characteristic for IdealGas { reconstruct: weno_z in characteristic; riemann: roe; time: ssprk3; repair: none; }
    scheme waves_roe for IdealGas { reconstruct: waves<limiter = mc>; riemann: roe; time: euler; repair: none; }
    scheme weno_z_repaired for IdealGas { reconstruct: weno_z in primitive; riemann: hllc; time: ssprk3; }
    scheme weno_z_hllc for IdealGas { reconstruct: weno_z in primitive; riemann: hllc; time: ssprk3; repair: none; }
}
