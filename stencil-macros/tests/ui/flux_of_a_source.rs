use stencil_macros::pde;

pde! {
    system Law in 1d { conserved q: scalar; source w: vector; flux q -> q*w; }
}

fn main() {}
