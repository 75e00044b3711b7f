use stencil_macros::pde;

pde! {
    system Law in 1d { conserved q: scalar; flux q -> q^2/2; }
}

fn main() {}
