//! Bodies whose pictures are known.

use ndarray::Array3;

use super::camera::{Sight, dot};
use super::cast::{self, Content};
use super::grid::Grid;
use super::*;

const UNIT: [(f64, f64); 3] = [(0.0, 1.0); 3];

/// The distance from a point of the unit box.
fn distance(n: usize, [cx, cy, cz]: [f64; 3]) -> Array3<f64> {
    let at = |i: usize, c: f64| ((i as f64 + 0.5) / n as f64 - c).powi(2);
    Array3::from_shape_fn((n, n, n), |(z, y, x)| (at(x, cx) + at(y, cy) + at(z, cz)).sqrt())
}

/// The share of cover of each pixel, and the pixels to a side of the box.
fn covers(volume: &Volume<'_>) -> (Vec<f32>, (usize, usize), f64) {
    let sight = Sight::new(volume.camera, volume.extent, volume.side);
    let range = volume.color_range().0;
    let grid = Grid::new(volume, range, sight.sides);
    let content = match volume.rendering {
        Rendering::Cloud => Content::Cloud(volume.map),
        Rendering::Surfaces(_) => {
            let surfaces = volume.surfaces_in(range);
            Content::Surfaces(surfaces.into_iter().map(|(at, color, _)| (at, color)).collect())
        }
    };
    let (w, h) = sight.size();
    let size = (w.ceil() as usize, h.ceil() as usize);
    let lights = cast::cast(&grid, &sight, &content, size);
    (lights.iter().map(|light| light[3]).collect(), size, sight.scale)
}

#[test]
fn a_sphere_is_a_disc_from_all_sides() {
    let field = distance(24, [0.5; 3]);
    for camera in [
        Camera::default(),
        Camera { azimuth: 0.0, elevation: 0.0 },
        Camera { azimuth: 200.0, elevation: -50.0 },
        Camera { azimuth: 10.0, elevation: 90.0 },
    ] {
        let volume = Volume::new(field.view(), UNIT).surfaces([0.4]).camera(camera).side(160);
        let (covers, _, scale) = covers(&volume);
        let area = f64::from(covers.iter().sum::<f32>());
        let expected = std::f64::consts::PI * (0.4 * scale).powi(2);
        assert!((area / expected - 1.0).abs() < 0.01, "{camera:?}: {area} {expected}");
    }
}

#[test]
fn things_are_at_their_places() {
    // A small ball at high x and z, seen along y: to the right and above.
    let field = distance(24, [0.8, 0.3, 0.7]);
    let camera = Camera { azimuth: -90.0, elevation: 0.0 };
    let volume = Volume::new(field.view(), UNIT).surfaces([0.1]).camera(camera).side(100);
    let (covers, (w, h), _) = covers(&volume);
    let (mut x, mut y, mut sum) = (0.0, 0.0, 0.0);
    for (i, cover) in covers.iter().enumerate() {
        let cover = f64::from(*cover);
        x += cover * ((i % w) as f64 + 0.5) / w as f64;
        y += cover * (1.0 - ((i / w) as f64 + 0.5) / h as f64);
        sum += cover;
    }
    let (x, y) = (x / sum, y / sum);
    assert!((x - 0.8).abs() < 0.01 && (y - 0.7).abs() < 0.01, "{x} {y}");
}

#[test]
fn a_cloud_takes_the_light_that_its_depth_says() {
    // One value, the highest of the range: cover is 1 - exp(-depth), here of half a side.
    let field = Array3::from_elem((4, 4, 8), 1.0);
    let camera = Camera { azimuth: -90.0, elevation: 0.0 };
    let extent = [(0.0, 1.0), (0.0, 0.05), (0.0, 0.5)];
    let volume = Volume::new(field.view(), extent).range(0.0, 1.0).camera(camera).side(40);
    let (covers, (w, h), _) = covers(&volume);
    let expected = 1.0 - (-16.0_f32 * 0.05).exp();
    let middle = covers[(h / 2) * w + w / 2];
    assert!((middle - expected).abs() < 1e-3, "{middle} {expected}");
    // The lowest value is clear.
    let volume = volume.range(1.0, 2.0);
    assert!(covers_of(&volume).iter().all(|cover| *cover == 0.0));
}

fn covers_of(volume: &Volume<'_>) -> Vec<f32> {
    covers(volume).0
}

#[test]
fn surfaces_in_front_let_those_behind_through() {
    let field = distance(16, [0.5; 3]);
    let volume = Volume::new(field.view(), UNIT).surfaces([0.45, 0.2]).side(80);
    let (covers, (w, h), _) = covers(&volume);
    let middle = covers[(h / 2) * w + w / 2];
    assert!((middle - 1.0).abs() < 1e-6, "the inner ball is opaque: {middle}");
    let thin = covers.iter().filter(|c| (0.2..0.9).contains(*c)).count();
    assert!(thin > covers.len() / 10, "the outer ball is not");
}

#[test]
fn empty_cells_have_no_surface_and_no_cloud() {
    let mut field = distance(12, [0.5; 3]);
    let whole = Volume::new(field.view(), UNIT).surfaces([0.4]).side(60);
    let full: f32 = covers_of(&whole).iter().sum();
    field.slice_mut(ndarray::s![.., .., ..6]).fill(f64::NAN);
    let camera = Camera { azimuth: -90.0, elevation: 0.0 };
    let half = Volume::new(field.view(), UNIT).surfaces([0.4]).camera(camera).side(60);
    let (some, (w, _), _) = covers(&half);
    let sum: f32 = some.iter().sum();
    assert!(sum > 0.0 && sum < full, "{sum} {full}");
    let left = some.iter().enumerate().filter(|(i, _)| i % w < w / 2 - 1);
    assert!(left.clone().count() > 0 && left.into_iter().all(|(_, c)| *c == 0.0));
    field.fill(f64::INFINITY);
    let none = Volume::new(field.view(), UNIT).side(60);
    assert!(covers_of(&none).iter().all(|cover| *cover == 0.0));
    none.scene().unwrap();
}

#[test]
fn pictures_are_right_handed_and_of_the_size_asked_for() {
    for camera in [Camera::default(), Camera { azimuth: 77.0, elevation: -33.0 }] {
        let sight = Sight::new(camera, [(0.0, 1.0), (0.0, 2.0), (0.0, 0.5)], 300);
        let (w, h) = sight.size();
        assert!((w.max(h) - 300.0).abs() < 1e-9);
        let [a, b, c] = [sight.right, sight.up, sight.toward];
        let cross =
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
        assert!((dot(cross, c) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn boxes_and_values_that_cannot_be_drawn_say_why() {
    let field = distance(4, [0.5; 3]);
    let volume = Volume::new(field.view(), UNIT).title("rho").side(40);
    let fail = |volume: Volume<'_>| volume.scene().unwrap_err().to_string();
    let flat = Volume { extent: [(0.0, 1.0), (1.0, 1.0), (0.0, 1.0)], ..volume.clone() };
    let camera = Camera { azimuth: 0.0, elevation: 91.0 };
    let empty = Array3::zeros((0, 1, 1));
    for (message, expected) in [
        (fail(flat), "volume `rho`: the extent"),
        (fail(volume.clone().surfaces([f64::NAN])), "a surface has the value NaN"),
        (fail(volume.clone().surfaces([])), "none is given"),
        (fail(volume.clone().log().surfaces([0.0])), "no surface of 0 is on a logarithmic scale"),
        (fail(volume.clone().side(2)), "choose 16 to 4096"),
        (fail(volume.clone().camera(camera)), "the view 0,91"),
        (fail(volume.clone().range(1.0, 0.0)), "the colour range (1, 0)"),
        (fail(Volume::new(empty.view(), UNIT)), "it has no cells"),
    ] {
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn labels_stay_inside_the_picture() {
    let field = distance(4, [0.5; 3]);
    for azimuth in [-60.0, 45.0, 180.0] {
        for elevation in [-90.0, -30.0, 0.0, 25.0, 90.0] {
            let extent = [(-1000.0, 1000.0), (0.0, 2000.0), (5.0, 1500.0)];
            let volume = Volume::new(field.view(), extent)
                .camera(Camera { azimuth, elevation })
                .surfaces([0.3])
                .label("q")
                .side(200);
            let scene = volume.scene().unwrap();
            let (w, h) = scene.size();
            for (text, [x, y, tw, th]) in scene.texts() {
                let inside = x >= 0.0 && y >= 0.0 && x + tw <= w && y + th <= h;
                assert!(inside, "{azimuth} {elevation}: {text} at {x}, {y}");
            }
        }
    }
}
