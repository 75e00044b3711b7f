use stencil_macros::pde;

pde! {
    system Flow in nd {
        field u: vector;
        ddt(u) = curl(u);
    }
}

fn main() {}
