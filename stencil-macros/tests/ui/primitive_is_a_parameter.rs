use stencil_macros::pde;

pde! {
    system Law in 1d { conserved h: scalar; param a: real = 1; flux h -> [a*h]; primitive { a; h; } }
}

fn main() {}
