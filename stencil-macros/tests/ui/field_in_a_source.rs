use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        source heating: scalar = q*sin(x);
        ddt(q) = lap(q) + heating;
    }
}

fn main() {}
