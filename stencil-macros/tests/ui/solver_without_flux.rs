use stencil_macros::pde;

pde! {
    system Law in 1d { field q: scalar; riemann mine { q = below.q; } ddt(q) = -q; }
}

fn main() {}
