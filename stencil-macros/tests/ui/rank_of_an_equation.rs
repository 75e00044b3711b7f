use stencil_macros::pde;

pde! {
    system Flow in 3d {
        field u: vector;
        ddt(u) = -grad(u);
    }
}

fn main() {}
