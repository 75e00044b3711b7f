use stencil_macros::pde;

pde! {
    system Law in 1d {
        conserved h: scalar; conserved m: scalar; let u = m/h; flux h -> [m]; flux m -> [m*u];
        primitive { h; u; m = m; }
    }
}

fn main() {}
