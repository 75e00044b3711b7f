use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        ddt(q) = laplace(q) + dvi(grad(q));
    }
}

fn main() {}
