//! A gas near the speed of light.

system! {
    /// Relativistic hydrodynamics in units of the speed of light (Cygert et al., Using GPUs for Parallel Stencil Computations in
    /// Relativistic Hydrodynamic Simulation, 2014, Eqs. 1 to 3; Martí and Müller, Living Rev. Relativ. 6, 7, 2003, section 3).
    ///
    /// `E` is the energy, `M` the momentum and `R` the charge in a volume of the laboratory: the number of baryons, or the mass at rest. In
    /// the frame of the gas they are `e`, zero and `n`.
    ///
    /// The equation of state may be any `p = f(q, n)`, with the heat `q`, the energy without that of particles at rest, `e - mass*n`: copy the
    /// declaration, and write another `pressure`. The speed of sound follows from it. This one is of an ideal gas whose particles have the
    /// rest energy `mass`. Without it, and by `gamma = 4/3`, this is radiation, `p = e/3`: the default.
    ///
    /// The pressure in a cell is the root of an equation. A cell without one, such as with less energy than momentum, stops the run,
    /// and the message names the loop `recovered`.
    ///
    /// Schemes reconstruct `n`, the heat `q` and the velocity times its Lorentz factor, `u`. Whatever lines of these meet at a face, the state
    /// there is slower than light, and limited lines keep `n` and `q` positive.
    pub system RelativisticGas in nd {
        conserved R: scalar [1/m^3] where R > 0;
        conserved M: vector [J/m^3];
        conserved E: scalar [J/m^3];
        param gamma: real [1] = 4/3 where gamma > 1 and gamma <= 2;
        param mass: real [J] = 0 where mass >= 0;

        /// The equation of state.
        fn pressure(q: scalar, n: scalar) -> scalar {
            (gamma - 1)*q
        }
        /// The square of the speed of sound, `dp/de + n/(e + p) dp/dn` with the energy `e = q + mass*n`. Slopes at the same heat leave no small
        /// difference in a cold gas.
        fn sound_square(q: scalar, n: scalar) -> scalar {
            let through = q + pressure(q, n);
            (through*d[q](pressure(q, n)) + n*d[n](pressure(q, n)))/(through + mass*n)
        }
        /// The pressure `p` for which the state that it makes of `E`, `M` and `R` has the pressure `p`. The slope of the difference is
        /// `v^2 c^2 - 1` with the speed of sound `c`, so there is one root at most, and Newton's method comes down to it from above.
        fn recovered(E: scalar, M: vector, R: scalar) -> scalar {
            let square = dot(M, M);
            let mut p = 0;
            for i in 0..30 {
                let inertia = E + p;
                let v2 = square/inertia^2;
                let n = R*sqrt(1 - v2);
                let q = E - square/inertia - mass*n;
                let step = (pressure(q, n) - p)/(1 - v2*sound_square(q, n));
                p = max(p + step, 0);
                until(abs(step) <= 1e-5*p + 4*epsilon*E);
            }
            p
        }

        let room = E - sqrt(dot(M, M) + (mass*R)^2) where room > 0;
        let inertia = E + recovered(E, M, R);
        let u = M/sqrt(inertia^2 - dot(M, M));
        let W = sqrt(1 + dot(u, u));
        let v = u/W;
        let n = R/W;
        let q = E - dot(M, v) - mass*n;
        let e = q + mass*n;
        let p = pressure(q, n);
        let v2 = dot(v, v);
        let c2 = sound_square(q, n);
        flux R -> R*v;
        flux M -> outer(M, v) + p*I;
        flux E -> (E + p)*v;
        primitive { n; q; u; R = n*W; M = (e + p)*W*u; E = (e + p)*W^2 - p; }

        // The speeds along an axis are flow ± c sqrt((1 - v^2) (1 - v^2 c^2 - (1 - c^2) v_x^2))/(1 - v^2 c^2) (Martí and Müller 2003,
        // Eq. 28). The mean of both factors bounds the root, is the root for a flow along the axis, and never makes a wave faster than light.
        let slow = 1/(1 - v2*c2);
        let flow = (1 - c2)*slow*v;
        waves { flow: flow; sound: sqrt(c2)*slow/2*((2 - v2 - v2*c2)*diagonal(I) - (1 - c2)*diagonal(outer(v, v))); }

        /// Half the difference between the fastest and the slowest wave along an axis.
        fn width(flow: scalar, v2: scalar, c2: scalar) -> scalar {
            sqrt(c2*(1 - v2)*(1 - v2*c2 - (1 - c2)*flow^2))/(1 - v2*c2)
        }
        /// The content between two waves, and the flux through it, times the difference of their speeds (Mignone and Bodo 2005, Eqs. 9 and 11).
        fn content(back: scalar, ahead: scalar, a: scalar, b: scalar, flux_a: scalar, flux_b: scalar) -> scalar {
            let drop = flux_a - flux_b;
            let of_a = back*a;
            let of_b = ahead*b;
            let grown = of_b - of_a;
            grown + drop
        }
        fn through(back: scalar, ahead: scalar, a: scalar, b: scalar, flux_a: scalar, flux_b: scalar) -> scalar {
            let jump = b - a;
            let of_a = ahead*flux_a;
            let of_b = back*flux_b;
            let mixed = of_a - of_b;
            let both = back*ahead;
            mixed + both*jump
        }
        /// HLLC: two states between the slowest and the fastest wave, and the contact between them (Mignone and Bodo, Mon. Not. R. Astron.
        /// Soc. 364, 126, 2005).
        riemann contact {
            let flow_0 = dot(below.v, normal);
            let flow_1 = dot(above.v, normal);
            let middle_0 = dot(below.flow, normal);
            let middle_1 = dot(above.flow, normal);
            let width_0 = width(flow_0, below.v2, below.c2);
            let width_1 = width(flow_1, above.v2, above.c2);
            let back = min(middle_0 - width_0, middle_1 - width_1);
            let ahead = max(middle_0 + width_0, middle_1 + width_1);

            // Energy and momentum between both waves, and their fluxes, all times the difference of the waves' speeds.
            let M_0 = dot(below.M, normal);
            let M_1 = dot(above.M, normal);
            let push_0 = dot(flux(below.M), normal);
            let push_1 = dot(flux(above.M), normal);
            let energy = content(back, ahead, below.E, above.E, flux(below.E), flux(above.E));
            let momentum = content(back, ahead, M_0, M_1, push_0, push_1);
            let power = through(back, ahead, below.E, above.E, flux(below.E), flux(above.E));
            let push = through(back, ahead, M_0, M_1, push_0, push_1);
            // The contact moves with the speed s of the momentum, (energy + pressure) s, where the pressure is push - power s (Eqs. 17 and 18).
            let sum = energy + push;
            let speed = 2*momentum/(sum + sqrt(max(sum^2 - 4*power*momentum, 0)));
            let pressure = (push - power*speed)/(ahead - back);

            // The side of the contact where the face is, with its wave: bounded by zero, beyond which that side reaches the face.
            let reach = if 0 < speed { min(back, 0) } else { max(ahead, 0) };
            let share = if reach == 0 { 0 } else { reach/(reach - speed) };
            let rest = 1 - share;
            let R_near = if 0 < speed { below.R } else { above.R };
            let M_near = if 0 < speed { below.M } else { above.M };
            let E_near = if 0 < speed { below.E } else { above.E };
            let of_R = if 0 < speed { flux(below.R) } else { flux(above.R) };
            let of_M = if 0 < speed { flux(below.M) } else { flux(above.M) };
            let of_E = if 0 < speed { flux(below.E) } else { flux(above.E) };
            flux R -> rest*of_R + share*(speed*R_near);
            flux M -> rest*of_M + share*(speed*M_near + pressure*normal);
            flux E -> rest*of_E + share*(speed*E_near + pressure*speed);
        }

        observe charge = mean(R);
        observe energy = mean(E);
        observe fastest = max(W);
    }
    scheme plm_hll for RelativisticGas { reconstruct: plm<limiter = van_albada> in primitive; riemann: hll; time: ssprk2; repair: none; }
    scheme plm_hllc for RelativisticGas { reconstruct: plm<limiter = van_albada> in primitive; riemann: contact; time: ssprk2; repair: none; }
    scheme musta_force for RelativisticGas { reconstruct: plm<limiter = van_albada> in primitive; riemann: musta<stages = 2>; sweep: strang; time: muscl_hancock; }
}
