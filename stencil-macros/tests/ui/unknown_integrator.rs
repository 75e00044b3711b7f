use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        ddt(q) = lap(q);
    }
    scheme central6 for Heat { space: central<order = 6>; time: rk4x; spacing: 1; }
}

fn main() {}
