use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        fn slope(a: scalar) -> scalar { d[x](a) }
        ddt(q) = slope(q);
    }
}

fn main() {}
