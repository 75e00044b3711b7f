use stencil_macros::pde;

pde! {
    system Growth in 1d {
        field q: scalar;
        param n: real = 1.5;
        ddt(q) = q^n;
    }
}

fn main() {}
