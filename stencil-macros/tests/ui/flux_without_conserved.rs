use stencil_macros::pde;

pde! {
    system Law in 1d { field q: scalar; flux q -> [q]; }
}

fn main() {}
