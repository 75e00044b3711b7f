/// Relativistic hydrodynamics in units of the speed of light (Cygert et al., Using GPUs for Parallel Stencil Computations in
/// Relativistic Hydrodynamic Simulation, 2014, Eqs. 1 to 3; Martí and Müller, Living Rev. Relativ. 6, 7, 2003, section 3).
///
/// `RelativisticGas` of the library as radiation, with the scheme of that paper alone. Fluxes are not repaired, so that a sweep is one
/// kernel.
pub system Nuclei in 3d {
    conserved R: scalar [1/m^3] where R > 0;
    conserved M: vector [J/m^3];
    conserved E: scalar [J/m^3];
    param gamma: real [1] = 4/3 where gamma > 1 and gamma <= 2;
    param mass: real [J] = 0 where mass >= 0;

    /// The equation of state.
    fn pressure(e: scalar, n: scalar) -> scalar {
        (gamma - 1)*(e - mass*n)
    }
    /// The square of the speed of sound, `dp/de + n/(e + p) dp/dn`.
    fn sound_square(e: scalar, n: scalar) -> scalar {
        let p = pressure(e, n);
        gamma*p/(e + p)
    }
    /// The pressure `p` for which the state that it makes of `E`, `M` and `R` has the pressure `p`. The slope of the difference is
    /// `v^2 c^2 - 1` with the speed of sound `c`, so there is one root at most, and Newton's method comes down to it from above.
    fn recovered(E: scalar, M: vector, R: scalar) -> scalar {
        let square = dot(M, M);
        let mut p = 0;
        for i in 0..30 {
            let inertia = E + p;
            let v2 = square/inertia^2;
            let e = E - square/inertia;
            let n = R*sqrt(1 - v2);
            let step = (pressure(e, n) - p)/(1 - v2*sound_square(e, n));
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
    let p = pressure(e, n);
    let v2 = dot(v, v);
    let c2 = sound_square(e, n);
    flux R -> R*v;
    flux M -> outer(M, v) + p*I;
    flux E -> (E + p)*v;
    primitive { n; q; u; R = n*W; M = (e + p)*W*u; E = (e + p)*W^2 - p; }

    // The speeds along an axis are flow ± c sqrt((1 - v^2) (1 - v^2 c^2 - (1 - c^2) v_x^2))/(1 - v^2 c^2) (Martí and Müller 2003,
    // Eq. 28). The mean of both factors bounds the root, is the root for a flow along the axis, and never makes a wave faster than light.
    let slow = 1/(1 - v2*c2);
    let flow = (1 - c2)*slow*v;
    waves { flow: flow; sound: sqrt(c2)*slow/2*((2 - v2 - v2*c2)*diagonal(I) - (1 - c2)*diagonal(outer(v, v))); }

    observe charge = mean(R);
    observe energy = mean(E);
    observe fastest = max(W);
}
scheme musta_force for Nuclei { reconstruct: plm<limiter = van_albada> in primitive; riemann: musta<stages = 2>; sweep: strang; time: muscl_hancock; repair: none; }
