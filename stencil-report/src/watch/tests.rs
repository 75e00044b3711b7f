//! Shots by their pictures.

use stencil_runtime::plot::{Color, ColorMap};

use super::*;

/// A shot of a plane of 32 × 16 cells of length 1, with a wave along x.
fn shot(is_periodic: bool) -> Shot {
    let line = |axis, cells| Line { axis, cells, first: 0.0, spacing: 1.0, is_periodic };
    let wave = |at: usize| (std::f64::consts::TAU * at as f64 / 8.0).sin();
    Shot {
        number: 1,
        view: View { field: "q".into(), normal: Axis::Z, at: 3 },
        step: 7,
        t: 0.25,
        unit: Some("m".into()),
        axes: [line(Axis::X, 32), line(Axis::Y, 16)],
        place: Some(0.5),
        is_curve: false,
        values: Array2::from_shape_fn((16, 32), |(_, x)| wave(x)),
        facts: OnceLock::new(),
    }
}

#[test]
fn a_shot_has_pictures_and_a_spectrum_where_axes_are_periodic() {
    let (shot, look) = (shot(true), Look::default());
    assert_eq!(shot.caption(), "t = 0.25, step 7, z = 0.5");
    assert_eq!(&shot.scene(look).unwrap().png()[1..4], b"PNG");
    assert!(shot.line(0, 15, look).unwrap().unwrap().svg().contains("y = 15"));
    assert!(shot.line(1, 31, look).unwrap().unwrap().svg().contains("x = 31"));
    assert!(shot.line(0, 16, look).is_none() && shot.line(2, 0, look).is_none());
    assert!(shot.spectrum().unwrap().is_ok());
    assert!(super::tests::shot(false).spectrum().is_none());
    let json = shot.json();
    assert_eq!((json["min"].as_f64(), json["max"].as_f64()), (Some(-1.0), Some(1.0)));
    assert!(json["mean"].as_f64().unwrap().abs() < 1e-12);
}

#[test]
fn values_that_are_not_finite_have_no_colour_and_no_spectrum() {
    let mut shot = shot(true);
    shot.values[[3, 4]] = f64::NAN;
    assert!(shot.spectrum().is_none());
    let at = Look { map: None, log: true }.places(&shot);
    assert_eq!((at(-1.0), at(f64::NAN), at(1.0)), (None, None, Some(1.0)));
    let mut shot = super::tests::shot(true);
    shot.values.fill(f64::NAN);
    assert!(shot.scene(Look::default()).is_ok() && shot.json()["max"].is_null());
}

#[test]
fn blocks_fit_a_terminal_and_keep_the_shape_of_the_plane() {
    let shot = shot(true);
    for (columns, lines) in [(80, 20), (20, 20), (1, 1), (200, 5)] {
        let drawn = shot.blocks((columns, lines), Look::default(), Colors::None);
        let width = drawn[0].chars().count();
        assert!(width <= columns && drawn.len() <= lines, "{columns} {lines}");
        if columns > 1 {
            // Two pixels in a character: 2 : 1 is four columns to a line.
            assert!(
                (width as f64 / drawn.len() as f64 - 4.0).abs() < 1.0,
                "{width} {}",
                drawn.len()
            );
        }
    }
    let drawn = shot.blocks((32, 8), Look { map: Some(ColorMap::Magma), log: false }, Colors::True);
    // Columns 2 and 6 of the wave are its crest and its trough.
    let of = |at: f64| ColorMap::Magma.at(at);
    let code = |Color(r, g, b): Color| format!("\x1b[38;2;{r};{g};{b};48;2;{r};{g};{b}m▀");
    assert!(drawn[0].contains(&code(of(1.0))) && drawn[0].contains(&code(of(0.0))));
    assert!(drawn.iter().all(|line| line.ends_with("\x1b[0m")));
    assert!(shot.blocks((32, 8), Look::default(), Colors::Indexed)[0].contains("38;5;"));
}

#[test]
fn colours_are_those_of_the_terminal() {
    let of = |colorterm, term| Colors::of(colorterm, term, false);
    assert_eq!(of(Some("truecolor"), Some("xterm")), Colors::True);
    assert_eq!(of(None, Some("tmux-256color")), Colors::Indexed);
    assert_eq!((of(None, Some("dumb")), of(None, None)), (Colors::None, Colors::None));
    assert_eq!(Colors::of(Some("truecolor"), Some("xterm"), true), Colors::None);
}

#[test]
fn a_long_series_is_thinned_and_keeps_both_ends() {
    let mut series = Series::new(["mass".to_string()]);
    for row in 0..100_000 {
        series.push(f64::from(row), [1.0]);
    }
    assert!((1024..=2049).contains(&series.len()), "{}", series.len());
    let svg = series.scene("mass").unwrap().unwrap().svg();
    assert!(svg.contains("mass") && series.scene("q").is_none());
}
