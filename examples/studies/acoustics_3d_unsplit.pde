/// Linear acoustics in a uniform medium (LeVeque, Finite Volume Methods for Hyperbolic Problems, 2002, Eqs. 2.52
/// and 18.24), as conservation laws.
///
/// `p` is the pressure above that at rest and `u` the velocity; `K` is the bulk modulus and `rho` the density of
/// the medium.
pub system AcousticsUnsplit in 3d {
    conserved p: scalar [Pa];
    conserved u: vector [m/s];
    param K: real [Pa] = 1 where K > 0;
    param rho: real [kg/m^3] = 1 where rho > 0;

    let c = sqrt(K/rho);
    flux p -> K*u;
    flux u -> p/rho * I;
    waves { sound: c; }

    observe energy = mean((p^2/K + rho*dot(u, u))/2);
    cfl { advective: c; }
}
scheme waves for AcousticsUnsplit { reconstruct: waves<limiter = mc>; riemann: roe; sweep: unsplit; time: euler; }
