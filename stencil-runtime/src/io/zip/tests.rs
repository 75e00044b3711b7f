//! Archives that are written, read, cut and damaged.

use super::*;
use crate::io::zip::read::{check_seal, directory, head, read};
use std::io::Cursor as Memory;

fn archive(limit: u64) -> Vec<u8> {
    let mut zip = ZipWriter::with_limit(Memory::new(Vec::new()), limit);
    zip.entry("check", 9, |out| out.write_all(b"123456789")).unwrap();
    zip.entry("größe", 3, |out| out.write_all(b"abc")).unwrap();
    zip.finish().unwrap().into_inner()
}

fn contents(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut file = Memory::new(bytes);
    let entries = directory(&mut file).unwrap();
    entries.iter().map(|e| (e.name.clone(), read(&mut file, e, e.size).unwrap())).collect()
}

#[test]
fn the_checksum_is_crc32() {
    // The check value of CRC-32/ISO-HDLC.
    let bytes = archive(u32::MAX.into());
    assert_eq!(bytes[14..18], 0xcbf4_3926_u32.to_le_bytes());
    assert_eq!(directory(&mut Memory::new(&bytes)).unwrap()[0].crc, 0xcbf4_3926);
}

#[test]
fn zip64_reads_the_same() {
    let want = vec![("check".into(), b"123456789".to_vec()), ("größe".into(), b"abc".to_vec())];
    // Everything in 32 bits; the large entry and the directory in 64; everything in 64.
    for limit in [u32::MAX.into(), 5, 0] {
        assert_eq!(contents(&archive(limit)), want, "limit {limit}");
    }
    assert!(archive(5).len() > archive(u32::MAX.into()).len());
}

#[test]
fn equal_entries_give_equal_bytes() {
    assert_eq!(archive(u32::MAX.into()), archive(u32::MAX.into()));
}

/// Each of some 80,000 bits in turn, those of headers, directory and seal among them.
#[test]
fn every_flipped_bit_breaks_the_seal() {
    let mut zip = ZipWriter::new(Memory::new(Vec::new()));
    let values: Vec<u8> = (0..10_000_u32).map(|i| ((i * i) >> 7) as u8).collect();
    let size = values.len() as u64;
    zip.entry("q.npy", size, |out| out.write_all(&values)).unwrap();
    zip.entry("t.npy", 8, |out| out.write_all(&0.5_f64.to_le_bytes())).unwrap();
    let mut bytes = zip.finish().unwrap().into_inner();
    assert!(check_seal(&mut Memory::new(&bytes)).unwrap());
    for at in 0..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            let seal = check_seal(&mut Memory::new(&bytes));
            assert!(!matches!(seal, Ok(true)), "bit {bit} of byte {at}");
            bytes[at] ^= 1 << bit;
        }
    }
    bytes.push(0);
    assert!(!check_seal(&mut Memory::new(&bytes)).unwrap());
}

/// An entry that announces more than is expected is not inflated.
#[test]
fn an_entry_is_no_larger_than_expected() {
    let bytes = archive(u32::MAX.into());
    let mut file = Memory::new(&bytes);
    let entry = directory(&mut file).unwrap().remove(0);
    assert_eq!(read(&mut file, &entry, 9).unwrap(), b"123456789");
    let reason = read(&mut file, &entry, 8).unwrap_err().to_string();
    assert!(reason.contains("announces 9 bytes") && reason.contains("at most 8"), "{reason}");
    assert_eq!(head(&mut file, &entry, 4).unwrap(), b"1234");
    // Sizes beyond all memory are refused before any is taken.
    for size in [1 << 40, u64::MAX] {
        let huge = Entry { size, ..entry.clone() };
        assert!(read(&mut file, &huge, 1 << 30).is_err());
    }
}

#[test]
fn damage_is_an_error_not_a_panic() {
    let good = archive(5);
    for cut in 0..good.len() {
        let mut file = Memory::new(&good[..cut]);
        assert!(directory(&mut file).is_err(), "cut at {cut}");
    }
    for i in 0..good.len() {
        let mut bad = good.clone();
        bad[i] ^= 0xff;
        let mut file = Memory::new(&bad);
        for entry in directory(&mut file).unwrap_or_default() {
            let _ = head(&mut file, &entry, 100);
            let _ = read(&mut file, &entry, 1 << 20);
        }
    }
    let mut bad = archive(u32::MAX.into());
    let data = bad.windows(9).position(|w| w == b"123456789").unwrap();
    bad[data] ^= 1;
    let mut file = Memory::new(&bad);
    let entries = directory(&mut file).unwrap();
    assert!(read(&mut file, &entries[0], 9).unwrap_err().to_string().contains("checksum"));
}

/// The bytes that Python's `zipfile` writes for `a.npy` of 200 equal bytes, deflated.
fn deflated() -> Vec<u8> {
    let data = [b'x'; 200];
    let mut encoder =
        flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&data).unwrap();
    let packed = encoder.finish().unwrap();
    let (crc, name) = (crc32fast::hash(&data), "a.npy");
    let sizes = |b: &mut Bytes| {
        b.u32(crc).u32(packed.len() as u32).u32(200).u16(name.len() as u16).u16(0);
    };
    let mut local = Bytes::default();
    local.u32(LOCAL).u16(20).u16(0).u16(DEFLATED).u16(0).u16(DOS_DATE);
    sizes(&mut local);
    local.raw(name.as_bytes()).raw(&packed);
    let start = local.0.len() as u32;
    let mut central = Bytes::default();
    central.u32(CENTRAL).u16(20).u16(20).u16(0).u16(DEFLATED).u16(0).u16(DOS_DATE);
    sizes(&mut central);
    central.u16(0).u16(0).u16(0).u32(0).u32(0).raw(name.as_bytes());
    let length = central.0.len() as u32;
    central.u32(END).u16(0).u16(0).u16(1).u16(1).u32(length).u32(start).u16(0);
    [local.0, central.0].concat()
}

#[test]
fn deflated_entries_are_read_and_checked() {
    let good = deflated();
    assert_eq!(contents(&good), [("a.npy".to_string(), vec![b'x'; 200])]);
    for i in 0..good.len() {
        let mut bad = good.clone();
        bad[i] ^= 0x10;
        let mut file = Memory::new(&bad);
        for entry in directory(&mut file).unwrap_or_default() {
            if let Ok(data) = read(&mut file, &entry, 1 << 20) {
                assert_eq!(data, [b'x'; 200], "byte {i}");
            }
        }
    }
    // An entry that inflates to more than its header tells must not fill the memory.
    let mut bomb = good.clone();
    let central = bomb.len() - 22 - 46 - 5;
    bomb[central + 24] = 100;
    let mut file = Memory::new(&bomb);
    let entries = directory(&mut file).unwrap();
    let error = read(&mut file, &entries[0], 1 << 20).unwrap_err().to_string();
    assert!(error.contains("more data than"), "{error}");
}

#[test]
fn a_wrong_length_is_an_error() {
    let mut zip = ZipWriter::new(Memory::new(Vec::new()));
    assert!(zip.entry("a", 4, |out| out.write_all(b"abc")).is_err());
    assert!(zip.entry("b", 3, |out| out.write_all(b"abc")).is_err());
    assert!(zip.finish().is_err());
}
