use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        ddt(q) = if q { lap(q) } else { 0 };
    }
}

fn main() {}
