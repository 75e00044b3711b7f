use stencil_macros::pde;

pde! {
    system Law in 1d { conserved q: scalar; flux q -> [q]; riemann hll { q = below.q; } }
}

fn main() {}
