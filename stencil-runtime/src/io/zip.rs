//! The part of ZIP that `.npz` needs: entries are written as they are, or deflated if that is asked for, with ZIP64
//! if a size or place does not fit 32 bits. No time stamps: equal entries give equal bytes. The comment of an archive
//! is a seal: the checksum of all bytes before it, so that any damage shows.
//!
//! Layout: PKWARE's APPNOTE.TXT, 4.3.

use std::io::{self, Seek, SeekFrom, Write};

use flate2::write::DeflateEncoder;

mod read;
#[cfg(test)]
mod tests;

pub(crate) use read::{check_seal, directory, head, read};

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
/// The first bytes of a seal; eight hexadecimal digits follow.
const SEAL: &[u8] = b"stencil crc32 ";
const SEAL_DIGITS: usize = 8;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) crc: u32,
    /// Bytes of data.
    pub(crate) size: u64,
    /// Bytes of it in the file.
    packed: u64,
    deflated: bool,
    /// Start of the local header.
    at: u64,
}

impl Entry {
    fn method(&self) -> u16 {
        if self.deflated { DEFLATED } else { STORED }
    }
}

/// Writes entries one after another.
#[derive(Debug)]
pub(crate) struct ZipWriter<W> {
    out: W,
    entries: Vec<Entry>,
    position: u64,
    /// The checksum of all bytes so far.
    all: crc32fast::Hasher,
    /// The first value that needs ZIP64: `u32::MAX`, and less in tests.
    limit: u64,
    /// The level at which the next entries are deflated, if they are.
    level: Option<flate2::Compression>,
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
            all: crc32fast::Hasher::new(),
            limit,
            level: None,
            broken: false,
        }
    }

    /// Deflates the entries from here on at a level of 1 to 9, or writes them as they are.
    pub(crate) fn deflate(&mut self, level: Option<u32>) {
        self.level = level.map(flate2::Compression::new);
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
            packed: size,
            deflated: self.level.is_some(),
            at: self.position,
        };
        let header = self.local_header(&entry)?;
        if std::mem::replace(&mut self.broken, true) {
            return Err(invalid("an earlier entry failed"));
        }
        self.out.write_all(&header)?;

        let mut body = Counted::new(&mut self.out);
        let data = match self.level {
            None => {
                write(&mut body)?;
                (body.written, body.crc.clone())
            }
            Some(level) => {
                let mut data = Counted::new(DeflateEncoder::new(&mut body, level));
                write(&mut data)?;
                data.out.try_finish()?;
                (data.written, data.crc)
            }
        };
        let (packed, packed_crc) = (body.written, body.crc);
        if data.0 != size {
            return Err(invalid("an entry's length differs from the announced one"));
        }

        (entry.crc, entry.packed) = (data.1.finalize(), packed);
        self.position = entry.at + header.len() as u64 + packed;
        // The checksum and the packed length are known only now.
        let header = self.local_header(&entry)?;
        self.out.seek(SeekFrom::Start(entry.at))?;
        self.out.write_all(&header)?;
        self.all.update(&header);
        self.all.combine(&packed_crc);
        self.out.seek(SeekFrom::Start(self.position))?;
        self.entries.push(entry);
        self.broken = false;
        Ok(())
    }

    /// Does an entry need ZIP64? Deflated data may be a little longer than it was.
    fn is_large(&self, entry: &Entry) -> bool {
        let most = if entry.deflated { entry.size + entry.size / 1000 + 64 } else { entry.size };
        most >= self.limit
    }

    fn local_header(&self, entry: &Entry) -> io::Result<Vec<u8>> {
        let large = self.is_large(entry);
        let mut b = Bytes::default();
        b.u32(LOCAL).u16(version(large)).u16(flags(&entry.name)).u16(entry.method());
        b.u16(0).u16(DOS_DATE).u32(entry.crc);
        b.u32(short_or_extra(entry.packed, large)).u32(short_or_extra(entry.size, large));
        b.u16(name_len(&entry.name)?).u16(if large { 20 } else { 0 });
        b.raw(entry.name.as_bytes());
        if large {
            b.u16(1).u16(16).u64(entry.size).u64(entry.packed);
        }
        Ok(b.0)
    }

    fn central_header(&self, entry: &Entry) -> io::Result<Vec<u8>> {
        let (large, far) = (self.is_large(entry), entry.at >= self.limit);
        let extra = if large { 16 } else { 0 } + if far { 8 } else { 0 };
        let mut b = Bytes::default();
        b.u32(CENTRAL).u16(MADE_BY).u16(version(large || far)).u16(flags(&entry.name));
        b.u16(entry.method()).u16(0).u16(DOS_DATE).u32(entry.crc);
        b.u32(short_or_extra(entry.packed, large)).u32(short_or_extra(entry.size, large));
        b.u16(name_len(&entry.name)?).u16(if extra > 0 { extra + 4 } else { 0 });
        // No comment, disk 0, no attributes.
        b.u16(0).u16(0).u16(0).u32(0).u32(short_or_extra(entry.at, far));
        b.raw(entry.name.as_bytes());
        if extra > 0 {
            b.u16(1).u16(extra);
        }
        if large {
            b.u64(entry.size).u64(entry.packed);
        }
        if far {
            b.u64(entry.at);
        }
        Ok(b.0)
    }

    /// Writes the directory and the seal, and gives the sink back.
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
            directory.u32(END64).u64(44).u16(MADE_BY).u16(MADE_BY).u32(0).u32(0);
            directory.u64(count).u64(count).u64(len).u64(start);
            directory.u32(LOCATOR64).u32(0).u64(end64).u32(1);
        }
        let short_count = if needs64 { u16::MAX } else { count as u16 };
        directory.u32(END).u16(0).u16(0).u16(short_count).u16(short_count);
        directory
            .u32(short_or_extra(len, needs64))
            .u32(short_or_extra(start, needs64))
            .u16((SEAL.len() + SEAL_DIGITS) as u16)
            .raw(SEAL);
        self.all.update(&directory.0);
        let seal = seal_digits(self.all);
        directory.raw(seal.as_bytes());
        self.out.write_all(&directory.0)?;
        Ok(self.out)
    }
}

/// Returns the digits of a checksum in a seal.
fn seal_digits(all: crc32fast::Hasher) -> String {
    format!("{:08x}", all.finalize())
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

struct Counted<W> {
    out: W,
    crc: crc32fast::Hasher,
    written: u64,
}

impl<W> Counted<W> {
    fn new(out: W) -> Self {
        Self { out, crc: crc32fast::Hasher::new(), written: 0 }
    }
}

impl<W: Write> Write for Counted<W> {
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
