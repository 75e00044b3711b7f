use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        param k: real = 1;
        ddt(q) = 2k*lap(q);
    }
}

fn main() {}
