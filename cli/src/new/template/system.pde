/// Advection and diffusion with a constant velocity `(vx, vy)` and the diffusivity `D`.
pub system Dye in 2d {
    field c: scalar [1];
    param vx: real [m/s] = 1.0;
    param vy: real [m/s] = 0.5;
    param D: real [m^2/s] = 2e-3 where D >= 0;

    ddt(c) = -vx * d[x](c) - vy * d[y](c) + D * lap(c);
}
scheme central6 for Dye { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
