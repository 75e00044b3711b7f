//! Object headers and their messages.

use std::io;

use super::{NOWHERE, checksum};

/// A message: its number and its bytes.
pub(super) type Message = (u8, Vec<u8>);

/// The type of an element, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::io) enum Kind {
    /// A float of 4 bytes.
    F32,
    /// A float of 8 bytes.
    F64,
    /// A signed number of 8 bytes.
    I64,
    /// A text of so many bytes, ASCII or UTF-8.
    Text { size: u32, ascii: bool },
}

impl Kind {
    /// Returns the bytes of an element.
    pub(super) fn size(self) -> u32 {
        match self {
            Kind::F32 => 4,
            Kind::F64 | Kind::I64 => 8,
            Kind::Text { size, .. } => size,
        }
    }

    /// Returns the type as a message has it: class and version, bits of the class, size, properties.
    fn bytes(self) -> Vec<u8> {
        let (class, bits, properties): (u8, [u8; 3], Vec<u8>) = match self {
            Kind::F32 => (1, [0x20, 31, 0], float(32, (23, 8), 127)),
            Kind::F64 => (1, [0x20, 63, 0], float(64, (52, 11), 1023)),
            Kind::I64 => (0, [0x08, 0, 0], vec![0, 0, 64, 0]),
            // Padded by NUL.
            Kind::Text { ascii: true, .. } => (3, [0x01, 0, 0], Vec::new()),
            Kind::Text { ascii: false, .. } => (3, [0x11, 0, 0], Vec::new()),
        };
        let mut bytes = vec![0x10 | class];
        bytes.extend(bits);
        bytes.extend(self.size().to_le_bytes());
        bytes.extend(properties);
        bytes
    }
}

/// Returns the properties of an IEEE float: the place of its bits, and of exponent and mantissa among them.
fn float(bits: u16, (mantissa, exponent): (u8, u8), bias: u32) -> Vec<u8> {
    let mut bytes = vec![0, 0];
    bytes.extend(bits.to_le_bytes());
    bytes.extend([mantissa, exponent, 0, mantissa]);
    bytes.extend(bias.to_le_bytes());
    bytes
}

/// A named value of a group.
#[derive(Clone, Debug)]
pub(in crate::io) struct Attribute {
    name: String,
    kind: Kind,
    shape: Vec<u64>,
    data: Vec<u8>,
}

impl Attribute {
    /// Makes a list of floats.
    pub(in crate::io) fn floats(name: &str, values: &[f64]) -> Self {
        let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { name: name.into(), kind: Kind::F64, shape: vec![values.len() as u64], data }
    }

    /// Makes a list of whole numbers.
    pub(in crate::io) fn numbers(name: &str, values: &[i64]) -> Self {
        let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { name: name.into(), kind: Kind::I64, shape: vec![values.len() as u64], data }
    }

    /// Makes one number or text of a list of one.
    pub(in crate::io) fn scalar(mut self) -> Self {
        self.shape.clear();
        self
    }

    /// Makes a text; it is marked as ASCII if it is that.
    pub(in crate::io) fn text(name: &str, text: &str) -> Self {
        // A type of no bytes is none.
        let data = if text.is_empty() { vec![0] } else { text.as_bytes().to_vec() };
        let kind = Kind::Text { size: data.len() as u32, ascii: text.is_ascii() };
        Self { name: name.into(), kind, shape: Vec::new(), data }
    }

    /// Attribute (0x0c), version 3.
    pub(super) fn message(&self) -> io::Result<Message> {
        let (kind, space) = (self.kind.bytes(), dataspace(&self.shape).1);
        let name = self.name.as_bytes();
        let length = u16::try_from(name.len() + 1).map_err(|_| too_long(&self.name))?;
        let mut bytes = vec![3, 0];
        bytes.extend(length.to_le_bytes());
        bytes.extend((kind.len() as u16).to_le_bytes());
        bytes.extend((space.len() as u16).to_le_bytes());
        // The name is UTF-8.
        bytes.push(1);
        bytes.extend(name);
        bytes.push(0);
        for part in [&kind, &space, &self.data] {
            bytes.extend(part);
        }
        Ok((0x0c, bytes))
    }
}

/// Dataspace (0x01), version 2: a scalar, or an array that does not grow.
pub(super) fn dataspace(shape: &[u64]) -> Message {
    let mut bytes = vec![2, shape.len() as u8, 0, u8::from(!shape.is_empty())];
    bytes.extend(shape.iter().flat_map(|n| n.to_le_bytes()));
    (0x01, bytes)
}

/// Datatype (0x03).
pub(super) fn datatype(kind: Kind) -> Message {
    (0x03, kind.bytes())
}

/// Fill value (0x05), version 3: none, as all values are written.
pub(super) fn no_fill_value() -> Message {
    (0x05, vec![3, 0x0a])
}

/// Data layout (0x08), version 3: the values lie side by side.
pub(super) fn contiguous(at: u64, bytes: u64) -> Message {
    let mut layout = vec![3, 1];
    layout.extend(at.to_le_bytes());
    layout.extend(bytes.to_le_bytes());
    (0x08, layout)
}

/// Link info (0x02): links are in the header itself.
pub(super) fn link_info() -> Message {
    let mut bytes = vec![0, 0];
    bytes.extend([NOWHERE.to_le_bytes(), NOWHERE.to_le_bytes()].concat());
    (0x02, bytes)
}

/// Group info (0x0a).
pub(super) fn group_info() -> Message {
    (0x0a, vec![0, 0])
}

/// Link (0x06) to an object of this file, by a name in UTF-8 whose length has two bytes.
pub(super) fn link(name: &str, at: u64) -> io::Result<Message> {
    let length = u16::try_from(name.len()).map_err(|_| too_long(name))?;
    let mut bytes = vec![1, 0x11, 1];
    bytes.extend(length.to_le_bytes());
    bytes.extend(name.as_bytes());
    bytes.extend(at.to_le_bytes());
    Ok((0x06, bytes))
}

/// Returns an object header of version 2: the messages, and the checksum of all bytes.
pub(super) fn header(messages: &[Message]) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    for (number, bytes) in messages {
        let length = u16::try_from(bytes.len());
        body.push(*number);
        body.extend(length.map_err(|_| too_long("a value"))?.to_le_bytes());
        body.push(0);
        body.extend(bytes);
    }
    let length = u32::try_from(body.len()).map_err(|_| too_long("a group"))?;
    // The flag says that the length has four bytes.
    let mut header = b"OHDR\x02\x02".to_vec();
    header.extend(length.to_le_bytes());
    header.extend(body);
    header.extend(checksum::of(&header).to_le_bytes());
    Ok(header)
}

fn too_long(name: &str) -> io::Error {
    let shown: String = name.chars().take(40).collect();
    io::Error::new(io::ErrorKind::InvalidInput, format!("`{shown}` is too long for a header"))
}
