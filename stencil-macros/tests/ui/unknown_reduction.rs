use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        ddt(q) = lap(q);
        observe total = average(q);
        observe range = max(q) - min(q);
    }
}

fn main() {}
