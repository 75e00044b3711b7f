use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        param k: real = -1 where k >= 0;
        ddt(q) = k*lap(q);
    }
}

fn main() {}
