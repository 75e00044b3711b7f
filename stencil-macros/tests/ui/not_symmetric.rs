use stencil_macros::pde;

pde! {
    system Stress in 2d {
        field u: vector;
        field s: symmetric;
        ddt(u) = div(s);
        ddt(s) = grad(u);
    }
}

fn main() {}
