use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        fn inverse(a: scalar) -> scalar { 1/a }
        ddt(q) = inverse(q)*inverse(0);
    }
}

fn main() {}
