use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        field p: scalar;
        ddt(q) = lap(p);
    }
}

fn main() {}
