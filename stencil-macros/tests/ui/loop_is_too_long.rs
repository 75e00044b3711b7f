use stencil_macros::pde;

pde! {
    system Heat in 2d {
        field q: scalar;
        fn root(a: scalar) -> scalar {
            let mut r = a;
            for i in 0..100 { r = (r + a/r)/2; }
            r
        }
        ddt(q) = root(q);
    }
}

fn main() {}
