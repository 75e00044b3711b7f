use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field temperature: scalar;
        param kappa: real = 1;
        ddt(temperature) = kapa * lap(temperature);
    }
}

fn main() {}
