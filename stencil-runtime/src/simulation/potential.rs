//! Initial values without divergence: the curl of a vector potential on edges.

use stencil_compiler::catalogue::operators::staggered;
use stencil_compiler::catalogue::{Centering, Rank};
use stencil_compiler::model::to_f64;

use super::Simulation;
use crate::mesh::Axis;
use crate::{Error, Number};

impl<T: Number> Simulation<T> {
    /// Sets a vector field on faces to the curl of a potential, which is a function of the coordinates: by differences of its
    /// values on edges, so that the divergence of the field is zero up to rounding. The field has three components. A potential
    /// need not be periodic: that of a uniform field is linear.
    ///
    /// ```
    /// # use stencil_runtime::{Simulation, SystemDef};
    /// let light = SystemDef::from_text("light", "
    ///     pub system Light in 2d {
    ///         edge field e: vector<3>; face field b: vector<3>;
    ///         ddt(e) = curl(b); ddt(b) = -curl(e);
    ///         observe largest = max(abs(div(b)));
    ///     }")?;
    /// let mut light = Simulation::<f64>::builder(&light).cells([8, 8, 1]).dt(0.01).build()?;
    /// let wave = |x: f64| (std::f64::consts::TAU * x).sin();
    /// light.set_curl("b", |x, y, _| [0.0, 0.0, wave(x) * wave(y)])?;
    /// light.run(10, |_, _| ())?;
    /// assert!(light.observe()?["largest"] < 1e-12);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such field.
    pub fn set_curl(
        &mut self,
        name: &str,
        potential: impl Fn(f64, f64, f64) -> [f64; 3] + Sync,
    ) -> Result<(), Error> {
        let model = self.system().model();
        let (order, dimension) = (model.scheme.order, model.dimension);
        let on_faces = model.fields.iter().filter(|field| {
            field.centering == Centering::Face
                && field.rank == Rank::Vector
                && model.components == 3
        });
        if !on_faces.clone().any(|field| field.name == name) {
            let known = on_faces.map(|field| field.name.as_str());
            let what = "vector field of three components on faces";
            return Err(Error::unknown(self.system().name(), what, name, known));
        }
        let mesh = self.mesh();
        let edges = [0, 1, 2].map(|axis| mesh.at(Centering::Edge.halves(&[axis], dimension)));
        let slope = |along: usize, of: usize, cell: [isize; 3]| -> f64 {
            if along >= dimension {
                return 0.0;
            }
            let stencil = (staggered::ACROSS.stencil)(order, &[along]);
            let part = |(at, weight): ([i32; 3], _)| {
                let there = std::array::from_fn(|axis| cell[axis] + at[axis] as isize);
                let [x, y, z] = edges[of].point(there);
                to_f64(&weight) * potential(x, y, z)[of]
            };
            stencil.into_iter().map(part).sum::<f64>() / mesh.spacing()[along]
        };
        for axis in Axis::ALL {
            let (next, last) = ((axis.index() + 1) % 3, (axis.index() + 2) % 3);
            let value = |cell| slope(next, last, cell) - slope(last, next, cell);
            self.set_cells(&format!("{name}_{axis}"), value)?;
        }
        Ok(())
    }
}
