//! A gas without friction: the Euler equations.

system! {
    /// The Euler equations of an ideal gas (Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics, 2009,
    /// Eqs. 3.1 to 3.6), as conservation laws.
    ///
    /// `rho` is the density, `m` the momentum and `E` the energy in a volume, internal and kinetic.
    ///
    /// With limited lines of primitive variables `hllc` and the exact solver keep densities and pressures positive, at
    /// no cost. All other schemes may make them negative beside strong shocks or in strong fans, and repair fluxes;
    /// `van_leer_plm_hllc` cannot, and stops where a strong shock meets a cold stream.
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

        /// The change of velocity through a shock that raises the pressure from `q` to `p` (Toro 2009, Eq. 4.6).
        fn shock(p: scalar, rho: scalar, q: scalar) -> scalar {
            (p - q) * sqrt(2/(rho*((gamma + 1)*p + (gamma - 1)*q)))
        }
        fn shock_slope(p: scalar, rho: scalar, q: scalar) -> scalar {
            let sum = (gamma + 1)*p + (gamma - 1)*q;
            sqrt(2/(rho*sum)) * ((gamma + 1)*p + (3*gamma - 1)*q)/(2*sum)
        }
        /// The ratio of the speed of sound in a fan to that before it, with the pressure falling to that share.
        fn cooled(share: scalar) -> scalar {
            pow(share, (gamma - 1)/(2*gamma))
        }
        /// The change of velocity through a wave, a fan or a shock (Toro 2009, Eqs. 4.6 and 4.7).
        fn taken(p: scalar, rho: scalar, q: scalar, c: scalar) -> scalar {
            if q <= p { shock(p, rho, q) } else { 2*c/(gamma - 1)*(cooled(p/q) - 1) }
        }
        /// The pressure at which both waves take the jump of the flow (Toro 2009, section 4.3). If both are fans it is
        /// known (Eq. 4.46), with vacuum if they part too fast. Else Newton's method rises from the lower pressure:
        /// changes are concave. Of equal pressures the thinner gas has the lower one, for a mirror image, too.
        fn between(jump: scalar, rho_0: scalar, p_0: scalar, c_0: scalar, rho_1: scalar, p_1: scalar, c_1: scalar) -> scalar {
            let rises = if p_0 < p_1 || (p_0 == p_1 && rho_0 < rho_1) { 1 } else { 0 };
            let rho_low = if 0 < rises { rho_0 } else { rho_1 };
            let p_low = if 0 < rises { p_0 } else { p_1 };
            let rho_high = if 0 < rises { rho_1 } else { rho_0 };
            let p_high = if 0 < rises { p_1 } else { p_0 };
            let c_low = if 0 < rises { c_0 } else { c_1 };
            let c_high = if 0 < rises { c_1 } else { c_0 };
            let sounds = c_low + c_high;
            let parted = sounds - (gamma - 1)/2*jump;
            let share = parted / (c_low + c_high*cooled(p_low/p_high));
            let mut p = p_low;
            for i in 0..20 {
                let sound = cooled(p/p_high);
                let high = if p_high <= p { shock(p, rho_high, p_high) } else { 2*c_high/(gamma - 1)*(sound - 1) };
                let slope = if p_high <= p { shock_slope(p, rho_high, p_high) } else { sound*p_high/(p*rho_high*c_high) };
                let low = shock(p, rho_low, p_low);
                let both = low + high;
                let rest = both + jump;
                let step = rest/(shock_slope(p, rho_low, p_low) + slope);
                p = p - step;
                until(share <= 1 || abs(step) <= 1e-5*p || abs(rest) <= 1e-6*sounds/(gamma - 1));
            }
            if share <= 1 { p_low*pow(max(share, 0), 2*gamma/(gamma - 1)) } else { p }
        }
        /// The exact solution of the Riemann problem, at the face (Toro 2009, sections 4.2 to 4.5).
        riemann exact {
            let back = dot(below.u, normal);
            let ahead = dot(above.u, normal);
            let middle = between(ahead - back, below.rho, below.p, below.c, above.rho, above.p, above.c);
            let taken_back = taken(middle, below.rho, below.p, below.c);
            let taken_ahead = taken(middle, above.rho, above.p, above.c);
            let flows = back + ahead;
            let more = taken_ahead - taken_back;
            let contact = (flows + more)/2;

            // The side of the contact where the face is, with its wave going back.
            let rho_near = if 0 < contact { below.rho } else { above.rho };
            let u_near = if 0 < contact { below.u } else { above.u };
            let p_near = if 0 < contact { below.p } else { above.p };
            let c_near = if 0 < contact { below.c } else { above.c };
            let flow = if 0 < contact { back } else { -ahead };
            let lost = if 0 < contact { taken_back } else { taken_ahead };
            let ratio = middle/p_near;
            let shocked = flow - c_near*sqrt((gamma + 1)/(2*gamma)*ratio + (gamma - 1)/(2*gamma));
            let head = if p_near <= middle { shocked } else { flow - c_near };
            let tail = if p_near <= middle { shocked } else { flow - lost - c_near*cooled(ratio) };
            let least = (gamma - 1)/(gamma + 1);
            let rho_middle = if p_near <= middle { (ratio + least)/(least*ratio + 1) } else { pow(ratio, 1/gamma) };
            let sonic = max(2/(gamma + 1) + least*flow/c_near, 0);
            let v = if 0 <= head { flow } else if tail <= 0 { abs(contact) } else { c_near*sonic };
            let v_face = if 0 < contact { v } else { -v };

            rho = rho_near*(if 0 <= head { 1 } else if tail <= 0 { rho_middle } else { pow(sonic, 2/(gamma - 1)) });
            u = u_near + (v_face - dot(u_near, normal))*normal;
            p = if 0 <= head { p_near } else if tail <= 0 { middle } else { p_near*pow(sonic, 2*gamma/(gamma - 1)) };
        }

        observe mass = mean(rho);
        observe energy = mean(E);
    }
    scheme plm_hllc for IdealGas { reconstruct: plm<limiter = mc> in primitive; riemann: hllc; time: ssprk2; repair: none; }
    scheme plm_hll for IdealGas { reconstruct: plm<limiter = mc>; riemann: hll; time: ssprk3; }
    scheme weno_z_hll for IdealGas { reconstruct: weno_z; riemann: hll; time: ssprk3; }
    scheme ppm_hllc for IdealGas { reconstruct: ppm in primitive; riemann: hllc; time: ssprk3; }
    scheme plm_roe for IdealGas { reconstruct: plm<limiter = mc> in characteristic; riemann: roe; time: ssprk2; }
    scheme weno5_roe for IdealGas { reconstruct: weno5; riemann: roe; time: ssprk3; }
    scheme weno_z_characteristic for IdealGas { reconstruct: weno_z in characteristic; riemann: roe; time: ssprk3; }
    scheme plm_exact for IdealGas { reconstruct: plm<limiter = mc> in primitive; riemann: exact; time: ssprk2; repair: none; }
    scheme waves_roe for IdealGas { reconstruct: waves<limiter = mc>; riemann: roe; time: euler; }
    scheme weno_z_hllc for IdealGas { reconstruct: weno_z in primitive; riemann: hllc; time: ssprk3; }
    scheme van_leer_plm_hllc for IdealGas { reconstruct: plm<limiter = mc> in primitive; riemann: hllc; time: van_leer; repair: none; }
    scheme hancock_ppm_hllc for IdealGas { reconstruct: ppm in primitive; riemann: hllc; time: muscl_hancock; }
    scheme corner_plm_roe for IdealGas { reconstruct: plm<limiter = mc> in characteristic; riemann: roe; time: corner_transport; }
}
