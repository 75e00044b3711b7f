//! Values of a sampler have the bits of the formula, and few operations are left in each cell.

use super::*;

const NAMES: [&str; 5] = ["k", "x", "y", "z", "t"];
const K: f64 = 2.5;

fn mesh(cells: [usize; 3]) -> Mesh {
    Mesh { cells, extent: [2.0, 3.0, 1.5], origin: [-1.0, 0.3, 0.0], centered: true }
}

#[test]
fn values_have_the_bits_of_the_formula() {
    let texts = [
        "sin(30*t)",
        "k",
        "t",
        "x",
        "z*y",
        "sin(30*t)*exp(-x^2)",
        "cos(t)*exp(-(x^2 + y^2 + z^2)) + sin(k*x - t)",
        "exp(-(x^2 + y^2))*exp(-(y^2 + z^2)) - t",
        "if x < 0.1 { sin(k*y*z) } else { t*log(2 + x*y) }",
        "mod(x - t, 0.3) + floor(10*y*t) + erf(z)*0",
        "1/(x - x) + t",
        "(x + t)*(y + t)*(z + t)",
    ];
    for text in texts {
        let formula = Formula::parse(text, &NAMES).unwrap();
        for cells in [[7, 1, 1], [6, 5, 1], [4, 3, 5], [1, 3, 2]] {
            let mesh = mesh(cells);
            let mut sampler = Sampler::new(&formula, &[K], &mesh);
            for t in [0.0, 0.7, 0.7, -1.25] {
                sampler.renew(t);
                for at in 0..cells.iter().product() {
                    let [nx, ny, _] = cells;
                    let cell = [at % nx, at / nx % ny, at / nx / ny];
                    let [x, y, z] = mesh.point(cell.map(|i| i as isize));
                    let (found, expected) = (sampler.at(cell), formula.eval(&[K, x, y, z, t]));
                    let same = found.to_bits() == expected.to_bits()
                        || found.is_nan() && expected.is_nan();
                    assert!(same, "{text} at {cell:?}, {t}: {found} {expected}");
                }
            }
        }
    }
}

#[test]
fn what_is_found_apart_is_not_done_in_each_cell() {
    let left = |text: &str, cells: [usize; 3]| {
        let formula = Formula::parse(text, &NAMES).unwrap();
        let sampler = Sampler::new(&formula, &[K], &mesh(cells));
        [sampler.tables.len(), sampler.kept.len(), sampler.rest.steps.len()]
    };
    let plane = [32, 32, 1];
    assert_eq!(left("sin(30*t)", plane), [0, 0, 0]);
    assert_eq!(left("sin(30*t)*exp(-x^2)", plane), [2, 0, 0]);
    assert_eq!(left("sin(30*t)*exp(-(x^2 + y^2))", plane), [2, 1, 1]);
    assert_eq!(left("sin(30*t)*exp(-x^2)", [32, 1, 1]), [0, 1, 1]);
    assert_eq!(left("sin(k*x - t)*cos(y)", plane), [3, 0, 1]);
    // An axis of one cell is no axis.
    assert_eq!(left("sin(k*z)*x", plane), [1, 0, 0]);
    // A large mesh keeps nothing, and fills no table that is almost as large.
    assert_eq!(left("t*exp(x*y)", [1 << 13, 1 << 12, 1]), [0, 0, 3]);
    assert_eq!(left("t*z*exp(x*y)", [1 << 7, 1 << 7, 2]), [1, 0, 3]);
}
