use stencil_macros::pde;

pde! {
    system Law in 1d { field q: scalar; waves { sound: 1; } ddt(q) = -q; }
}

fn main() {}
