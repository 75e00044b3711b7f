use stencil_macros::pde;

pde! {
    system Flow in 3d {
        field lnrho: scalar [1];
        field u: vector [m/s/];
        param nu: real = 1;
        let s = sym_traceless(grad(w));
        ddt(lnrho) = -dot(u, grad(lnrho)) - dvi(u);
        ddt(u) = 2nu*lap(u) + lnrho + curl(lnrho);
    }
}

fn main() {}
