//! Cuts through boxes.

use ndarray::Array3;
use stencil_runtime::Axis;

use super::view::{Kind, View};
use super::*;

fn mesh(points: [usize; 3], dimension: usize) -> Mesh {
    Mesh { points, dimension, origin: [-1.0, 0.0, 10.0], spacing: [0.5, 1.0, 0.25] }
}

fn cut(text: &str) -> Cut {
    text.parse().unwrap()
}

/// 100 z + 10 y + x.
fn digits([nx, ny, nz]: [usize; 3]) -> Array3<f64> {
    Array3::from_shape_fn((nz, ny, nx), |(z, y, x)| (100 * z + 10 * y + x) as f64)
}

#[test]
fn planes_have_the_faster_axis_along_their_rows() {
    let points = [4, 3, 2];
    let values = digits(points);
    for (slice, axes, first_row) in [
        ("z=#1", [0, 1], vec![100.0, 101.0, 102.0, 103.0]),
        ("y=#2", [0, 2], vec![20.0, 21.0, 22.0, 23.0]),
        ("x=#3", [1, 2], vec![3.0, 13.0, 23.0]),
    ] {
        let view = View::new(mesh(points, 3), Some(cut(slice)), &[]).unwrap();
        assert_eq!(view.kind, Kind::Plane(axes));
        let plane = view.cut(&values);
        assert_eq!(plane.dim(), (points[axes[1]], points[axes[0]]));
        assert_eq!(plane.row(0).to_vec(), first_row, "{slice}");
    }
}

#[test]
fn lines_run_along_the_axis_that_is_left() {
    let points = [4, 3, 2];
    let lines = [cut("z=#1"), cut("x=#2")];
    let view = View::new(mesh(points, 3), None, &lines).unwrap();
    assert_eq!(view.kind, Kind::Line(1));
    assert_eq!(view.cut(&digits(points)).row(0).to_vec(), [102.0, 112.0, 122.0]);
    assert_eq!(view.places(), ["x = 0", "z = 10.25"]);
    assert_eq!(view.suffix(), "_x2_z1");

    let whole = View::new(mesh([5, 1, 1], 1), None, &[]).unwrap();
    assert_eq!(whole.kind, Kind::Line(0));
    assert_eq!(whole.suffix(), "");
}

#[test]
fn a_coordinate_means_the_nearest_point() {
    // Points at -1, -0.5, 0, 0.5; their cells reach from -1.25 to 0.75.
    for (text, expected) in [
        ("x=-1.25", "x = −1"),
        ("x=-0.8", "x = −1"),
        ("x=-0.7", "x = −0.5"),
        ("x=0.2", "x = 0"),
        ("x=0.75", "x = 0.5"),
    ] {
        let view = View::new(mesh([4, 3, 2], 3), Some(cut(text)), &[]).unwrap();
        assert_eq!(view.places(), [expected], "{text}");
    }
}

#[test]
fn the_middle_plane_is_the_usual_one() {
    let view = View::new(mesh([4, 4, 8], 3), None, &[]).unwrap();
    assert_eq!(view.kind, Kind::Plane([0, 1]));
    assert_eq!(view.places(), ["z = 11"]);
    assert_eq!(view.suffix(), "");
}

#[test]
fn three_planes_go_through_the_middle() {
    let views = View::slices(&mesh([4, 6, 8], 3), &[Axis::Z, Axis::Y, Axis::X]).unwrap();
    let kinds: Vec<Kind> = views.iter().map(|view| view.kind).collect();
    assert_eq!(kinds, [Kind::Plane([0, 1]), Kind::Plane([0, 2]), Kind::Plane([1, 2])]);
    let places: Vec<String> = views.iter().flat_map(View::places).collect();
    assert_eq!(places, ["z = 11", "y = 3", "x = 0"]);
    assert!(views.iter().all(|view| view.suffix().is_empty()));
}

#[test]
fn values_without_a_logarithm_are_refused_unless_a_range_leaves_them_out() {
    let fields = [single("q")];
    let values = [3.0, -2.0, 0.0, f64::NAN];
    let seen = |given, log| {
        let mut look = Look::new(given, log, None, 1);
        look.see_values(0, values.into_iter());
        look
    };
    let message = seen(None, true).check(&fields).unwrap_err().to_string();
    assert!(message.contains("`q` has the value −2, which has no logarithm"), "{message}");
    assert!(seen(Some((1.0, 2.0)), true).check(&fields).is_ok());
    assert!(seen(None, false).check(&fields).is_ok());
    assert_eq!(
        (seen(None, true).seen(0), seen(None, false).seen(0)),
        (Some((3.0, 3.0)), Some((-2.0, 3.0)))
    );
}

#[test]
fn cuts_that_do_not_fit_say_what_does() {
    let fail = |points, dimension, slice: Option<&str>, line: &[&str]| {
        let line: Vec<Cut> = line.iter().map(|t| cut(t)).collect();
        View::new(mesh(points, dimension), slice.map(cut), &line).unwrap_err().to_string()
    };
    let cube = [4, 3, 2];
    for (message, expected) in [
        (fail(cube, 3, Some("x=9"), &[]), "from −1.25 to 0.75"),
        (fail(cube, 3, Some("z=#2"), &[]), "from #0 to #1"),
        (fail([4, 3, 1], 2, Some("y=0"), &[]), "use --line"),
        (fail([4, 3, 1], 2, None, &["z=0"]), "no axis z; they have x, y"),
        (fail(cube, 3, None, &["z=10"]), "needs 2 places, as in --line y=0.5,z=#0"),
        (fail([4, 1, 1], 1, None, &["x=0"]), "leave --line out"),
        (fail(cube, 3, None, &["z=10", "z=#1"]), "two places along z"),
    ] {
        assert!(message.contains(expected), "{message}");
    }
    for text in ["w=1", "z", "z=", "z=#-1", "z=#1.5", "z=nan", "z=inf"] {
        assert!(text.parse::<Cut>().is_err(), "{text}");
    }
}

#[test]
fn numbers_of_captions_are_short() {
    assert_eq!([short(0.5), short(-1.0), short(0.0), short(1.5e-7)], ["0.5", "−1", "0", "1.5e−7"]);
}
