use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        fn scaled(a: scalar) -> scalar { a*q }
        ddt(q) = scaled(q);
    }
}

fn main() {}
