use stencil_macros::pde;

pde! {
    system Law in 1d { field q: scalar; ddt(q) = lap(q); }
    scheme some for Law { riemann: hll; time: euler; }
}

fn main() {}
