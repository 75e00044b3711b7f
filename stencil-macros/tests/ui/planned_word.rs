use stencil_macros::pde;

pde! {
    system ShallowWater in 2d {
        state h: scalar;
        field q: scalar;
        ddt(q) = lap(q);
    }
}

fn main() {}
