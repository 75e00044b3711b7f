//! Values of components on their way to a file: rows as they come from the device or from other ranks, in pieces of bounded
//! length.

use std::marker::PhantomData;
use std::ops::Range;

use ndarray::{ArrayView1, ArrayView2, s};
use stencil_compiler::diag::Code;
use stencil_compiler::expr::real::Precision;

use super::super::Simulation;
use super::{Frames, PIECE};
use crate::field::{Gathered, InOrder};
use crate::io::{FrameError, Part, Values};
use crate::mesh::Axis;
use crate::{Error, Number};

/// The cells of a part, and how their values are written.
#[derive(Clone, Debug)]
pub(in crate::simulation) struct Cut {
    /// The cells along x, y, z.
    cells: [Range<usize>; 3],
    is_double: bool,
    /// The names of the components, for messages.
    names: String,
}

impl Cut {
    /// Takes the whole mesh, in the precision of the run.
    pub(in crate::simulation) fn whole<T: Number>(cells: [usize; 3], name: &str) -> Self {
        let is_double = T::PRECISION == Precision::F64;
        Cut { cells: cells.map(|n| 0..n), is_double, names: name.to_string() }
    }

    fn of(frames: &Frames, cells: [usize; 3]) -> Self {
        let mut cells = cells.map(|n| 0..n);
        if let Some((normal, at)) = frames.plane {
            cells[normal.index()] = at..at + 1;
        }
        let names = frames.layout.components.join(", ");
        Cut { cells, is_double: frames.layout.is_double, names }
    }

    fn range(&self, axis: Axis) -> Range<usize> {
        self.cells[axis.index()].clone()
    }
}

/// Values of the host.
pub(in crate::simulation) type OnHost<'a, T> = Box<dyn InOrder<T> + 'a>;
/// Values that another thread reads while the run goes on.
type Copied<T> = Box<dyn InOrder<T> + Send>;

impl<T: Number> Simulation<T> {
    /// Returns the values of a component as they are now.
    pub(in crate::simulation) fn in_order(&self, name: &str) -> Result<OnHost<'_, T>, Error> {
        let buffer = self.component(name)?;
        if let Some(copy) = self.device.copied(buffer)? {
            return Ok(copy);
        }
        Ok(match self.device.planes(buffer)? {
            Some(planes) => Box::new(Gathered::new(planes)),
            None => Box::new(self.field(name)?),
        })
    }

    /// Returns copies of all components of a part on the card, if it has room for them.
    fn copied(
        &self,
        part: &Part,
        frames: &Frames,
    ) -> Result<Option<Vec<Option<Copied<T>>>>, Error> {
        let mut copies = Vec::new();
        for component in part {
            let Some(number) = component else {
                copies.push(None);
                continue;
            };
            match self.device.copied(self.component(&frames.layout.components[*number])?)? {
                Some(copy) => copies.push(Some(copy)),
                None => return Ok(None),
            }
        }
        Ok(Some(copies))
    }

    /// Sends the values of a part: copies on the card for the thread to read, or pieces. After an error they are taken from other
    /// ranks, and dropped.
    pub(super) fn send_part(
        &self,
        part: &Part,
        frames: &mut Frames,
        mut result: Result<(), Error>,
    ) -> Result<(), Error> {
        let cut = Cut::of(frames, self.cells());
        if let Some(copies) = self.copied(part, frames)? {
            result?;
            return Ok(frames.writer.part(Box::new(Pieces::new(copies, cut)))?);
        }
        let mut sources = Vec::new();
        for component in part {
            let name = component.map(|number| frames.layout.components[number].clone());
            sources.push(name.map(|name| self.in_order(&name)).transpose()?);
        }
        let mut pieces = Pieces::new(sources, cut);
        while result.is_ok() {
            match pieces.next() {
                Ok(None) => break,
                Ok(Some(bytes)) if bytes.is_empty() => {}
                Ok(Some(bytes)) => result = frames.writer.piece(bytes).map_err(Error::from),
                Err(error) => result = Err(error),
            }
        }
        pieces.finish();
        result?;
        Ok(frames.writer.end()?)
    }
}

impl<T: Number> Values for Pieces<T, Copied<T>> {
    fn next(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        Pieces::next(self).map_err(|error| FrameError::Values {
            code: error.code().unwrap_or(Code::CannotWrite),
            reason: Box::new(error),
        })
    }
}

/// The values of a part, piece by piece.
pub(in crate::simulation) struct Pieces<T, S> {
    /// Components of one cell after the other; `None` stands for zeros.
    sources: Vec<Option<S>>,
    cut: Cut,
    /// The next row: its y and z.
    next: [usize; 2],
    of: PhantomData<fn() -> T>,
}

impl<T: Number, S: InOrder<T>> Pieces<T, S> {
    /// Begins before the first row.
    pub(in crate::simulation) fn new(sources: Vec<Option<S>>, cut: Cut) -> Self {
        let next = [Axis::Y, Axis::Z].map(|axis| cut.range(axis).start);
        Pieces { sources, cut, next, of: PhantomData }
    }

    /// Returns the next bytes, none on ranks that do not write; `None` behind the last row. All ranks ask together.
    ///
    /// # Errors
    /// The first value that has no number in the precision of the file; if the values are on a card that fails.
    pub(in crate::simulation) fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let (ys, zs) = (self.cut.range(Axis::Y), self.cut.range(Axis::Z));
        let [mut y, mut z] = self.next;
        if z == zs.end {
            self.finish();
            return Ok(None);
        }
        // A piece ends with a row.
        let mut bytes = Vec::new();
        while z < zs.end && bytes.len() < PIECE {
            y += self.put_rows(&mut bytes, (z, y..ys.end))?;
            if y == ys.end {
                (y, z) = (ys.start, z + 1);
            }
        }
        self.next = [y, z];
        Ok(Some(bytes))
    }

    /// Takes what is left from other ranks, and drops it.
    pub(in crate::simulation) fn finish(&mut self) {
        self.sources.iter_mut().flatten().for_each(S::finish);
    }

    /// Puts rows of a plane behind the bytes of a piece until it is full; returns their number.
    fn put_rows(
        &mut self,
        bytes: &mut Vec<u8>,
        (z, ys): (usize, Range<usize>),
    ) -> Result<usize, Error> {
        let mut views = Vec::with_capacity(self.sources.len());
        for source in &mut self.sources {
            let rows = source.as_mut().map(|source| source.rows(z, ys.start));
            views.push(rows.transpose()?.flatten());
        }
        let rows = views.iter().flatten().map(|view| view.dim().0).min();
        let Some(rows) = rows.map(|rows| rows.min(ys.len())) else {
            return Ok(ys.len());
        };
        let of_row = views.len() * self.cut.range(Axis::X).len() * size_of::<f64>();
        bytes.reserve((rows * of_row).min(PIECE + of_row));
        for row in 0..rows {
            put_row(&views, row, bytes, &self.cut).map_err(|value| {
                let (names, y) = (&self.cut.names, ys.start + row);
                Error::Value {
                    what: format!("a value of {names} in z = {z}, y = {y} (cells)"),
                    value,
                    help: "it is beyond the numbers of f32: write frames in f64".into(),
                }
            })?;
            if bytes.len() >= PIECE {
                return Ok(row + 1);
            }
        }
        Ok(rows)
    }
}

/// Puts the values of a row of cells, those of one cell after the other; a component that is not there has zeros.
///
/// # Errors
/// The first value that has no number in single precision.
fn put_row<T: Number>(
    views: &[Option<ArrayView2<'_, T>>],
    row: usize,
    bytes: &mut Vec<u8>,
    cut: &Cut,
) -> Result<(), f64> {
    let xs = cut.range(Axis::X);
    let rows = views.iter();
    let rows = rows.map(|view| view.as_ref().map(|view| view.slice(s![row, xs.clone()])));
    let rows: Vec<Option<ArrayView1<'_, T>>> = rows.collect();
    let is_same = cut.is_double == (T::PRECISION == Precision::F64);
    if let [Some(row)] = rows.as_slice()
        && let Some(values) = row.as_slice()
        && is_same
    {
        T::append(values, bytes);
        return Ok(());
    }
    let (first, count) = (bytes.len(), rows.len());
    let width = if cut.is_double { size_of::<f64>() } else { size_of::<f32>() };
    bytes.resize(first + xs.len() * count * width, 0);
    for (number, row) in rows.iter().enumerate() {
        let values = row.iter().flat_map(|row| row.iter().map(|value| value.to_f64()));
        if cut.is_double {
            let places = bytes[first..].as_chunks_mut().0.iter_mut().skip(number).step_by(count);
            places.zip(values).for_each(|(place, value)| *place = value.to_le_bytes());
            continue;
        }
        let places = bytes[first..].as_chunks_mut().0.iter_mut().skip(number).step_by(count);
        for (place, value) in places.zip(values) {
            let single = value as f32;
            if single.is_infinite() && value.is_finite() {
                return Err(value);
            }
            *place = single.to_le_bytes();
        }
    }
    Ok(())
}
