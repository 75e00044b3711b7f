use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        ddt(q) = lap(q);
    }
    scheme central6 for Heet { space: central<order = 6>; }
}

fn main() {}
