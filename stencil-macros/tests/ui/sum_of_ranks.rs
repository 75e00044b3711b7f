use stencil_macros::pde;

pde! {
    system Flow in 3d {
        field rho: scalar;
        field u: vector;
        ddt(rho) = -div(rho*u);
        ddt(u) = -grad(rho)
               + rho;
    }
}

fn main() {}
