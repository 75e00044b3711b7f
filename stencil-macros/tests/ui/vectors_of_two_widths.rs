use stencil_macros::pde;

pde! {
    system Magnetic in 1d {
        field u: vector;
        field b: vector<3>;
        ddt(u) = -u;
        ddt(b) = curl(b);
    }
}

fn main() {}
