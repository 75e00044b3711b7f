//! Films read back by decoders.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use super::*;
use crate::plot::Stroke;

/// A dot that moves to the right; of the last two pictures both are the same.
fn picture(number: usize) -> Scene {
    let mut scene = Scene::new(40.0, 30.0);
    scene.line(&[(0.0, 28.0), (40.0, 28.0)], Stroke::new(Color::INK, 2.0));
    scene.disc((8.0 + 8.0 * number.min(2) as f32, 12.0), 5.0, Color(213, 94, 0));
    scene
}

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("film-{}-{name}", std::process::id()))
}

fn written(name: &str) -> PathBuf {
    let path = path(name);
    let reel = Reel { count: 4, rate: 10.0 };
    let mut film = Film::create(&path, reel, &[picture(0), picture(3)]).unwrap();
    for number in 0..4 {
        film.push(&picture(number)).unwrap();
    }
    film.finish().unwrap();
    path
}

/// Puts a part that changed over a picture.
fn patch(whole: &mut [Color], at: Rect, part: &[Color], width: i32) {
    for ((x, y), color) in at.pixels().zip(part) {
        whole[(y * width + x) as usize] = *color;
    }
}

#[test]
fn a_gif_has_all_pictures_with_their_pixels() {
    let path = written("a.gif");
    let mut options = ::gif::DecodeOptions::new();
    options.set_color_output(::gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(BufReader::new(File::open(&path).unwrap())).unwrap();
    assert_eq!((decoder.width(), decoder.height()), (40, 30));
    let mut shown = vec![Color::WHITE; 40 * 30];
    let mut count = 0;
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        assert_eq!(frame.delay, 10);
        let [x, y, w, h] = [frame.left, frame.top, frame.width, frame.height].map(i32::from);
        let part: Vec<Color> = frame.buffer.chunks(4).map(|c| Color(c[0], c[1], c[2])).collect();
        patch(&mut shown, Rect { x, y, w, h }, &part, 40);
        // Fewer than 257 colours are exact.
        assert!(shown == picture(count).canvas().into_pixels(), "picture {count}");
        count += 1;
    }
    assert_eq!(count, 4);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn an_apng_has_all_pictures_with_their_pixels() {
    let path = written("a.png");
    let mut reader =
        png::Decoder::new(BufReader::new(File::open(&path).unwrap())).read_info().unwrap();
    let control = *reader.info().animation_control().unwrap();
    assert_eq!((control.num_frames, control.num_plays), (4, 0));
    let mut shown = vec![Color::WHITE; 40 * 30];
    for count in 0..4 {
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        let frame = *reader.info().frame_control().unwrap();
        let [x, y] = [frame.x_offset, frame.y_offset].map(|n| n as i32);
        let (w, h) = (info.width as i32, info.height as i32);
        let part: Vec<Color> = bytes.chunks(3).map(|c| Color(c[0], c[1], c[2])).collect();
        patch(&mut shown, Rect { x, y, w, h }, &part, 40);
        assert!(shown == picture(count).canvas().into_pixels(), "picture {count}");
        assert_eq!((frame.delay_num, frame.delay_den), (100, 1000));
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn many_colours_come_near_and_paper_stays_white() {
    let mut scene = Scene::new(64.0, 64.0);
    let shade = |i: i32| Color((4 * (i % 64)) as u8, (4 * (i / 64)) as u8, 128);
    scene.image(Rect { x: 0, y: 0, w: 64, h: 62 }, (0..64 * 62).map(shade).collect());
    let path = path("many.gif");
    let mut film = Film::create(&path, Reel { count: 2, rate: 5.0 }, &[scene.clone()]).unwrap();
    film.push(&scene).unwrap();
    film.push(&scene).unwrap();
    film.finish().unwrap();
    let mut options = ::gif::DecodeOptions::new();
    options.set_color_output(::gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(File::open(&path).unwrap()).unwrap();
    let frame = decoder.read_next_frame().unwrap().unwrap();
    let far = |a: u8, b: u8| (i32::from(a) - i32::from(b)).abs();
    let mut sum = 0;
    for (i, c) in frame.buffer.chunks(4).enumerate() {
        let expected = if i < 64 * 62 { shade(i as i32) } else { Color::WHITE };
        let error = far(c[0], expected.0) + far(c[1], expected.1) + far(c[2], expected.2);
        assert!(error == 0 || expected != Color::WHITE);
        sum += error;
    }
    let mean = f64::from(sum) / (64.0 * 62.0);
    assert!(mean < 14.0, "{mean}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn films_that_cannot_be_say_why() {
    let fail = |name: &str, count, rate| {
        let film = Film::create(path(name), Reel { count, rate }, &[picture(0)]);
        film.err().map_or_else(String::new, |e| e.to_string())
    };
    for (message, expected) in [
        (fail("a.avi", 3, 10.0), ".gif, .png, .apng or .mp4"),
        (fail("a.gif", 1, 10.0), "cannot have 1 pictures; it takes two or more"),
        (fail("a.gif", 3, 60.0), "60 pictures a second; choose more than 0 and at most 50"),
        (fail("a.png", 3, 0.0), "more than 0"),
        (fail("a.png", 3, f64::NAN), "more than 0"),
        (fail("no/such/folder/a.gif", 3, 1.0), "cannot write the picture"),
    ] {
        assert!(message.contains(expected), "{message}");
    }
    let path = path("bad.gif");
    let mut film = Film::create(&path, Reel { count: 2, rate: 1.0 }, &[picture(0)]).unwrap();
    let wide = film.push(&Scene::new(50.0, 30.0)).unwrap_err().to_string();
    assert!(wide.contains("picture 1 has 50 × 30 pixels, and others 40 × 30"), "{wide}");
    film.push(&picture(0)).unwrap();
    let short = film.finish().unwrap_err().to_string();
    assert!(short.contains("picture 2 of 2 is missing"), "{short}");
    assert!(!path.exists(), "a film that is not whole has no name");
}

#[test]
fn changes_are_found() {
    let (white, ink) = (vec![Color::WHITE; 12], Color::INK);
    let mut now = white.clone();
    now[5] = ink;
    now[10] = ink;
    assert_eq!(changed(&white, &now, (4, 3)), Rect { x: 1, y: 1, w: 2, h: 2 });
    assert_eq!(changed(&now, &now, (4, 3)), Rect { x: 0, y: 0, w: 1, h: 1 });
}
