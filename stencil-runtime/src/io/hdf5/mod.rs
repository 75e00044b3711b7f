//! The part of HDF5 that a VTKHDF file needs: groups, attributes, and arrays whose values are written as they come, so
//! that no array is ever in memory as a whole. No time stamps: equal input gives equal bytes.
//!
//! Layout: "HDF5 File Format Specification Version 3.0", superblock 2 and object headers 2; the
//! specification's numbers of messages and classes stand beside their names.

use std::io::{self, Seek, SeekFrom, Write};

mod checksum;
mod message;
#[cfg(test)]
mod tests;

pub(super) use message::{Attribute, Kind};

/// No place in the file.
const NOWHERE: u64 = u64::MAX;
/// Bytes of a superblock.
const SUPERBLOCK: usize = 48;

/// Writes a file: values first, then headers that say where they are.
#[derive(Debug)]
pub(super) struct Hdf5Writer<W> {
    out: W,
    position: u64,
}

impl<W: Write + Seek> Hdf5Writer<W> {
    /// Begins a file.
    pub(super) fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&[0; SUPERBLOCK])?;
        Ok(Self { out, position: SUPERBLOCK as u64 })
    }

    /// Returns the place of the next bytes.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Writes values.
    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    /// Writes the header of an array whose values were put from a place on, in C order; returns the place of the header.
    pub(super) fn array(&mut self, kind: Kind, shape: &[u64], values: u64) -> io::Result<u64> {
        let bytes = shape.iter().product::<u64>() * u64::from(kind.size());
        let messages = [
            message::dataspace(shape),
            message::datatype(kind),
            message::no_fill_value(),
            message::contiguous(values, bytes),
        ];
        self.header(&messages)
    }

    /// Writes a group of objects that were written before, by name and place; returns its place.
    pub(super) fn group(
        &mut self,
        links: &[(&str, u64)],
        attributes: &[Attribute],
    ) -> io::Result<u64> {
        let mut messages = vec![message::link_info(), message::group_info()];
        for (name, at) in links {
            messages.push(message::link(name, *at)?);
        }
        for attribute in attributes {
            messages.push(attribute.message()?);
        }
        self.header(&messages)
    }

    fn header(&mut self, messages: &[message::Message]) -> io::Result<u64> {
        let at = self.position;
        self.put(&message::header(messages)?)?;
        Ok(at)
    }

    /// Writes the superblock with the place of the first group, and gives the sink back.
    pub(super) fn finish(mut self, root: u64) -> io::Result<W> {
        let mut block = b"\x89HDF\r\n\x1a\n".to_vec();
        // Version 2; places and lengths have 8 bytes; no flags.
        block.extend([2, 8, 8, 0]);
        for place in [0, NOWHERE, self.position, root] {
            block.extend(place.to_le_bytes());
        }
        block.extend(checksum::of(&block).to_le_bytes());
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&block)?;
        self.out.seek(SeekFrom::Start(self.position))?;
        Ok(self.out)
    }
}
