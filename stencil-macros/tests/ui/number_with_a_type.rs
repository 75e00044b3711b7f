use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        ddt(q) = 1.0f64*lap(q);
    }
}

fn main() {}
