use stencil_macros::pde;

pde! {
    system Flow in 2d {
        field u: vector;
        ddt(u) = curl(u);
    }
}

fn main() {}
