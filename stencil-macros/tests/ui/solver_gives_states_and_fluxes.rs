use stencil_macros::pde;

pde! {
    system Law in 1d {
        conserved h: scalar; conserved m: scalar; flux h -> [m]; flux m -> [h];
        riemann mine { h = below.h; flux m -> above.m; }
    }
}

fn main() {}
