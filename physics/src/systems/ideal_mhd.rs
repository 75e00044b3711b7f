//! Flow of a perfectly conducting gas.

system! {
    /// Ideal magnetohydrodynamics, with the magnetic field on faces (J. M. Stone, T. A. Gardiner, P. Teuben, J. F. Hawley and
    /// J. B. Simon, Astrophys. J. Suppl. 178, 137, 2008, Eqs. 1 to 4), as conservation laws.
    ///
    /// `rho` is the density, `m` the momentum, `E` the energy and `b` the magnetic field, all over volume, in units in which
    /// the magnetic pressure is `b^2/2`. The divergence of `b` stays as it begins: begin `b` as the curl of a potential.
    pub system IdealMhd in nd {
        conserved rho: scalar [kg/m^3] where rho > 0;
        conserved m: vector<3> [kg/m^2/s];
        conserved E: scalar [J/m^3];
        face conserved b: vector<3> [Pa^(1/2)];
        param gamma: real [1] = 5/3 where gamma > 1;

        let u = m/rho;
        let c = to_cells(b);
        let p = (gamma - 1)*(E - dot(m, u)/2 - dot(c, c)/2) where p > 0;
        let total = p + dot(c, c)/2;

        /// The speed of fast waves along an axis, from the squares of the speed of sound and of Alfvén waves along the axis
        /// and across it.
        fn fast(sound: scalar, along: scalar, across: scalar) -> scalar {
            let all = along + across;
            sqrt((sound + all + sqrt((sound - all)^2 + 4*sound*across))/2)
        }
        /// The size of a speed, smoothed in a fan: never less than half of the most by which it is ahead of that below or behind that above.
        fn smoothed(speed: scalar, below: scalar, above: scalar) -> scalar {
            let width = max(max(speed - below, above - speed), 0);
            if abs(speed) < width { (speed^2 + width^2)/(2*width) } else { abs(speed) }
        }
        let sound = gamma*p/rho;
        let speeds = [
            fast(sound, c.x^2/rho, (c.y^2 + c.z^2)/rho),
            fast(sound, c.y^2/rho, (c.x^2 + c.z^2)/rho),
            fast(sound, c.z^2/rho, (c.x^2 + c.y^2)/rho)
        ];

        let slow = [
            sqrt(sound*c.x^2/rho)/speeds.x, sqrt(sound*c.y^2/rho)/speeds.y, sqrt(sound*c.z^2/rho)/speeds.z
        ];

        flux rho -> m;
        flux m -> outer(m, u) - outer(c, c) + total*I;
        flux E -> (E + total)*u - dot(u, c)*c;
        flux b -> outer(u, c) - outer(c, u);
        primitive { rho; u; p; b; m = rho*u; E = p/(gamma - 1) + rho*dot(u, u)/2 + dot(c, c)/2; }
        waves { flow: u; sound: speeds; }

        /// Four states between the slowest and the fastest wave, with Alfvén waves on both sides of the contact (T. Miyoshi
        /// and K. Kusano, J. Comput. Phys. 208, 315, 2005).
        riemann hlld {
            let back = dot(below.u, normal);
            let ahead = dot(above.u, normal);
            let along = (dot(below.c, normal) + dot(above.c, normal))/2;
            let sounds = max(dot(below.speeds, normal), dot(above.speeds, normal));
            let slowest = min(back, ahead) - sounds;
            let fastest = max(back, ahead) + sounds;

            // Masses that the outer waves take up, the contact between them (Eq. 38) and its pressure (Eq. 41).
            let mass_0 = below.rho*(back - slowest);
            let mass_1 = above.rho*(fastest - ahead);
            let contact = (mass_0*back + mass_1*ahead + (below.total - above.total))/(mass_0 + mass_1);
            let middle = (below.total + mass_0*(back - contact) + (above.total + mass_1*(contact - ahead)))/2;
            let lag_0 = contact - slowest;
            let lag_1 = fastest - contact;
            let rho_0 = mass_0/lag_0;
            let rho_1 = mass_1/lag_1;

            // States behind the outer waves (Eqs. 43 to 48); nothing turns where the wave is a switch-on shock.
            let across_0 = below.c - along*normal;
            let across_1 = above.c - along*normal;
            let divisor_0 = mass_0*lag_0 - along^2;
            let divisor_1 = mass_1*lag_1 - along^2;
            let turns_0 = if abs(divisor_0) <= 1e-8*(mass_0*lag_0 + along^2) { 0 } else { 1 };
            let turns_1 = if abs(divisor_1) <= 1e-8*(mass_1*lag_1 + along^2) { 0 } else { 1 };
            let by_0 = if 0 < turns_0 { divisor_0 } else { 1 };
            let by_1 = if 0 < turns_1 { divisor_1 } else { 1 };
            let u_0 = below.u + (contact - back)*normal - turns_0*along*(contact - back)/by_0*across_0;
            let u_1 = above.u + (contact - ahead)*normal - turns_1*along*(contact - ahead)/by_1*across_1;
            let kept_0 = if 0 < turns_0 { (mass_0*(back - slowest) - along^2)/by_0 } else { 1 };
            let kept_1 = if 0 < turns_1 { (mass_1*(fastest - ahead) - along^2)/by_1 } else { 1 };
            let c_0 = along*normal + kept_0*across_0;
            let c_1 = along*normal + kept_1*across_1;
            let turned_0 = dot(u_0, c_0);
            let turned_1 = dot(u_1, c_1);
            let E_0 = ((back - slowest)*below.E + (below.total*back - middle*contact)
                - along*(dot(below.u, below.c) - turned_0))/lag_0;
            let E_1 = ((fastest - ahead)*above.E - (above.total*ahead - middle*contact)
                + along*(dot(above.u, above.c) - turned_1))/lag_1;

            // The state between the Alfvén waves (Eqs. 51, 59 to 63).
            let root_0 = sqrt(rho_0);
            let root_1 = sqrt(rho_1);
            let turn = if 0 <= along { 1 } else { -1 };
            let u_middle = (root_0*u_0 + root_1*u_1 + turn*(c_1 - c_0))/(root_0 + root_1);
            let c_middle = (root_0*c_1 + root_1*c_0 + turn*root_0*root_1*(u_1 - u_0))/(root_0 + root_1);
            let joined = dot(u_middle, c_middle);

            // The waves that reach the face, on the side of the contact where it is (Eqs. 64 and 66).
            let is_below = if 0 < contact { 1 } else { 0 };
            let outer_wave = if 0 < is_below { min(slowest, 0) } else { max(fastest, 0) };
            let alfven = if 0 < is_below { min(contact - abs(along)/root_0, 0) } else { max(contact + abs(along)/root_1, 0) };
            let rho_star = if 0 < is_below { rho_0 } else { rho_1 };
            let u_star = if 0 < is_below { u_0 } else { u_1 };
            let c_star = if 0 < is_below { c_0 } else { c_1 };
            let E_star = if 0 < is_below { E_0 } else { E_1 };
            let rise = if 0 < is_below { root_0*(joined - turned_0) } else { root_1*(turned_1 - joined) };
            let rho_near = if 0 < is_below { below.rho } else { above.rho };
            let m_near = if 0 < is_below { below.m } else { above.m };
            let E_near = if 0 < is_below { below.E } else { above.E };
            let c_near = if 0 < is_below { below.c } else { above.c };
            let rho_flux = if 0 < is_below { flux(below.rho) } else { flux(above.rho) };
            let m_flux = if 0 < is_below { flux(below.m) } else { flux(above.m) };
            let E_flux = if 0 < is_below { flux(below.E) } else { flux(above.E) };
            let c_flux = if 0 < is_below { flux(below.b) } else { flux(above.b) };

            flux rho -> rho_flux + outer_wave*(rho_star - rho_near);
            flux m -> m_flux + outer_wave*(rho_star*u_star - m_near) + alfven*rho_star*(u_middle - u_star);
            flux E -> E_flux + outer_wave*(E_star - E_near) + alfven*turn*rise;
            flux b -> c_flux + outer_wave*(c_star - c_near) + alfven*(c_middle - c_star);
        }

        /// Seven waves of the law made linear between both sides, which add up to the jumps (Roe's solver: P. Cargo and G. Gallice,
        /// J. Comput. Phys. 136, 446, 1997), with the eigenvectors of M. Brio and C. C. Wu, J. Comput. Phys. 75, 400, 1988. The speeds of
        /// fast and slow waves are smoothed in fans (A. Harten and J. M. Hyman, J. Comput. Phys. 50, 235, 1983).
        riemann seven_waves {
            // The state between both sides; its sound has no differences.
            let root_0 = sqrt(below.rho);
            let root_1 = sqrt(above.rho);
            let roots = root_0 + root_1;
            let density = root_0*root_1;
            let root = sqrt(density);
            let v = (root_0*below.u + root_1*above.u)/roots;
            let along = (dot(below.c, normal) + dot(above.c, normal))/2;
            let across_0 = below.c - dot(below.c, normal)*normal;
            let across_1 = above.c - dot(above.c, normal)*normal;
            let across = (root_1*across_0 + root_0*across_1)/roots;
            let push = above.u - below.u;
            let turn = across_1 - across_0;
            let squares = dot(turn, turn)/(2*roots^2);
            let a_2 = (root_0*below.sound + root_1*above.sound)/roots
                + (gamma - 1)/2*density/roots^2*dot(push, push) + gamma*squares;
            let heat = (a_2 + (gamma - 2)*squares)/(gamma - 1) + dot(v, v)/2;

            // The fast and the slow speed, and the parts of both in a wave (Brio and Wu 1988, Eq. 39).
            let b_across = norm(across);
            let alfven_2 = along^2/density;
            let across_2 = b_across^2/density;
            let excess = a_2 - alfven_2 - across_2;
            let spacing = sqrt(excess^2 + 4*a_2*across_2);
            let fast_2 = (a_2 + alfven_2 + across_2 + spacing)/2;
            let c_fast = sqrt(fast_2);
            let a = sqrt(a_2);
            let alfven = sqrt(alfven_2);
            let c_slow = a*alfven/c_fast;
            let by = if 0 < spacing { spacing } else { 1 };
            let larger = if 0 < spacing { sqrt((1 + abs(excess)/by)/2) } else { 1 };
            let smaller = a*sqrt(across_2)/(by*larger);
            let is_fast = if excess < 0 { smaller } else { larger };
            let is_slow = if excess < 0 { larger } else { smaller };

            // The direction of the field across, any if there is none, and the one across both.
            let aslant = ([1, 1, 1] - normal)/sqrt(2);
            let length = if 0 < b_across { b_across } else { 1 };
            let side = if 0 < b_across { across/length } else { aslant };
            let other = cross(normal, side);
            let way = if 0 <= along { 1 } else { -1 };

            let flow = dot(v, normal);
            let lift = dot(push, normal);
            let pressure = squares*(above.rho - below.rho) + (above.p - below.p);
            let by_fast = is_slow*c_slow*way;
            let by_slow = is_fast*c_fast*way;
            let shear = dot(push, side);
            let strain = root*a*dot(turn, side);
            let v_side = dot(v, side);
            let swirl = dot(push, other);
            let twist = way*dot(turn, other)/root;
            let fast_sum = is_fast*pressure + is_slow*strain;
            let fast_difference = density*(is_fast*c_fast*lift - by_fast*shear);
            let slow_sum = is_slow*pressure - is_fast*strain;
            let slow_difference = density*(is_slow*c_slow*lift + by_slow*shear);
            let b_fast = is_slow*a/root;
            let b_slow = is_fast*a/root;
            let heat_fast = is_fast*heat + b_fast*b_across;
            let heat_slow = is_slow*heat - b_slow*b_across;

            // The speeds on both sides, of which fans are made.
            let flow_0 = dot(below.u, normal);
            let flow_1 = dot(above.u, normal);
            let fast_0 = dot(below.speeds, normal);
            let fast_1 = dot(above.speeds, normal);
            let slow_0 = dot(below.slow, normal);
            let slow_1 = dot(above.slow, normal);

            wave (fast_sum - fast_difference)/(2*a_2) at flow - c_fast
                spread smoothed(flow - c_fast, flow_0 - fast_0, flow_1 - fast_1) {
                rho = is_fast;
                m = is_fast*(v - c_fast*normal) + by_fast*side;
                E = heat_fast - is_fast*flow*c_fast + by_fast*v_side;
                b = b_fast*side;
            }
            wave (swirl + twist)/2 at flow - alfven { m = density*other; E = density*dot(v, other); b = way*root*other; }
            wave (slow_sum - slow_difference)/(2*a_2) at flow - c_slow
                spread smoothed(flow - c_slow, flow_0 - slow_0, flow_1 - slow_1) {
                rho = is_slow;
                m = is_slow*(v - c_slow*normal) - by_slow*side;
                E = heat_slow - is_slow*flow*c_slow - by_slow*v_side;
                b = -b_slow*side;
            }
            wave ((a_2 - squares)*(above.rho - below.rho) - (above.p - below.p))/a_2 at flow {
                rho = 1;
                m = v;
                E = dot(v, v)/2 + (gamma - 2)/(gamma - 1)*squares;
            }
            wave (slow_sum + slow_difference)/(2*a_2) at flow + c_slow
                spread smoothed(flow + c_slow, flow_0 + slow_0, flow_1 + slow_1) {
                rho = is_slow;
                m = is_slow*(v + c_slow*normal) + by_slow*side;
                E = heat_slow + is_slow*flow*c_slow + by_slow*v_side;
                b = -b_slow*side;
            }
            wave (swirl - twist)/2 at flow + alfven { m = density*other; E = density*dot(v, other); b = -way*root*other; }
            wave (fast_sum + fast_difference)/(2*a_2) at flow + c_fast
                spread smoothed(flow + c_fast, flow_0 + fast_0, flow_1 + fast_1) {
                rho = is_fast;
                m = is_fast*(v + c_fast*normal) - by_fast*side;
                E = heat_fast + is_fast*flow*c_fast - by_fast*v_side;
                b = b_fast*side;
            }
        }

        observe mass = mean(rho);
        observe energy = mean(E);
        observe largest_divergence = max(abs(div(b)));
    }
    scheme plm_hll for IdealMhd {
        space: central<order = 2>;
        reconstruct: plm<limiter = mc> in primitive;
        riemann: hll;
        time: ssprk2;
        repair: none;
    }
    scheme plm_hlld for IdealMhd {
        space: central<order = 2>;
        reconstruct: plm<limiter = mc> in primitive;
        riemann: hlld;
        time: ssprk2;
        repair: none;
    }
    scheme plm_roe for IdealMhd {
        space: central<order = 2>;
        reconstruct: plm<limiter = mc> in primitive;
        riemann: seven_waves<else = hll>;
        time: ssprk2;
        repair: none;
    }
    scheme van_leer_plm_hlld for IdealMhd {
        space: central<order = 2>;
        reconstruct: plm<limiter = mc> in primitive;
        riemann: hlld;
        time: van_leer;
        repair: none;
    }
}
