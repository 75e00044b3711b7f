use stencil_macros::pde;

pde! {
    system Law in 1d { conserved h: scalar; flux h -> [h]; waves { density: h; } }
}

fn main() {}
