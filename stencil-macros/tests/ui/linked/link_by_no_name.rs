use stencil_macros::pde;

pde! {
    use limiters::minmod as;
    system Heat in 2d { field q: scalar; ddt(q) = limit(q, q); }
}

pde! {
    use limiters::*;
    system Heat in 2d { field q: scalar; ddt(q) = limit(q, q); }
}

pde! {
    use
}

fn main() {}
