use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scaler;
        ddt(q) = lap(q);
    }
}

fn main() {}
