//! Reading of archives; damaged bytes give an error at worst.

use std::io::{self, Read, Seek, SeekFrom};

use flate2::read::DeflateDecoder;

use super::{
    CENTRAL, DEFLATED, END, END_LEN, END64, Entry, IN_EXTRA, LOCAL, LOCATOR64, SEAL, SEAL_DIGITS,
    STORED, invalid, seal_digits,
};

/// Does the archive end in a seal? If it does, the seal is that of all bytes before it.
pub(crate) fn check_seal(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let length = file.seek(SeekFrom::End(0))?;
    let Some(sealed) = length.checked_sub(SEAL_DIGITS as u64) else {
        return Ok(false);
    };
    let Some(start) = sealed.checked_sub(SEAL.len() as u64) else {
        return Ok(false);
    };
    file.seek(SeekFrom::Start(start))?;
    let mut seal = [0; SEAL.len() + SEAL_DIGITS];
    file.read_exact(&mut seal)?;
    let Some(digits) = seal.strip_prefix(SEAL) else {
        return Ok(false);
    };
    file.seek(SeekFrom::Start(0))?;
    let (mut all, mut left) = (crc32fast::Hasher::new(), sealed);
    let mut bytes = vec![0; 1 << 16];
    while left > 0 {
        let most = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let part = &mut bytes[..most];
        file.read_exact(part)?;
        all.update(part);
        left -= part.len() as u64;
    }
    let found = seal_digits(all);
    if found.as_bytes() == digits {
        return Ok(true);
    }
    Err(invalid(format!(
        "damaged: its bytes have the checksum {found}, and it was sealed with {}",
        String::from_utf8_lossy(digits).escape_debug()
    )))
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

/// Returns the directory's number of entries, length and place.
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
    let comment = usize::from(c.u16()?);
    c.take(comment)?;
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
    let (crc, packed, size) = (c.u32()?, c.u32()?, c.u32()?);
    let (name_len, extra_len, comment_len) = (c.u16()?, c.u16()?, c.u16()?);
    c.take(8)?;
    let at = c.u32()?;
    let name = String::from_utf8_lossy(c.take(name_len.into())?).into_owned();
    let mut extra = Cursor(c.take(extra_len.into())?);
    c.take(comment_len.into())?;
    if !matches!(method, STORED | DEFLATED) || flags & 1 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!(
                "`{name}` is encrypted or compressed by an unusual method; write it with numpy.savez"
            ),
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
        if short == IN_EXTRA { long.u64() } else { Ok(short.into()) }
    };
    let size = wide(size)?;
    let packed = wide(packed)?;
    let deflated = method == DEFLATED;
    if packed != size && !deflated {
        return Err(invalid(format!("`{name}`: a stored entry of two lengths")));
    }
    Ok(Entry { name, crc, size, packed, deflated, at: wide(at)? })
}

/// Reads one entry's data, of at most so many bytes, and checks its checksum.
pub(crate) fn read(file: &mut (impl Read + Seek), entry: &Entry, most: u64) -> io::Result<Vec<u8>> {
    if entry.size > most {
        return Err(invalid(format!(
            "it announces {} bytes, and at most {most} are expected here",
            entry.size
        )));
    }
    to_data(file, entry)?;
    let mut data = Vec::new();
    let size = usize::try_from(entry.size).map_err(|_| invalid("too large"))?;
    let room = data.try_reserve_exact(size);
    room.map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    let packed = file.take(entry.packed);
    if entry.deflated {
        // One more byte than announced is enough to see that there are too many.
        let mut inflated = DeflateDecoder::new(packed).take(entry.size.saturating_add(1));
        inflated.read_to_end(&mut data)?;
    } else {
        packed.take(entry.size).read_to_end(&mut data)?;
    }
    if data.len() as u64 > entry.size {
        return Err(invalid("more data than the directory announces"));
    }
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

/// Returns the first bytes of an entry's data, at most so many. Nothing is checked.
pub(crate) fn head(file: &mut (impl Read + Seek), entry: &Entry, most: u64) -> io::Result<Vec<u8>> {
    to_data(file, entry)?;
    let mut data = Vec::new();
    let packed = file.take(entry.packed);
    if entry.deflated {
        let mut inflated = DeflateDecoder::new(packed).take(most.min(entry.size));
        inflated.read_to_end(&mut data)?;
    } else {
        packed.take(most).read_to_end(&mut data)?;
    }
    Ok(data)
}

/// Goes to the first byte of an entry's data.
fn to_data(file: &mut (impl Read + Seek), entry: &Entry) -> io::Result<()> {
    file.seek(SeekFrom::Start(entry.at))?;
    let mut header = [0; 30];
    file.read_exact(&mut header)?;
    if Cursor(&header).u32()? != LOCAL {
        return Err(invalid("no entry where the directory points"));
    }
    let mut lengths = Cursor(&header[26..]);
    let skip = i64::from(lengths.u16()?) + i64::from(lengths.u16()?);
    file.seek(SeekFrom::Current(skip))?;
    Ok(())
}

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, n: usize) -> io::Result<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n).ok_or_else(|| invalid("cut off"))?;
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
