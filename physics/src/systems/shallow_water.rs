//! Water that is shallow against its waves.

system! {
    /// The shallow-water equations over a flat bed (LeVeque, Finite Volume Methods for Hyperbolic Problems, 2002,
    /// Eq. 13.5), as conservation laws.
    ///
    /// `h` is the depth and `m` the momentum of a column over its density.
    pub system ShallowWater in nd {
        conserved h: scalar [m];
        conserved m: vector [m^2/s];
        param g: real [m/s^2] = 9.81 where g > 0;

        let u = m / h;
        let p = g*h^2/2;
        let c = sqrt(g*h);
        flux h -> m;
        flux m -> outer(m, u) + p * I;
        primitive { h; u; m = h*u; }
        average { h; u by sqrt(h); m = h*u; }
        waves { flow: u; sound: c; density: h; pressure: p; }

        /// The change of velocity through a bore that raises the depth from `q` to `h` (Toro 2001, Eq. 5.12).
        fn bore(h: scalar, q: scalar) -> scalar {
            (h - q) * sqrt(g/2*(1/h + 1/q))
        }
        fn bore_slope(h: scalar, q: scalar) -> scalar {
            let root = sqrt(g/2*(1/h + 1/q));
            root - g*(h - q)/(4*h^2*root)
        }
        /// The change of velocity through a wave, a fan or a bore (Toro 2001, Eq. 5.8).
        fn taken(h: scalar, q: scalar, c: scalar) -> scalar {
            if q <= h { bore(h, q) } else { 2*(sqrt(g*h) - c) }
        }
        /// The depth at which both waves take the jump of the flow (Toro 2001, section 5.3). Of two fans it is known
        /// (Eq. 5.21), with a dry bed if they part too fast. Else Newton's method rises from the lower depth.
        fn between(jump: scalar, h_0: scalar, c_0: scalar, h_1: scalar, c_1: scalar) -> scalar {
            let h_low = if h_0 < h_1 { h_0 } else { h_1 };
            let h_high = if h_0 < h_1 { h_1 } else { h_0 };
            let c_low = if h_0 < h_1 { c_0 } else { c_1 };
            let c_high = if h_0 < h_1 { c_1 } else { c_0 };
            let sounds = c_low + c_high;
            let parted = sounds - jump/2;
            let share = parted/(2*c_low);
            let mut h = h_low;
            for i in 0..20 {
                let high = if h_high <= h { bore(h, h_high) } else { 2*(sqrt(g*h) - c_high) };
                let slope = if h_high <= h { bore_slope(h, h_high) } else { sqrt(g/h) };
                let low = bore(h, h_low);
                let both = low + high;
                let rest = both + jump;
                let step = rest/(bore_slope(h, h_low) + slope);
                h = h - step;
                until(share <= 1 || abs(step) <= 1e-5*h || abs(rest) <= 1e-6*sounds);
            }
            if share <= 1 { h_low*max(share, 0)^2 } else { h }
        }
        /// The exact solution of the Riemann problem, at the face (Toro 2001, sections 5.3 and 5.4).
        riemann exact {
            let back = dot(below.u, normal);
            let ahead = dot(above.u, normal);
            let middle = between(ahead - back, below.h, below.c, above.h, above.c);
            let taken_back = taken(middle, below.h, below.c);
            let taken_ahead = taken(middle, above.h, above.c);
            let flows = back + ahead;
            let more = taken_ahead - taken_back;
            let contact = (flows + more)/2;

            // The side of the flow's wave where the face is, with its wave going back.
            let h_near = if 0 < contact { below.h } else { above.h };
            let u_near = if 0 < contact { below.u } else { above.u };
            let c_near = if 0 < contact { below.c } else { above.c };
            let flow = if 0 < contact { back } else { -ahead };
            let lost = if 0 < contact { taken_back } else { taken_ahead };
            let ratio = middle/h_near;
            let broken = flow - c_near*sqrt((ratio + 1)*ratio/2);
            let head = if h_near <= middle { broken } else { flow - c_near };
            let tail = if h_near <= middle { broken } else { flow - lost - sqrt(g*middle) };
            let critical = (flow + 2*c_near)/3;
            let v = if 0 <= head { flow } else if tail <= 0 { abs(contact) } else { critical };
            let v_face = if 0 < contact { v } else { -v };

            h = if 0 <= head { h_near } else if tail <= 0 { middle } else { critical^2/g };
            u = u_near + (v_face - dot(u_near, normal))*normal;
        }

        observe volume = mean(h);
    }
    scheme plm_hll for ShallowWater { reconstruct: plm<limiter = mc>; riemann: hll; time: ssprk3; }
    scheme plm_hllc for ShallowWater { reconstruct: plm<limiter = mc> in primitive; riemann: hllc; time: ssprk2; }
    scheme plm_exact for ShallowWater { reconstruct: plm<limiter = mc> in primitive; riemann: exact; time: ssprk2; }
    scheme waves_roe for ShallowWater { reconstruct: waves<limiter = mc>; riemann: roe; time: euler; }
}
