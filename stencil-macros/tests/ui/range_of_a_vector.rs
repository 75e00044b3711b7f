use stencil_macros::pde;

pde! {
    system Law in 1d { conserved u: vector where u >= 0; flux u -> outer(u, u); }
}

fn main() {}
