//! Fourier modes of a real field on a box.
//!
//! The transforms use plain arithmetic, without special instructions of a processor, which would add in another order
//! on another machine.

use ndarray::{Array3, ArrayView3};
use rayon::prelude::*;
use realfft::RealFftPlanner;
use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftPlanner};

/// Modes [y][kx][z] for kx from 0 to half of the cells; the others are their conjugates.
pub(super) type Modes = Vec<Complex64>;

const ZERO: Complex64 = Complex64::new(0.0, 0.0);

/// Returns the modes of a field `[z, y, x]`, divided by the number of cells.
pub(super) fn modes(field: &ArrayView3<'_, f64>) -> Modes {
    let (nz, ny, nx) = field.dim();
    let half = nx / 2 + 1;
    let mut planes = along_x(field);
    if ny > 1 {
        let fft = FftPlanner::new().plan_fft_forward(ny);
        planes.par_chunks_mut(ny * half).for_each(|plane| along_y(plane, half, &*fft));
    }
    let fft = FftPlanner::new().plan_fft_forward(nz);
    let scale = 1.0 / (nx * ny * nz) as f64;
    let mut modes = vec![ZERO; ny * half * nz];
    modes.par_chunks_mut(half * nz).enumerate().for_each(|(y, plane)| {
        for (z, source) in planes.chunks(ny * half).enumerate() {
            for (i, mode) in source[y * half..(y + 1) * half].iter().enumerate() {
                plane[i * nz + z] = mode * scale;
            }
        }
        fft.process(plane);
    });
    modes
}

/// Transforms rows to modes: [z][y][kx].
fn along_x(field: &ArrayView3<'_, f64>) -> Vec<Complex64> {
    let (nz, ny, nx) = field.dim();
    let half = nx / 2 + 1;
    let fft = RealFftPlanner::new().plan_fft_forward(nx);
    let mut modes = vec![ZERO; nz * ny * half];
    modes.par_chunks_mut(half).enumerate().for_each_init(
        || (fft.make_input_vec(), fft.make_scratch_vec()),
        |(row, scratch), (line, modes)| {
            let values = field.slice(ndarray::s![line / ny, line % ny, ..]);
            row.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
            let done = fft.process_with_scratch(row, modes, scratch);
            debug_assert!(done.is_ok(), "buffers of the planner's own lengths");
        },
    );
    modes
}

/// Transforms the columns of a plane [y][kx] in place.
fn along_y(plane: &mut [Complex64], half: usize, fft: &dyn Fft<f64>) {
    let ny = plane.len() / half;
    let mut turned = vec![ZERO; plane.len()];
    for (y, row) in plane.chunks(half).enumerate() {
        for (i, mode) in row.iter().enumerate() {
            turned[i * ny + y] = *mode;
        }
    }
    fft.process(&mut turned);
    for (y, row) in plane.chunks_mut(half).enumerate() {
        for (i, mode) in row.iter_mut().enumerate() {
            *mode = turned[i * ny + y];
        }
    }
}

/// Returns the field `[z, y, x]` of all modes [z][y][x], the opposite of each its conjugate.
pub(super) fn field(mut modes: Vec<Complex64>, [nx, ny, nz]: [usize; 3]) -> Array3<f64> {
    let mut planner = FftPlanner::new();
    planner.plan_fft_inverse(nx).process(&mut modes);
    let fft = planner.plan_fft_inverse(ny);
    modes.par_chunks_mut(nx * ny).for_each(|plane| along_y(plane, nx, &*fft));
    along_y(&mut modes, nx * ny, &*planner.plan_fft_inverse(nz));
    Array3::from_shape_fn((nz, ny, nx), |(z, y, x)| modes[(z * ny + y) * nx + x].re)
}
