use stencil_macros::pointwise;

#[pointwise]
fn later(a: scalar) -> scalar {
    a*t
}

#[pointwise]
fn doubled(a: f64) -> scalar {
    2*a
}

#[pointwise]
fn mixed(a: scalar, u: vector) -> scalar {
    a + u
}

fn main() {}
