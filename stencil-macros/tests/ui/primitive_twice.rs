use stencil_macros::pde;

pde! {
    system Law in 1d { conserved h: scalar; flux h -> [h]; primitive { h; h; } }
}

fn main() {}
