use stencil_macros::pde;

pde! {
    system Heat in 4d {
        field q: scalar;
        ddt(q) = lap(q);
    }
}

fn main() {}
