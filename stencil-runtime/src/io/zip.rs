//! The part of ZIP that `.npz` needs: stored (not compressed) entries, with ZIP64 where a size or
//! place does not fit 32 bits. No time stamps: equal entries give equal bytes.
//!
//! Layout: PKWARE's APPNOTE.TXT, 4.3.

use std::io::{self, Read, Seek, SeekFrom, Write};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END64: u32 = 0x0606_4b50;
const LOCATOR64: u32 = 0x0706_4b50;
/// The value that sends a reader to the ZIP64 field.
const IN_EXTRA: u32 = u32::MAX;
const MADE_BY: u16 = 45;
/// 1 January 1980, the zero of ZIP's calendar (day and month count from 1).
const DOS_DATE: u16 = 0x0021;
const UTF8_NAME: u16 = 1 << 11;
const END_LEN: u64 = 22;

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) crc: u32,
    /// Bytes of data.
    pub(crate) size: u64,
    /// Where the local header starts.
    at: u64,
}

/// Writes entries one after another.
#[derive(Debug)]
pub(crate) struct ZipWriter<W> {
    out: W,
    entries: Vec<Entry>,
    position: u64,
    /// The first value that needs ZIP64: `u32::MAX`, and less in tests.
    limit: u64,
    /// An entry failed half-way, so the archive cannot be finished.
    broken: bool,
}

impl<W: Write + Seek> ZipWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self::with_limit(out, u64::from(u32::MAX))
    }

    pub(crate) fn with_limit(out: W, limit: u64) -> Self {
        Self {
            out,
            entries: Vec::new(),
            position: 0,
            limit,
            broken: false,
        }
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.entries.iter().any(|e| e.name == name)
    }

    /// Adds one entry of exactly `size` bytes, which `write` must produce.
    pub(crate) fn entry(
        &mut self,
        name: &str,
        size: u64,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut entry = Entry {
            name: name.to_string(),
            crc: 0,
            size,
            at: self.position,
        };
        let header = self.local_header(&entry)?;
        if std::mem::replace(&mut self.broken, true) {
            return Err(invalid("an earlier entry failed"));
        }
        self.out.write_all(&header)?;

        let mut body = Counted {
            out: &mut self.out,
            crc: crc32fast::Hasher::new(),
            written: 0,
        };
        write(&mut body)?;
        let written = body.written;
        entry.crc = body.crc.finalize();
        if written != size {
            return Err(invalid("an entry's length differs from the announced one"));
        }

        self.position = entry.at + header.len() as u64 + size;
        // The checksum is known only now; it stands 14 bytes into the local header.
        self.out.seek(SeekFrom::Start(entry.at + 14))?;
        self.out.write_all(&entry.crc.to_le_bytes())?;
        self.out.seek(SeekFrom::Start(self.position))?;
        self.entries.push(entry);
        self.broken = false;
        Ok(())
    }

    fn local_header(&self, entry: &Entry) -> io::Result<Vec<u8>> {
        let large = entry.size >= self.limit;
        let short = short_or_extra(entry.size, large);
        let mut b = Bytes::default();
        b.u32(LOCAL)
            .u16(version(large))
            .u16(flags(&entry.name))
            .u16(0)
            .u16(0)
            .u16(DOS_DATE);
        b.u32(entry.crc).u32(short).u32(short);
        b.u16(name_len(&entry.name)?)
            .u16(if large { 20 } else { 0 });
        b.raw(entry.name.as_bytes());
        if large {
            b.u16(1).u16(16).u64(entry.size).u64(entry.size);
        }
        Ok(b.0)
    }

    fn central_header(&self, entry: &Entry) -> io::Result<Vec<u8>> {
        let (large, far) = (entry.size >= self.limit, entry.at >= self.limit);
        let short = short_or_extra(entry.size, large);
        let extra = if large { 16 } else { 0 } + if far { 8 } else { 0 };
        let mut b = Bytes::default();
        b.u32(CENTRAL)
            .u16(MADE_BY)
            .u16(version(large || far))
            .u16(flags(&entry.name));
        b.u16(0)
            .u16(0)
            .u16(DOS_DATE)
            .u32(entry.crc)
            .u32(short)
            .u32(short);
        b.u16(name_len(&entry.name)?)
            .u16(if extra > 0 { extra + 4 } else { 0 });
        // No comment, disk 0, no attributes.
        b.u16(0)
            .u16(0)
            .u16(0)
            .u32(0)
            .u32(short_or_extra(entry.at, far));
        b.raw(entry.name.as_bytes());
        if extra > 0 {
            b.u16(1).u16(extra);
        }
        if large {
            b.u64(entry.size).u64(entry.size);
        }
        if far {
            b.u64(entry.at);
        }
        Ok(b.0)
    }

    /// Writes the directory and gives the sink back.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        if self.broken {
            return Err(invalid("an entry failed"));
        }
        let start = self.position;
        let mut directory = Bytes::default();
        for entry in &self.entries {
            directory.raw(&self.central_header(entry)?);
        }
        let (count, len) = (self.entries.len() as u64, directory.0.len() as u64);
        let needs64 = start >= self.limit || len >= self.limit || count >= u64::from(u16::MAX);
        if needs64 {
            let end64 = start + len;
            directory
                .u32(END64)
                .u64(44)
                .u16(MADE_BY)
                .u16(MADE_BY)
                .u32(0)
                .u32(0);
            directory.u64(count).u64(count).u64(len).u64(start);
            directory.u32(LOCATOR64).u32(0).u64(end64).u32(1);
        }
        let short_count = if needs64 { u16::MAX } else { count as u16 };
        directory
            .u32(END)
            .u16(0)
            .u16(0)
            .u16(short_count)
            .u16(short_count);
        directory
            .u32(short_or_extra(len, needs64))
            .u32(short_or_extra(start, needs64))
            .u16(0);
        self.out.write_all(&directory.0)?;
        Ok(self.out)
    }
}

fn short_or_extra(value: u64, extra: bool) -> u32 {
    if extra { IN_EXTRA } else { value as u32 }
}

fn version(zip64: bool) -> u16 {
    if zip64 { 45 } else { 20 }
}

fn flags(name: &str) -> u16 {
    if name.is_ascii() { 0 } else { UTF8_NAME }
}

fn name_len(name: &str) -> io::Result<u16> {
    u16::try_from(name.len()).map_err(|_| invalid("an entry's name is over 65535 bytes"))
}

fn invalid(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.into())
}

struct Counted<'a, W> {
    out: &'a mut W,
    crc: crc32fast::Hasher,
    written: u64,
}

impl<W: Write> Write for Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.crc.update(&bytes[..n]);
        self.written += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }
    fn u16(&mut self, v: u16) -> &mut Self {
        self.raw(&v.to_le_bytes())
    }
    fn u32(&mut self, v: u32) -> &mut Self {
        self.raw(&v.to_le_bytes())
    }
    fn u64(&mut self, v: u64) -> &mut Self {
        self.raw(&v.to_le_bytes())
    }
}

/// Reads the directory; the entries stand in the order of the file.
pub(crate) fn directory(file: &mut (impl Read + Seek)) -> io::Result<Vec<Entry>> {
    let (count, len, start) = find_end(file)?;
    let file_len = file.seek(SeekFrom::End(0))?;
    if start.checked_add(len).is_none_or(|end| end > file_len) {
        return Err(invalid("the directory lies outside the file"));
    }
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(len).read_to_end(&mut bytes)?;
    let mut cursor = Cursor(&bytes);
    (0..count).map(|_| central_entry(&mut cursor)).collect()
}

/// The directory's number of entries, length and place.
fn find_end(file: &mut (impl Read + Seek)) -> io::Result<(u64, u64, u64)> {
    let file_len = file.seek(SeekFrom::End(0))?;
    // The end record may be followed by a comment of up to 65535 bytes.
    let tail_at = file_len.saturating_sub(END_LEN + 65535);
    file.seek(SeekFrom::Start(tail_at))?;
    let mut tail = Vec::new();
    file.take(file_len - tail_at).read_to_end(&mut tail)?;
    let end = (0..tail.len().saturating_sub(END_LEN as usize - 1))
        .rev()
        .find(|&i| tail[i..i + 4] == END.to_le_bytes())
        .ok_or_else(|| invalid("not a ZIP archive, or cut off: no end record"))?;

    let mut c = Cursor(&tail[end + 10..]);
    let (count, len, start) = (c.u16()?, c.u32()?, c.u32()?);
    if count != u16::MAX && len != IN_EXTRA && start != IN_EXTRA {
        return Ok((count.into(), len.into(), start.into()));
    }
    let Some(mut c) = end.checked_sub(20).map(|i| Cursor(&tail[i..end])) else {
        return Err(invalid("no ZIP64 locator"));
    };
    if c.u32()? != LOCATOR64 {
        // Exactly 65535 entries without ZIP64 are legal too.
        return Ok((count.into(), len.into(), start.into()));
    }
    c.u32()?;
    file.seek(SeekFrom::Start(c.u64()?))?;
    let mut record = [0; 56];
    file.read_exact(&mut record)?;
    let mut c = Cursor(&record);
    if c.u32()? != END64 {
        return Err(invalid("no ZIP64 end record where the locator points"));
    }
    let mut c = Cursor(&record[32..]);
    Ok((c.u64()?, c.u64()?, c.u64()?))
}

fn central_entry(c: &mut Cursor<'_>) -> io::Result<Entry> {
    if c.u32()? != CENTRAL {
        return Err(invalid("a broken directory entry"));
    }
    c.take(4)?;
    let (flags, method) = (c.u16()?, c.u16()?);
    c.take(4)?;
    let (crc, stored, size) = (c.u32()?, c.u32()?, c.u32()?);
    let (name_len, extra_len, comment_len) = (c.u16()?, c.u16()?, c.u16()?);
    c.take(8)?;
    let at = c.u32()?;
    let name = String::from_utf8_lossy(c.take(name_len.into())?).into_owned();
    let mut extra = Cursor(c.take(extra_len.into())?);
    c.take(comment_len.into())?;
    if method != 0 || flags & 1 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("`{name}` is compressed or encrypted; write it with numpy.savez"),
        ));
    }
    let mut long = Cursor(&[]);
    while extra.0.len() >= 4 {
        let (id, len) = (extra.u16()?, extra.u16()?);
        let field = extra.take(len.into())?;
        if id == 1 {
            long = Cursor(field);
        }
    }
    // The ZIP64 field holds, in this order, only those values that did not fit.
    let mut wide = |short: u32| {
        if short == IN_EXTRA {
            long.u64()
        } else {
            Ok(short.into())
        }
    };
    let size = wide(size)?;
    if wide(stored)? != size {
        return Err(invalid(format!("`{name}`: a stored entry of two lengths")));
    }
    Ok(Entry {
        name,
        crc,
        size,
        at: wide(at)?,
    })
}

/// Reads one entry's data and checks its checksum.
pub(crate) fn read(file: &mut (impl Read + Seek), entry: &Entry) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(entry.at))?;
    let mut header = [0; 30];
    file.read_exact(&mut header)?;
    if Cursor(&header).u32()? != LOCAL {
        return Err(invalid("no entry where the directory points"));
    }
    let mut lengths = Cursor(&header[26..]);
    let skip = i64::from(lengths.u16()?) + i64::from(lengths.u16()?);
    file.seek(SeekFrom::Current(skip))?;
    // Not `with_capacity(size)`: a broken size must not exhaust the memory.
    let mut data = Vec::new();
    file.take(entry.size).read_to_end(&mut data)?;
    if data.len() as u64 != entry.size {
        return Err(invalid("the file is cut off"));
    }
    let crc = crc32fast::hash(&data);
    if crc != entry.crc {
        return Err(invalid(format!(
            "damaged: checksum {crc:08x}, the directory says {:08x}",
            entry.crc
        )));
    }
    Ok(data)
}

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, n: usize) -> io::Result<&'a [u8]> {
        let (head, rest) = self
            .0
            .split_at_checked(n)
            .ok_or_else(|| invalid("cut off"))?;
        self.0 = rest;
        Ok(head)
    }
    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N)?);
        Ok(bytes)
    }
    fn u16(&mut self) -> io::Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }
    fn u32(&mut self) -> io::Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }
    fn u64(&mut self) -> io::Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor as Memory;

    fn archive(limit: u64) -> Vec<u8> {
        let mut zip = ZipWriter::with_limit(Memory::new(Vec::new()), limit);
        zip.entry("check", 9, |out| out.write_all(b"123456789"))
            .unwrap();
        zip.entry("größe", 3, |out| out.write_all(b"abc")).unwrap();
        zip.finish().unwrap().into_inner()
    }

    fn contents(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut file = Memory::new(bytes);
        let entries = directory(&mut file).unwrap();
        entries
            .iter()
            .map(|e| (e.name.clone(), read(&mut file, e).unwrap()))
            .collect()
    }

    #[test]
    fn the_checksum_is_crc32() {
        // The check value of CRC-32/ISO-HDLC.
        let bytes = archive(u32::MAX.into());
        assert_eq!(bytes[14..18], 0xcbf4_3926_u32.to_le_bytes());
        assert_eq!(
            directory(&mut Memory::new(&bytes)).unwrap()[0].crc,
            0xcbf4_3926
        );
    }

    #[test]
    fn zip64_reads_the_same() {
        let want = vec![
            ("check".into(), b"123456789".to_vec()),
            ("größe".into(), b"abc".to_vec()),
        ];
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
                let _ = read(&mut file, &entry);
            }
        }
        let mut bad = archive(u32::MAX.into());
        let data = bad.windows(9).position(|w| w == b"123456789").unwrap();
        bad[data] ^= 1;
        let mut file = Memory::new(&bad);
        let entries = directory(&mut file).unwrap();
        assert!(
            read(&mut file, &entries[0])
                .unwrap_err()
                .to_string()
                .contains("checksum")
        );
    }

    #[test]
    fn a_wrong_length_is_an_error() {
        let mut zip = ZipWriter::new(Memory::new(Vec::new()));
        assert!(zip.entry("a", 4, |out| out.write_all(b"abc")).is_err());
        assert!(zip.entry("b", 3, |out| out.write_all(b"abc")).is_err());
        assert!(zip.finish().is_err());
    }
}
