/// Heat in a bar.
pub system Heat in 1d {
    field q: scalar;
    param k: real = 1e-2 where k >= 0;
    source s: scalar = sin(pi * x) * t;
    ddt(q) = k * lap(q) + s;
    observe heat = mean(q);
    cfl { diffusive: k }
}
scheme fine for Heat { space: central<order = 4>; mixed: product; arith: collected; time: rk4; }
