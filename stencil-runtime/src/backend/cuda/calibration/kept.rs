//! Measured numbers as a file of the cache: lines of a name and a number.

use std::fmt::Write as _;
use std::{fs, io, process};

use stencil_compiler::hash::fnv1a;

use super::Measured;
use crate::backend::cuda::{Cache, Card};

/// The first line of a file; the number is the version of its layout and of the measurements.
const MAGIC: &str = "stencil card 1";

/// A number of a file: its name, and its place in the measurements.
type Number = (&'static str, fn(&mut Measured) -> &mut f64);

/// All numbers of a file.
const NUMBERS: [Number; 8] = [
    ("copy_bytes_per_s", |m| &mut m.copy_bytes),
    ("clock_hz", |m| &mut m.clock),
    ("held_clock_hz", |m| &mut m.held),
    ("multiply_adds_f32_per_cycle", |m| &mut m.single),
    ("multiply_adds_f64_per_cycle", |m| &mut m.double),
    ("shared_words_per_cycle", |m| &mut m.words),
    ("launch_s", |m| &mut m.launch),
    ("fill_s", |m| &mut m.fill),
];

/// Returns the first lines of a file: a card, with its driver.
fn head(card: &Card) -> String {
    let (major, minor) = card.driver;
    format!("{MAGIC}\ncard {}\nuuid {}\ndriver {major}.{minor}\n", card.name, card.uuid)
}

fn print(head: &str, mut measured: Measured) -> String {
    let mut text = head.to_string();
    for (name, number) in NUMBERS {
        // All digits, so that reading gives the number that was written.
        let _ = writeln!(text, "{name} {:e}", number(&mut measured));
    }
    text
}

/// Reads the numbers of a text; `None` if it is for something else, or not whole.
fn parse(head: &str, text: &str) -> Option<Measured> {
    let mut measured = Measured {
        copy_bytes: 0.0,
        clock: 0.0,
        held: 0.0,
        single: 0.0,
        double: 0.0,
        words: 0.0,
        launch: 0.0,
        fill: 0.0,
    };
    let mut lines = text.strip_prefix(head)?.lines();
    for (name, number) in NUMBERS {
        let value = lines.next()?.strip_prefix(name)?.strip_prefix(' ')?;
        *number(&mut measured) = value.parse().ok()?;
    }
    (lines.next().is_none() && text.ends_with('\n')).then_some(measured)
}

fn file(card: &Card) -> String {
    format!("{:016x}.card", fnv1a(card.uuid.as_bytes()))
}

/// Finds the earlier measurements of a card.
pub(super) fn find(cache: &Cache, card: &Card) -> Option<Measured> {
    let text = fs::read_to_string(cache.folder().join(file(card))).ok()?;
    parse(&head(card), &text)
}

/// Keeps measurements, in place of earlier ones.
pub(super) fn keep(cache: &Cache, card: &Card, measured: &Measured) -> io::Result<()> {
    write(cache, &file(card), &print(&head(card), *measured))
}

/// Writes a file of a cache, unless that is sealed; the file appears by rename.
pub(super) fn write(cache: &Cache, name: &str, text: &str) -> io::Result<()> {
    if cache.sealed_by().is_some() {
        return Ok(());
    }
    fs::create_dir_all(cache.folder())?;
    let path = cache.folder().join(name);
    let part = path.with_extension(format!("{}.part", process::id()));
    fs::write(&part, text)?;
    fs::rename(&part, &path)
}

#[cfg(test)]
mod tests {
    use stencil_compiler::cost::MODELS;

    use super::*;

    fn card() -> Card {
        Card {
            ordinal: 0,
            name: "Some Card".into(),
            uuid: "00ff".repeat(8),
            capability: (9, 0),
            bus: "0000:3b:00.0".into(),
            multiprocessors: 132,
            multiprocessor: MODELS[0].rates.multiprocessor,
            shared_bytes: 232_448,
            memory: 150 << 30,
            driver: (13, 0),
        }
    }

    fn measured() -> Measured {
        Measured {
            copy_bytes: 4.16e12 / 3.0,
            clock: 1.98e9,
            held: 1.7e9,
            single: 127.0,
            double: 63.0,
            words: 31.9,
            launch: 1.0e-6 / 7.0,
            fill: 8e-6,
        }
    }

    #[test]
    fn a_file_gives_what_was_kept() {
        let head = head(&card());
        let text = print(&head, measured());
        assert_eq!(parse(&head, &text), Some(measured()));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..4],
            [MAGIC, "card Some Card", "uuid 00ff00ff00ff00ff00ff00ff00ff00ff", "driver 13.0"]
        );
        assert_eq!((lines[5], lines.len()), ("clock_hz 1.98e9", 12));
    }

    #[test]
    fn other_cards_other_drivers_and_parts_are_as_good_as_nothing() {
        let own = head(&card());
        let text = print(&own, measured());
        let others = [
            Card { driver: (12, 8), ..card() },
            Card { name: "Other".into(), ..card() },
            Card { uuid: "11".repeat(16), ..card() },
        ];
        for other in others {
            assert_eq!(parse(&head(&other), &text), None);
        }
        for end in 0..text.len() {
            assert_eq!(parse(&own, &text[..end]), None, "{end} bytes");
        }
        for damaged in [
            text.replace("card 1", "card 2"),
            text.replace("1.98e9", "fast"),
            text.replace("launch_s", "lunch_s"),
            format!("{text}more 1\n"),
        ] {
            assert_eq!(parse(&own, &damaged), None, "{damaged}");
        }
    }

    #[test]
    fn what_is_kept_is_found_by_its_card() {
        let folder = std::env::temp_dir().join(format!("stencil-card-{}", process::id()));
        let cache = Cache::at(&folder);
        assert_eq!(find(&cache, &card()), None);
        keep(&cache, &card(), &measured()).unwrap();
        assert_eq!(find(&cache, &card()), Some(measured()));
        let other = Card { uuid: "11".repeat(16), ..card() };
        assert_eq!(find(&cache, &other), None);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }
}
