use stencil_macros::pde;

pde! {
    system Law in 1d { conserved s: tensor; flux s -> s; }
}

fn main() {}
