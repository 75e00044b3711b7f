//! The `.npy` format: a text header, then the elements.
//!
//! Layout: NumPy Enhancement Proposal 1, as documented in `numpy.lib.format`.

use std::io::{self, Write};

use ndarray::{ArrayD, ArrayViewD, IxDyn, ShapeBuilder};

const MAGIC: &[u8] = b"\x93NUMPY";

/// An element type of an array in a file: `f32` or `f64`.
pub trait Element: sealed::Sealed + Copy {
    /// NumPy's name of the type, little-endian.
    const DESCR: &'static str;
    /// Bytes of an element.
    const SIZE: usize;
    /// Replaces bytes by those of values.
    #[doc(hidden)]
    fn put(values: &[Self], bytes: &mut Vec<u8>) {
        bytes.clear();
        Self::append(values, bytes);
    }
    /// Appends the bytes of values.
    #[doc(hidden)]
    fn append(values: &[Self], bytes: &mut Vec<u8>);
    /// Reads values from as many bytes as `put` writes for them.
    #[doc(hidden)]
    fn take(values: &mut [Self], bytes: &[u8]);
    /// Returns the value as an array of this type; else a description of the value.
    #[doc(hidden)]
    fn array(value: Value) -> Result<ArrayD<Self>, String>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! element {
    ($ty:ty, $descr:literal, $kind:ident) => {
        impl Element for $ty {
            const DESCR: &'static str = $descr;
            const SIZE: usize = size_of::<$ty>();
            fn append(values: &[Self], bytes: &mut Vec<u8>) {
                let first = bytes.len();
                bytes.resize(first + size_of_val(values), 0);
                for (bytes, value) in bytes[first..].as_chunks_mut().0.iter_mut().zip(values) {
                    *bytes = value.to_le_bytes();
                }
            }
            fn take(values: &mut [Self], bytes: &[u8]) {
                for (value, bytes) in values.iter_mut().zip(bytes.as_chunks().0) {
                    *value = Self::from_le_bytes(*bytes);
                }
            }
            fn array(value: Value) -> Result<ArrayD<Self>, String> {
                match value {
                    Value::$kind(array) => Ok(array),
                    other => Err(other.kind()),
                }
            }
        }
    };
}
element!(f32, "<f4", F32);
element!(f64, "<f8", F64);

/// The value of an entry of a `.npz`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// An array of `f32`, in C order. A scalar has no dimensions.
    F32(ArrayD<f32>),
    /// An array of `f64`, in C order. A scalar has no dimensions.
    F64(ArrayD<f64>),
    /// An unsigned number.
    U64(u64),
    /// A signed number.
    I64(i64),
    /// A text. NUL characters at its end are lost, as in NumPy.
    Text(String),
}

/// Returns the bytes in front of the elements, padded to a multiple of 64 as NumPy does.
pub(crate) fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sizes = match shape {
        [n] => format!("({n},)"),
        _ => {
            let sizes: Vec<_> = shape.iter().map(usize::to_string).collect();
            format!("({})", sizes.join(", "))
        }
    };
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {sizes}, }}");
    // Magic, version, length and the closing newline take 11 bytes.
    let padded = (dict.len() + 11).next_multiple_of(64) - 11;
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((padded as u16 + 1).to_le_bytes());
    bytes.extend(format!("{dict:padded$}\n").bytes());
    bytes
}

/// Writes the elements in C order.
pub(crate) fn write_elements<T: Element>(
    array: ArrayViewD<'_, T>,
    out: &mut dyn Write,
) -> io::Result<()> {
    const CHUNK: usize = 1 << 13;
    let mut bytes = Vec::with_capacity(CHUNK * T::SIZE);
    if let Some(all) = array.as_slice() {
        for chunk in all.chunks(CHUNK) {
            T::put(chunk, &mut bytes);
            out.write_all(&bytes)?;
        }
        return Ok(());
    }
    // Rows of the interior of a field are whole, with ghost cells between them.
    let mut values = Vec::with_capacity(CHUNK);
    for row in array.rows() {
        match row.as_slice() {
            Some(row) => values.extend_from_slice(row),
            None => values.extend(row.iter().copied()),
        }
        if values.len() >= CHUNK {
            T::put(&values, &mut bytes);
            out.write_all(&bytes)?;
            values.clear();
        }
    }
    T::put(&values, &mut bytes);
    out.write_all(&bytes)
}

/// Returns the shape of a `.npy` that begins with these bytes.
pub(crate) fn shape_of(bytes: &[u8]) -> Result<Vec<usize>, String> {
    let (header, _) = split(bytes).ok_or("not a .npy array")?;
    shape(after(header, "'shape':")?).ok_or_else(|| "a header without a shape".into())
}

/// Reads a whole `.npy`. The error is the reason, for a person.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, String> {
    let (header, data) = split(bytes).ok_or("not a .npy array")?;
    let descr = quoted(after(header, "'descr':")?).ok_or("a header without an element type")?;
    let fortran = after(header, "'fortran_order':")?.trim_start().starts_with("True");
    let shape = shape(after(header, "'shape':")?).ok_or("a header without a shape")?;
    let count = shape.iter().try_fold(1_usize, |n, &s| n.checked_mul(s)).ok_or("too large")?;

    let size = match descr {
        "<f4" => 4,
        "<f8" | "<i8" | "<u8" => 8,
        _ => text_width(descr)
            .ok_or_else(|| format!("elements of type `{descr}`; f32 and f64 are supported"))?,
    };
    if count.checked_mul(size) != Some(data.len()) {
        return Err(format!("{} bytes of data for shape {shape:?} of `{descr}`", data.len()));
    }
    match (descr, shape.is_empty()) {
        ("<f4", _) => Ok(Value::F32(array(data, shape, fortran, f32::from_le_bytes)?)),
        ("<f8", _) => Ok(Value::F64(array(data, shape, fortran, f64::from_le_bytes)?)),
        ("<u8", true) => Ok(Value::U64(first(data, u64::from_le_bytes)?)),
        ("<i8", true) => Ok(Value::I64(first(data, i64::from_le_bytes)?)),
        ("<u8" | "<i8", false) => Err("an array of integers; only scalars are supported".into()),
        (_, true) => text(data, descr).map(Value::Text),
        (_, false) => Err("an array of strings; only scalars are supported".into()),
    }
}

fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_at_checked(2)?;
    let (len, rest) = match version[0] {
        1 => {
            let (len, rest) = rest.split_first_chunk::<2>()?;
            (u16::from_le_bytes(*len).into(), rest)
        }
        2 | 3 => {
            let (len, rest) = rest.split_first_chunk::<4>()?;
            (u32::from_le_bytes(*len) as usize, rest)
        }
        _ => return None,
    };
    let (header, data) = rest.split_at_checked(len)?;
    Some((std::str::from_utf8(header).ok()?, data))
}

fn after<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let (_, rest) = header.split_once(key).ok_or_else(|| format!("a header without {key}"))?;
    Ok(rest)
}

fn quoted(text: &str) -> Option<&str> {
    let text = text.trim_start().strip_prefix('\'')?;
    text.split_once('\'').map(|(inside, _)| inside)
}

fn shape(text: &str) -> Option<Vec<usize>> {
    let (inside, _) = text.trim_start().strip_prefix('(')?.split_once(')')?;
    let sizes = inside.split(',').map(str::trim).filter(|s| !s.is_empty());
    sizes.map(|s| s.parse().ok()).collect()
}

fn array<T: Copy, const N: usize>(
    data: &[u8],
    shape: Vec<usize>,
    fortran: bool,
    of: fn([u8; N]) -> T,
) -> Result<ArrayD<T>, String> {
    let (elements, _) = data.as_chunks::<N>();
    let values = elements.iter().map(|&b| of(b)).collect();
    let array = ArrayD::from_shape_vec(IxDyn(&shape).set_f(fortran), values);
    // Callers may rely on C order, whatever the file's order.
    array.map(|a| if fortran { c_order(&a) } else { a }).map_err(|e| e.to_string())
}

fn c_order<T: Copy>(a: &ArrayD<T>) -> ArrayD<T> {
    a.as_standard_layout().into_owned()
}

fn first<T, const N: usize>(data: &[u8], of: fn([u8; N]) -> T) -> Result<T, String> {
    data.first_chunk().map(|&b| of(b)).ok_or_else(|| "no data".into())
}

/// Returns the bytes of a string type: `<U5` has 20, `|S5` has 5.
fn text_width(descr: &str) -> Option<usize> {
    if let Some(n) = descr.strip_prefix("<U") {
        return n.parse::<usize>().ok()?.checked_mul(4);
    }
    descr.strip_prefix("|S")?.parse().ok()
}

fn text(data: &[u8], descr: &str) -> Result<String, String> {
    let text = if descr.starts_with("<U") {
        let (units, _) = data.as_chunks::<4>();
        let chars = units.iter().map(|&b| char::from_u32(u32::from_le_bytes(b)));
        chars.collect::<Option<String>>().ok_or("text that is not Unicode")?
    } else {
        String::from_utf8(data.to_vec()).map_err(|_| "text that is not UTF-8")?
    };
    // NumPy pads strings with NUL and drops NULs at the end, too.
    Ok(text.trim_end_matches('\0').to_string())
}

/// Encodes a string scalar: the header and its data.
pub(crate) fn encode_text(text: &str) -> Vec<u8> {
    // NumPy has no string without characters: an empty one is one NUL.
    let n = text.chars().count().max(1);
    let mut bytes = header(&format!("<U{n}"), &[]);
    bytes.extend(text.chars().flat_map(|c| u32::from(c).to_le_bytes()));
    if text.is_empty() {
        bytes.extend([0; 4]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_numpys() {
        // The first bytes of `numpy.save` of `zeros((2, 3))`.
        let want =
            b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
        let got = header("<f8", &[2, 3]);
        assert_eq!(&got[..want.len()], want);
        assert_eq!(got.len(), 128);
        assert_eq!(got.last(), Some(&b'\n'));
        for shape in [&[][..], &[7], &[1, 2, 3]] {
            assert_eq!(header("<f4", shape).len() % 64, 0);
        }
        assert!(String::from_utf8_lossy(&header("<f4", &[7])).contains("(7,)"));
        assert!(String::from_utf8_lossy(&header("<f4", &[])).contains("()"));
    }

    #[test]
    fn fortran_order_is_turned() {
        let mut bytes = String::from_utf8_lossy(&header("<f8", &[2, 3])[10..]).into_owned();
        bytes = bytes.replace("False", "True ");
        let mut file = header("<f8", &[2, 3])[..10].to_vec();
        file.extend(bytes.bytes());
        for v in [0.0, 3.0, 1.0, 4.0, 2.0, 5.0_f64] {
            file.extend(v.to_le_bytes());
        }
        let Ok(Value::F64(a)) = parse(&file) else { panic!("not an f64 array") };
        assert_eq!(a.as_slice(), Some(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0][..]));
        assert_eq!(a.shape(), [2, 3]);
    }

    #[test]
    fn bad_bytes_are_reasons() {
        assert!(parse(b"").is_err());
        assert!(parse(b"\x93NUMPY\x01").is_err());
        assert!(parse(&header("<f8", &[2])).unwrap_err().contains("0 bytes of data"));
        assert!(parse(&header("<c16", &[])).unwrap_err().contains("<c16"));
        let huge = header("<f8", &[usize::MAX, 2]);
        assert!(parse(&huge).is_err());
    }

    #[test]
    fn text_keeps_every_character() {
        for s in ["", "a", "∂ρ/∂t = −∇·(ρv) 🌀", "two\nlines"] {
            assert_eq!(parse(&encode_text(s)), Ok(Value::Text(s.into())));
        }
    }
}
