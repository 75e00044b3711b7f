use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        let k = 2*q
        ddt(q) = lap(k);
    }
}

fn main() {}
