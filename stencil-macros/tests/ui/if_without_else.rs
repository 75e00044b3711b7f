use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        ddt(q) = lap(q) + if q > 1 { 1 };
    }
}

fn main() {}
