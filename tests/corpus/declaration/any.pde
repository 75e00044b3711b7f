pub system Flow in nd {
    field rho: scalar;
    field u: vector;
    param c: real = 1 where c > 0;
    let s = sym_traceless(grad(u));
    fn smooth(a: scalar, b: scalar) -> scalar {
        let mut m = a;
        for i in 0..4 { m = if m > b { m - b } else { b^2 }; }
        sqrt(1 + m^2)
    }
    ddt(rho) = -div(rho * u) / smooth(c, 1);
    ddt(u) = -dot(u, grad(u)) - c^2 * grad(log(rho)) + div(2 * rho * s) / rho;
    cfl { advective: norm(u) + c }
}
