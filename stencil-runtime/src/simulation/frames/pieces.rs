//! Values of components on their way to the thread: planes as they come from the device or from other ranks, in pieces of
//! bounded length.

use ndarray::{Array3, ArrayView1, ArrayView3};
use stencil_compiler::expr::real::Precision;

use super::super::Simulation;
use super::{Frames, PIECE};
use crate::field::Planes;
use crate::io::Part;
use crate::mesh::Axis;
use crate::{Error, Number};

/// The values of a component.
enum Source<'a, T: Number> {
    /// All of them, at once.
    Whole(Option<ArrayView3<'a, T>>),
    /// Some planes at a time.
    Planes(Planes<'a, T>),
}

/// Planes of a component; none on ranks that do not write.
enum Batch<'a, T> {
    View(ArrayView3<'a, T>),
    Own(Array3<T>),
}

impl<T> Batch<'_, T> {
    fn view(&self) -> ArrayView3<'_, T> {
        match self {
            Batch::View(view) => view.view(),
            Batch::Own(values) => values.view(),
        }
    }
}

impl<'a, T: Number> Source<'a, T> {
    /// Returns the next planes; `None` behind the last ones. All ranks ask together.
    fn next(&mut self, [nx, ny, _]: [usize; 3]) -> Result<Option<Batch<'a, T>>, Error> {
        match self {
            Source::Whole(view) => Ok(view.take().map(Batch::View)),
            Source::Planes(planes) => {
                let Some(values) = planes.next() else {
                    return Ok(None);
                };
                let count = values.len() / (nx * ny);
                let planes = Array3::from_shape_vec((count, ny, nx), values);
                let planes = planes.map_err(|e| Error::Bug(format!("planes of a frame: {e}")))?;
                Ok(Some(Batch::Own(planes)))
            }
        }
    }
}

impl<T: Number> Simulation<T> {
    fn source(&self, name: &str) -> Result<Source<'_, T>, Error> {
        Ok(match self.device.planes(self.component(name)?)? {
            Some(planes) => Source::Planes(planes),
            None => Source::Whole(Some(self.field(name)?)),
        })
    }

    /// Sends the values of a part in pieces; after an error they are taken from other ranks, and dropped.
    pub(super) fn send_part(
        &self,
        part: &Part,
        frames: &mut Frames,
        mut result: Result<(), Error>,
    ) -> Result<(), Error> {
        let mut sources = Vec::new();
        for component in part {
            let name = component.map(|number| frames.layout.components[number].clone());
            sources.push(name.map(|name| self.source(&name)).transpose()?);
        }
        let mut bytes = Vec::new();
        let mut z = 0;
        loop {
            let mut batches = Vec::new();
            for source in &mut sources {
                let next = source.as_mut().map(|source| source.next(self.cells()));
                batches.push(next.transpose()?.flatten());
            }
            let views: Vec<_> = batches.iter().map(|b| b.as_ref().map(Batch::view)).collect();
            let Some(planes) = views.iter().flatten().map(|view| view.dim().0).next() else {
                break;
            };
            if frames.writer.writes() {
                result = result.and_then(|()| send_rows(&views, z, &mut bytes, frames));
            }
            z += planes;
        }
        result?;
        if !bytes.is_empty() {
            frames.writer.piece(bytes)?;
        }
        Ok(frames.writer.end()?)
    }
}

/// Puts the rows of some planes into pieces, and sends those that are full.
fn send_rows<T: Number>(
    views: &[Option<ArrayView3<'_, T>>],
    first: usize,
    bytes: &mut Vec<u8>,
    frames: &mut Frames,
) -> Result<(), Error> {
    let is_double = frames.layout.is_double;
    let is_in = |axis: Axis, at: usize| {
        frames.plane.is_none_or(|(normal, cell)| normal != axis || cell == at)
    };
    let Some((planes, rows, length)) = views.iter().flatten().map(|view| view.dim()).next() else {
        return Ok(());
    };
    let columns = match frames.plane {
        Some((Axis::X, at)) => at..at + 1,
        _ => 0..length,
    };
    let cells = (0..planes).flat_map(|z| (0..rows).map(move |y| (z, y)));
    for (z, y) in cells.filter(|(z, y)| is_in(Axis::Z, first + z) && is_in(Axis::Y, *y)) {
        let rows: Vec<Option<ArrayView1<'_, T>>> = views
            .iter()
            .map(|view| {
                let row = view.as_ref()?.slice(ndarray::s![z, y, columns.clone()]);
                Some(row.reborrow())
            })
            .collect();
        put(&rows, is_double, bytes).map_err(|value| {
            let names = frames.layout.components.join(", ");
            Error::Value {
                what: format!("a value of {names} in z = {}, y = {y} (cells)", first + z),
                value,
                help: "it is beyond the numbers of f32: write frames in f64".into(),
            }
        })?;
        if bytes.len() >= PIECE {
            frames.writer.piece(std::mem::take(bytes))?;
        }
    }
    Ok(())
}

/// Puts the values of rows, those of one cell after the other; a row that is not there has zeros.
///
/// # Errors
/// The first value that has no number in single precision.
fn put<T: Number>(
    rows: &[Option<ArrayView1<'_, T>>],
    is_double: bool,
    bytes: &mut Vec<u8>,
) -> Result<(), f64> {
    let is_same = is_double == (T::PRECISION == Precision::F64);
    if let [Some(row)] = rows
        && let Some(values) = row.as_slice()
        && is_same
    {
        T::append(values, bytes);
        return Ok(());
    }
    let length = rows.iter().flatten().map(ArrayView1::len).next().unwrap_or(0);
    for x in 0..length {
        for row in rows {
            let value = row.as_ref().map_or(0.0, |row| row[x].to_f64());
            if is_double {
                bytes.extend(value.to_le_bytes());
                continue;
            }
            let single = value as f32;
            if single.is_infinite() && value.is_finite() {
                return Err(value);
            }
            bytes.extend(single.to_le_bytes());
        }
    }
    Ok(())
}
