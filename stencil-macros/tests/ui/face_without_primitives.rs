use stencil_macros::pde;

pde! {
    system Law in 1d {
        conserved h: scalar; field bed: scalar; flux h -> [h*bed]; ddt(bed) = 0;
        face { bed by max; }
    }
}

fn main() {}
