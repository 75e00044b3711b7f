/// The shallow-water equations over a flat bed (LeVeque, Finite Volume Methods for Hyperbolic Problems, 2002,
/// Eq. 13.5), as conservation laws.
///
/// `h` is the depth and `m` the momentum of a column over its density.
pub system WaterSwept in 2d {
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

    observe volume = mean(h);
    cfl { advective: norm(u) + c; }
}
scheme waves for WaterSwept { reconstruct: waves<limiter = mc>; riemann: roe; sweep: dimensional; time: euler; }
