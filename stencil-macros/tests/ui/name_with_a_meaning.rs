use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field double: scalar;
        param dt: real = 1;
        ddt(double) = dt*lap(double);
    }
}

fn main() {}
