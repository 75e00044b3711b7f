use stencil_macros::pde;

pde! {
    system Law in 1d {
        field f: scalar where f >= 0; conserved q: scalar; flux q -> [q*f]; ddt(f) = -f;
    }
}

fn main() {}
