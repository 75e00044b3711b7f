use stencil_macros::pde;

pde! {
    system Flow in 2d {
        field u: vector;
        ddt(u) = if norm(u) > 1 { u } else { 0 };
    }
}

fn main() {}
