//! Flow of a perfectly conducting gas.

system! {
    /// Ideal magnetohydrodynamics, with the magnetic field on faces (J. M. Stone, T. A. Gardiner, P. Teuben, J. F. Hawley and
    /// J. B. Simon, Astrophys. J. Suppl. 178, 137, 2008, Eqs. 1 to 4), as conservation laws.
    ///
    /// `rho` is the density, `m` the momentum, `E` the energy and `b` the magnetic field, all over volume, in units in which
    /// the magnetic pressure is `b^2/2`. The divergence of `b` stays as it begins: begin `b` as the curl of a potential.
    pub system IdealMhd in nd {
        conserved rho: scalar [kg/m^3];
        conserved m: vector<3> [kg/m^2/s];
        conserved E: scalar [J/m^3];
        face conserved b: vector<3> [Pa^(1/2)];
        param gamma: real [1] = 5/3 where gamma > 1;

        let u = m/rho;
        let c = to_cells(b);
        let p = (gamma - 1)*(E - dot(m, u)/2 - dot(c, c)/2);
        let total = p + dot(c, c)/2;

        /// The speed of fast waves along an axis, from the squares of the speed of sound and of Alfvén waves along the axis
        /// and across it.
        fn fast(sound: scalar, along: scalar, across: scalar) -> scalar {
            let all = along + across;
            sqrt((sound + all + sqrt((sound - all)^2 + 4*sound*across))/2)
        }
        let sound = gamma*p/rho;
        let speeds = [
            fast(sound, c.x^2/rho, (c.y^2 + c.z^2)/rho),
            fast(sound, c.y^2/rho, (c.x^2 + c.z^2)/rho),
            fast(sound, c.z^2/rho, (c.x^2 + c.y^2)/rho)
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

        observe mass = mean(rho);
        observe energy = mean(E);
        observe largest_divergence = max(abs(div(b)));
    }
    scheme plm_hll for IdealMhd { space: central<order = 2>; reconstruct: plm<limiter = mc> in primitive; riemann: hll; time: ssprk2; }
    scheme plm_hlld for IdealMhd { space: central<order = 2>; reconstruct: plm<limiter = mc> in primitive; riemann: hlld; time: ssprk2; }
}
