//! Drawings in all forms.

use super::*;
use crate::plot::text::Piece;
use crate::plot::{ColorMap, Heatmap, LinePlot, Panels, Volume};

const RED: Color = Color(255, 0, 0);

fn drawing() -> Scene {
    let mut scene = Scene::new(80.0, 60.0);
    scene.rect([10.0, 10.0, 20.0, 20.0], Some(RED), Some(Stroke::new(Color::INK, 2.0)));
    scene.circle((60.0, 20.0), 8.0, Some(RED), None);
    scene.circle((60.0, 45.0), 8.0, None, Some(Stroke::new(RED, 3.0)));
    scene.line(&[(0.0, 55.0), (80.0, 55.0)], Stroke::new(Color::INK, 2.0));
    scene.text((2.0, 45.0), "a<b & \"c\"", Lettering::new(7.0));
    scene
}

#[test]
fn both_forms_have_the_same_shapes() {
    let canvas = drawing().canvas();
    assert_eq!((canvas.get(20, 20), canvas.get(60, 20)), (RED, RED));
    assert_eq!(canvas.get(10, 20), Color::INK);
    // A ring is open inside.
    assert_eq!((canvas.get(60, 45), canvas.get(67, 45)), (Color::WHITE, RED));
    assert_eq!(canvas.get(40, 55), Color::INK);
    let svg = drawing().svg();
    for (tag, count) in [("<polygon", 1), ("<circle", 2), ("<polyline", 1), ("<text", 1)] {
        assert_eq!(svg.matches(tag).count(), count, "{tag}\n{svg}");
    }
    assert!(svg.contains("a&lt;b &amp; &quot;c&quot;") && svg.contains("#ff0000"));
}

#[test]
fn polygons_are_filled_to_their_edges() {
    let mut scene = Scene::new(40.0, 40.0);
    let triangle = [(5.0, 35.0), (35.0, 35.0), (20.0, 5.0)];
    scene.polygon(&triangle, Some(RED), None);
    let nowhere = [(f32::NAN, 1.0), (3.0, f32::INFINITY), (1e9, -1e9)];
    scene.polygon(&nowhere, Some(RED), None);
    let canvas = scene.canvas();
    assert_eq!((canvas.get(20, 20), canvas.get(20, 34)), (RED, RED));
    assert_eq!((canvas.get(8, 10), canvas.get(20, 36)), (Color::WHITE, Color::WHITE));
    // The edge is smooth.
    let mixed = (0..40).map(|x| canvas.get(x, 20)).filter(|c| *c != RED && *c != Color::WHITE);
    assert!(mixed.count() >= 2);
}

#[test]
fn texts_tell_where_they_are() {
    let mut scene = Scene::new(100.0, 100.0);
    let letters = Lettering { anchor: Anchor::Middle, ..Lettering::new(20.0) };
    scene.text((50.0, 50.0), "word", letters);
    let [x, y, w, h] = scene.texts()[0].1;
    assert!((x + w / 2.0 - 50.0).abs() < 0.01 && (y + h / 2.0 - 50.0).abs() < 0.01);
    assert!(w > 30.0 && w < 70.0, "{w}");
}

#[test]
fn both_files_are_written_and_a_wrong_folder_is_named() {
    let stem = std::env::temp_dir().join(format!("scene-{}.x", std::process::id()));
    let files = drawing().save(&stem).unwrap();
    for file in &files {
        assert!(std::fs::metadata(file).unwrap().len() > 100);
        std::fs::remove_file(file).unwrap();
    }
    let error = drawing().save("/nowhere/at/all").unwrap_err().to_string();
    assert!(error.contains("/nowhere/at/all.svg"), "{error}");
}

#[test]
fn a_file_is_what_its_ending_says() {
    let folder = std::env::temp_dir().join(format!("endings-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (ending, begin) in
        [("png", &b"\x89PNG"[..]), ("svg", b"<svg "), ("pdf", b"%PDF-"), ("PDF", b"%PDF-")]
    {
        let file = folder.join(format!("a.{ending}"));
        drawing().save_as(&file).unwrap();
        assert!(std::fs::read(&file).unwrap().starts_with(begin), "{ending}");
    }
    for wrong in ["a.gif", "a", "a.", ".png"] {
        let file = folder.join(wrong);
        let error = drawing().save_as(&file).unwrap_err();
        assert!(matches!(error, PlotError::Ending { .. }), "{error}");
        assert!(!file.exists(), "{wrong}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The instructions of a page.
fn instructions(pdf: &[u8]) -> String {
    let after = |bytes: &[u8], word: &[u8]| {
        let at = bytes.windows(word.len()).rposition(|part| part == word);
        at.unwrap() + word.len()
    };
    // The page's stream is the last one.
    let begin = after(pdf, b"\nstream\n");
    let mut text = String::new();
    let mut decoder = flate2::read::ZlibDecoder::new(&pdf[begin..]);
    std::io::Read::read_to_string(&mut decoder, &mut text).unwrap();
    text
}

#[test]
fn a_page_has_the_shapes_of_the_drawing() {
    let mut scene = drawing();
    let area = Rect { x: 2, y: 3, w: 4, h: 2 };
    scene.image(area, vec![RED; 8]);
    scene.veil(area, Color::WHITE, 0.5);
    scene.polyline(&[(-1e9, 30.0), (1e9, 30.0)], Stroke::new(RED, 1.0), area);
    let pdf = pdf::print(&scene);
    let text = instructions(&pdf);
    let count = |operator: &str| text.lines().filter(|line| line.ends_with(operator)).count();
    // The rectangle's outline, a ring and two lines.
    assert_eq!(count("S"), 4, "{text}");
    // The paper, a disc, all letters at once, and the veil; the rectangle by the rule of even and odd.
    assert_eq!((count("f"), count("f*")), (4, 1), "{text}");
    assert_eq!((count("Do"), count("gs"), count("W")), (1, 1, 1), "{text}");
    // Numbers have a form that any reader takes.
    let numbers = text.split_whitespace().filter_map(|word| word.parse::<f32>().ok());
    assert!(numbers.into_iter().all(|number| number.abs() < 1000.0));
    let whole = String::from_utf8_lossy(&pdf);
    assert!(whole.contains("/MediaBox [0 0 40 30]"), "{whole}");
}

#[test]
fn letters_of_a_page_are_where_those_of_pixels_are() {
    let fonts = Fonts::new();
    let style = Style::new(20.0, Weight::Bold, RED);
    for (align, [left, right]) in
        [(Align::Left, [0.0, 1.0]), (Align::Center, [-0.5, 0.5]), (Align::Right, [-1.0, 0.0])]
    {
        let width = fonts.width("HxH", style);
        let points = fonts.outlines("HxH", align, style).into_iter().map(|piece| match piece {
            Piece::Start(at) | Piece::Line(at) | Piece::Quad(_, at) | Piece::Cubic(_, _, at) => at,
        });
        let points: Vec<Point> = points.collect();
        let (xs, ys) = (points.iter().map(|p| p.0), points.iter().map(|p| p.1));
        let least = |values: &mut dyn Iterator<Item = f32>| values.fold(f32::INFINITY, f32::min);
        let most = |values: &mut dyn Iterator<Item = f32>| values.fold(f32::NEG_INFINITY, f32::max);
        assert!((least(&mut xs.clone()) - left * width).abs() < 3.0);
        assert!((most(&mut xs.clone()) - right * width).abs() < 3.0);
        // Capitals are 0.729 em high and stand on the baseline.
        assert!((least(&mut ys.clone()) + 0.729 * 20.0).abs() < 0.1);
        assert!(most(&mut ys.clone()).abs() < 0.1);
    }
}

#[test]
fn every_kind_of_picture_is_well_formed_as_svg() {
    let (plane, cube) = (ndarray::Array2::eye(4), ndarray::Array3::ones((4, 4, 4)));
    let title = "a<b & \"c\"";
    let unit = [(0.0, 1.0); 3];
    let map = Heatmap::new(plane.view(), [0.0, 1.0, 0.0, 1.0]).map(ColorMap::Cyclic).free();
    let line = LinePlot::new().series("q", &[1.0, 2.0], &[1.0, 1e3], crate::plot::Style::Line);
    let volume = Volume::new(cube.view(), unit).side(32).title(title);
    let scenes = [
        (Panels::new([map]).title(title).scene().unwrap(), 2),
        (line.log_y().title(title).scene().unwrap(), 0),
        (volume.clone().scene().unwrap(), 2),
        (volume.surfaces([0.5]).scene().unwrap(), 1),
    ];
    for (scene, images) in scenes {
        let svg = scene.svg();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let all = || document.root_element().descendants();
        assert_eq!(
            all().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "image"))).count(),
            images
        );
        assert!(all().any(|node| node.text() == Some(title)), "{svg}");
    }
}
