//! Values and differences halfway between cells, along one axis.

use super::{Operator, Stencil};
use crate::catalogue::weights;

/// The value at the upper face of a cell.
pub const VALUE: Operator = Operator {
    name: "value at a face",
    source: "B. Fornberg, SIAM Rev. 40, 685 (1998), Table 2",
    times: &[0],
    stencil: |order, axes| halfway(axes[0], 0, order, 1),
};

/// The first derivative at the upper face of a cell.
pub const SLOPE: Operator = Operator {
    name: "slope at a face",
    source: "B. Fornberg, SIAM Rev. 40, 685 (1998), Table 2",
    times: &[1],
    stencil: |order, axes| halfway(axes[0], 1, order, 1),
};

/// The first derivative in a cell of a value at the upper faces of cells: its sum over cells telescopes to the ends.
pub const ACROSS: Operator = Operator {
    name: "difference across a cell",
    source: "B. Fornberg, SIAM Rev. 40, 685 (1998), Table 2",
    times: &[1],
    stencil: |order, axes| halfway(axes[0], 1, order, 0),
};

/// The value in a cell from values at the upper faces of cells.
pub const CENTRE: Operator = Operator {
    name: "value between faces",
    source: "B. Fornberg, SIAM Rev. 40, 685 (1998), Table 2",
    times: &[0],
    stencil: |order, axes| halfway(axes[0], 0, order, 0),
};

/// Weights at 2r offsets from `last` - r on along an axis, where r is half of the order, about the point halfway between them.
fn halfway(axis: usize, times: u32, order: u32, last: i32) -> Stencil {
    let radius = order as i32 / 2;
    let first = last - radius;
    let weights = weights::at_face(times, radius).into_iter().zip(first..);
    let place = |(weight, offset): (_, i32)| {
        let mut at = [0; 3];
        at[axis] = offset;
        (at, weight)
    };
    weights.map(place).collect()
}

#[cfg(test)]
mod tests {
    use num_rational::Ratio;

    use crate::expr::Rational;

    /// In half cells from the place of the result: a face lies one above its cell.
    #[test]
    fn halfway_operators_are_exact_up_to_their_order() {
        for order in [2, 4, 6, 8] {
            for (operator, shift) in super::super::halfway().into_iter().zip([-1, -1, 1, 1]) {
                let stencil = (operator.stencil)(order, &[1]);
                assert_eq!(stencil.len() as u32, order);
                let apply = |power: u32| -> Rational {
                    let term = |(at, weight): (&[i32; 3], &Rational)| {
                        Ratio::from(i128::from(2 * at[1] + shift).pow(power)) * weight
                    };
                    stencil.iter().map(term).sum()
                };
                for power in 0..order {
                    let exact = match operator.times {
                        [0] if power == 0 => 1,
                        [1] if power == 1 => 2,
                        _ => 0,
                    };
                    let name = operator.name;
                    assert_eq!(apply(power), Ratio::from(exact), "{name}, order {order}");
                }
            }
        }
    }
}
