use stencil_macros::pde;

pde! {
    system Law in 1d { field q: scalar; primitive { q; } ddt(q) = -q; }
}

fn main() {}
