use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        param q: real = 1;
        ddt(q) = lap(q);
    }
}

fn main() {}
