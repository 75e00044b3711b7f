//! Two layers of water that do not mix.

system! {
    /// Two layers of shallow water over a bed, the lighter one above (Castro, Macías and Parés, ESAIM: M2AN 35, 107, 2001;
    /// LeVeque, Finite Volume Methods for Hyperbolic Problems, 2002, chapter 16). Each layer presses on the other, by products with
    /// slopes that are no fluxes, and a lake at rest stays so (Audusse, Bouchut, Bristeau, Klein and Perthame, SIAM J. Sci. Comput.
    /// 25, 2050, 2004).
    ///
    /// `h_1` is the depth of the layer above and `m_1` the momentum of its column over its density, `h_2` and `m_2` are those of the
    /// layer below; `ratio` is the density above over that below. Both layers cover all of `bed`. If `shear` exceeds one, the
    /// layers flow past each other too fast: two speeds of waves are complex, and the equations have no waves there.
    pub system TwoLayers in nd {
        conserved h_1: scalar [m];
        conserved m_1: vector [m^2/s];
        conserved h_2: scalar [m];
        conserved m_2: vector [m^2/s];
        field bed: scalar [m];
        param g: real [m/s^2] = 9.81 where g > 0;
        param ratio: real = 0.98 where ratio > 0 and ratio < 1;

        let u_1 = m_1/h_1;
        let u_2 = m_2/h_2;
        let interface = h_2 + bed;
        let depth = h_1 + h_2;
        let slip = u_2 - u_1;
        let mean = (m_1 + m_2)/depth;
        let c = sqrt(g*depth);
        flux h_1 -> m_1;
        flux m_1 -> outer(u_1, m_1) + g*h_1^2/2 * I;
        flux h_2 -> m_2;
        flux m_2 -> outer(u_2, m_2) + g*h_2^2/2 * I;
        product m_1 -> g*h_1*grad(h_2);
        product m_2 -> ratio*g*h_2*grad(h_1);
        ddt(m_1) = -g*h_1*grad(bed);
        ddt(m_2) = -g*h_2*grad(bed);
        ddt(bed) = 0;
        primitive { h_1; u_1; h_2; u_2; interface; m_1 = h_1*u_1; m_2 = h_2*u_2; bed = interface - h_2; }
        face { bed by max; h_2 = interface - bed; }
        waves { flow: mean; sound: c + norm(slip); }

        /// Waves of the layers at rest, which move as one or against each other (Bale, LeVeque, Mitran and Rossmanith, SIAM J. Sci.
        /// Comput. 24, 955, 2002): their shapes are those at rest, and each pair moves with a mean of both flows.
        riemann modes {
            let upper = (below.h_1 + above.h_1)/2;
            let lower = (below.h_2 + above.h_2)/2;
            let depth_between = upper + lower;
            let root = sqrt(depth_between^2 - 4*(1 - ratio)*upper*lower);
            let both = g*(depth_between + root)/2;
            let inner = g*(1 - ratio)*upper*lower*g/both;

            // The depth of the layer below that rises with that of the layer above, in either pair of waves.
            let with_both = both/(g*upper) - 1;
            let with_inner = inner/(g*upper) - 1;
            let apart = with_both - with_inner;
            let v_1 = (below.u_1 + above.u_1)/2;
            let v_2 = (below.u_2 + above.u_2)/2;
            let flow_1 = dot(v_1, normal);
            let flow_2 = dot(v_2, normal);
            let outer_flow = (upper*flow_1 + lower*flow_2)/depth_between;
            let inner_flow = (lower*flow_1 + upper*flow_2)/depth_between;
            let outer_speed = sqrt(both);
            let inner_speed = sqrt(inner);

            let rise_1 = dot(rise(m_1), normal);
            let rise_2 = dot(rise(m_2), normal);
            let out_h = (rise(h_2) - with_inner*rise(h_1))/apart;
            let in_h = (with_both*rise(h_1) - rise(h_2))/apart;
            let out_m = (rise_2 - with_inner*rise_1)/apart;
            let in_m = (with_both*rise_1 - rise_2)/apart;
            let out_back = ((outer_flow + outer_speed)*out_h - out_m)/(2*outer_speed);
            let out_ahead = (out_m - (outer_flow - outer_speed)*out_h)/(2*outer_speed);
            let in_back = ((inner_flow + inner_speed)*in_h - in_m)/(2*inner_speed);
            let in_ahead = (in_m - (inner_flow - inner_speed)*in_h)/(2*inner_speed);
            let along_1 = v_1 - flow_1*normal;
            let along_2 = v_2 - flow_2*normal;

            wave out_back at outer_flow - outer_speed {
                flux h_1 -> 1;
                flux m_1 -> (outer_flow - outer_speed)*normal + along_1;
                flux h_2 -> with_both;
                flux m_2 -> with_both*((outer_flow - outer_speed)*normal + along_2);
            }
            wave in_back at inner_flow - inner_speed {
                flux h_1 -> 1;
                flux m_1 -> (inner_flow - inner_speed)*normal + along_1;
                flux h_2 -> with_inner;
                flux m_2 -> with_inner*((inner_flow - inner_speed)*normal + along_2);
            }
            wave 1 at flow_1 { flux m_1 -> rise(m_1) - rise_1*normal - rise(h_1)*along_1; }
            wave 1 at flow_2 { flux m_2 -> rise(m_2) - rise_2*normal - rise(h_2)*along_2; }
            wave in_ahead at inner_flow + inner_speed {
                flux h_1 -> 1;
                flux m_1 -> (inner_flow + inner_speed)*normal + along_1;
                flux h_2 -> with_inner;
                flux m_2 -> with_inner*((inner_flow + inner_speed)*normal + along_2);
            }
            wave out_ahead at outer_flow + outer_speed {
                flux h_1 -> 1;
                flux m_1 -> (outer_flow + outer_speed)*normal + along_1;
                flux h_2 -> with_both;
                flux m_2 -> with_both*((outer_flow + outer_speed)*normal + along_2);
            }
        }

        observe volume_above = mean(h_1);
        observe volume_below = mean(h_2);
        observe shear = max(dot(slip, slip)/(g*(1 - ratio)*depth));
    }
    scheme plm_modes for TwoLayers { reconstruct: plm<limiter = van_leer> in primitive; riemann: modes; time: ssprk2; }
    scheme plm_hll for TwoLayers { reconstruct: plm<limiter = van_leer> in primitive; riemann: hll; time: ssprk2; }
}
