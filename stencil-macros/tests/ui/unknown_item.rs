use stencil_macros::pde;

pde! {
    system Heat in 2d {
        feild q: scalar;
        field p: scalar;
        ddt(p) = lap(p);
    }
}

fn main() {}
