pub system Law in 1d {
    conserved q: scalar where q >= 0;
    param nu: real = 0 where nu >= 0;
    flux q -> q^2/2 * diagonal(I);
    ddt(q) = nu*lap(q);
    primitive { q; }
    waves { flow: q*diagonal(I); }
    cfl { advective: norm(q*diagonal(I)); diffusive: nu; }
}
scheme sharp for Law { space: central<order = 2>; reconstruct: plm<limiter = mc>; riemann: roe; time: ssprk2; }
scheme waves for Law { reconstruct: waves<limiter = mc>; riemann: roe; time: euler; }
