use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        param k: real = 1;
        ddt(q) = k*lap(q);
        ddt(k) = 0;
    }
}

fn main() {}
