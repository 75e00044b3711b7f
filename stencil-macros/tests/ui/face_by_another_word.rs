use stencil_macros::pde;

pde! {
    system Law in 1d {
        conserved h: scalar; field bed: scalar; let surface = h + bed; flux h -> [h]; ddt(bed) = 0;
        primitive { surface; h = surface - bed; } face { bed by maximum; }
    }
}

fn main() {}
