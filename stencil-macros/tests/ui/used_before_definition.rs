use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        let a = 2*b;
        let b = q;
        ddt(q) = lap(a);
    }
}

fn main() {}
