use stencil_macros::pde;

pde! {
    system Burgers in 2d {
        field u: vector;
        ddt(u) = -u*(u·u);
    }
}

fn main() {}
