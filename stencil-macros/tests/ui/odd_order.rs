use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        ddt(q) = lap(q);
    }
    scheme central5 for Heat { space: central<order = 5>; mixed: composd; }
}

fn main() {}
