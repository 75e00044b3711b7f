use stencil_macros::pde;

pde! {
    system Law in 1d { conserved q: scalar; flux q -> [q]; }
    scheme some for Law { riemann: hllc; reconstruct: constant; time: euler; }
}

fn main() {}
