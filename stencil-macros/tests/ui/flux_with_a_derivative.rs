use stencil_macros::pde;

pde! {
    system Law in 1d { conserved q: scalar; param k: real = 1; flux q -> -k*grad(q); }
}

fn main() {}
