use stencil_macros::pde;

pde! {
    system Flow in 2d {
        field u: vector;
        fn twice(a: scalar) -> scalar { 2*a }
        ddt(u) = twice(u)*u;
    }
}

fn main() {}
