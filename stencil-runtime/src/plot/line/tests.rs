//! Places of curves, ticks and legends.

use super::*;
use crate::plot::canvas::Canvas;

fn drawn(plot: &LinePlot) -> (Canvas, Rect) {
    let (scene, place) = plot.draw().unwrap();
    (scene.canvas(), place)
}

#[test]
fn a_line_passes_through_its_points() {
    let plot = LinePlot::new().series("", &[0.0, 1.0], &[0.0, 1.0], Style::Line);
    let (c, r) = drawn(&plot.y_range(0.0, 1.0));
    assert_eq!(c.get(r.x + r.w / 2, r.y + r.h / 2), Color::PALETTE[0]);
    assert_eq!(c.get(r.x + r.w / 4, r.bottom() - r.h / 4), Color::PALETTE[0]);
    assert_ne!(c.get(r.x + r.w / 4, r.y + r.h / 4), Color::PALETTE[0]);
    assert_eq!(c.get(r.x - 1, r.y + 100), Color::INK);
}

#[test]
fn fourth_order_has_slope_four_on_logarithmic_axes() {
    let h = [1.0, 0.1, 0.01];
    let plot = LinePlot::new().log_x().log_y().x_range(0.01, 1.0).y_range(1e-8, 1.0).series(
        "",
        &h,
        &h.map(|h: f64| h.powi(4)),
        Style::Points,
    );
    let (c, r) = drawn(&plot);
    assert_eq!(c.get(r.x + r.w / 2, r.y + r.h / 2), Color::PALETTE[0]);
    assert_eq!(c.get(r.x + 1, r.bottom() - 1), Color::PALETTE[0]);
    assert_eq!(c.get(r.right() - 1, r.y + 1), Color::PALETTE[0]);
}

#[test]
fn the_legend_keeps_clear_of_curves() {
    let xs: Vec<f64> = (0..100).map(f64::from).collect();
    let rising: Vec<f64> = xs.iter().map(|x| x * x).collect();
    let falling: Vec<f64> = xs.iter().map(|x| -x * x).collect();
    let fonts = Fonts::new();
    let rect = Rect { x: 0, y: 0, w: PLOT.0, h: PLOT.1 };
    for (ys, top) in [(&rising, true), (&falling, false)] {
        let plot = LinePlot::new().series("a", &xs, ys, Style::Line);
        let (x, y, _) = plot.axes(&fonts);
        let run = &plot.runs(&plot.series[0], &x, &y, rect)[0];
        let mut seen = Vec::new();
        trace(run, Style::Line, &mut seen);
        let place = Legend::new(vec!["a"], &fonts).place(rect, &seen);
        assert!(place.x < rect.w / 2 || !top, "{place:?}");
        assert!(!seen.iter().any(|p| {
            p.0 > place.x as f32
                && p.0 < place.right() as f32
                && p.1 > place.y as f32
                && p.1 < place.bottom() as f32
        }));
    }
}

#[test]
fn a_legend_without_a_free_corner_is_beside_the_plot() {
    let plot = LinePlot::new().y_range(0.0, 10.0);
    let high = ("a", [9.0, 9.0]);
    let add = |plot: LinePlot, (name, ys): (&str, [f64; 2])| {
        plot.series(name, &[0.0, 1.0], &ys, Style::Line)
    };
    let width = |plot: &LinePlot| drawn(plot).0.bounds().w;
    let free = add(plot, high);
    let full = add(free.clone(), ("b", [1.0, 1.0]));
    assert!(width(&full) > width(&free) + 50);
}

#[test]
fn ticks_are_where_they_are_asked_for() {
    let plot = LinePlot::new().log_x().x_ticks([32.0, 64.0, 64.5, -1.0]);
    let plot = plot.series("", &[32.0, 64.0], &[1.0, 2.0], Style::Line);
    let ticks = plot.axes(&Fonts::new()).0.ticks;
    let labels: Vec<&str> = ticks.iter().map(|t| &t.label[..]).collect();
    assert_eq!(labels, ["32", "64"]);
    assert_eq!(ticks[1].value, 64.0_f64.log10());
}

#[test]
fn odd_data_do_not_panic() {
    let cases: [&[f64]; 6] =
        [&[], &[1.0], &[f64::NAN; 3], &[2.0, 2.0], &[f64::MAX, -f64::MAX], &[-1.0, 0.0]];
    for ys in cases {
        let xs: Vec<f64> = (0..ys.len()).map(|i| i as f64).collect();
        for style in
            [Style::Line, Style::Dashed, Style::Points, Style::LinePoints, Style::LineRings]
        {
            let plot = LinePlot::new().series("a", &xs, ys, style);
            let plot = plot.x_ticks(ys.iter().copied());
            plot.clone().draw().unwrap();
            plot.log_x().log_y().x_range(-1.0, f64::NAN).draw().unwrap();
        }
    }
}

#[test]
fn gaps_split_a_curve() {
    let plot = LinePlot::new().series(
        "",
        &[0.0, 1.0, 2.0, 3.0, 4.0],
        &[1.0, 2.0, f64::NAN, 1.0, 2.0],
        Style::Line,
    );
    let (x, y, _) = plot.axes(&Fonts::new());
    let runs = plot.runs(&plot.series[0], &x, &y, Rect { x: 0, y: 0, w: 9, h: 9 });
    assert_eq!(runs.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn unequal_lengths_are_an_error() {
    let plot = LinePlot::new().series("p", &[1.0], &[1.0, 2.0], Style::Line);
    let message = plot.save("/tmp/never.png").unwrap_err().to_string();
    assert_eq!(message, "curve `p` has 1 x values and 2 y values");
}
