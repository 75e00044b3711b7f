use stencil_macros::pde;

pde! {
    system Law in 1d {
        conserved q: scalar; param above: real = 1; flux q -> [above*q];
        riemann mine { q = below.q; }
    }
}

fn main() {}
