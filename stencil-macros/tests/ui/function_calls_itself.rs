use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        fn root(a: scalar) -> scalar { root(a - 1) }
        ddt(q) = root(q);
    }
}

fn main() {}
