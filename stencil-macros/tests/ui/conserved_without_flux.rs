use stencil_macros::pde;

pde! {
    system Law in 1d { conserved q: scalar; ddt(q) = -q; }
}

fn main() {}
