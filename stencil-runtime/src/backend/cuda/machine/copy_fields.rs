//! Copies fields from another machine on the same card.

use cudarc::driver::PushKernelArg;
use stencil_compiler::plan::BufferRole;

use super::Machine;
use crate::Number;
use crate::backend::cuda::CudaError;

impl<T: Number> Machine<T> {
    /// Copies the values of all fields from a machine for the same system and mesh, whose arrays may have other ghost
    /// cells. Returns `false` if the mesh is cut otherwise, the card is another one, or only one of both machines has
    /// surfaces.
    pub(crate) fn take_fields(&mut self, from: &Self) -> Result<bool, CudaError> {
        let fields = self.fields.buffers.of_role(BufferRole::Field);
        let same = self.courier.is_none()
            && self.cut.patches == from.cut.patches
            && self.card.card.ordinal == from.card.card.ordinal
            && fields == from.fields.buffers.of_role(BufferRole::Field);
        let (theirs, ours) = (from.place_of(fields.first()), self.place_of(fields.first()));
        if !same || theirs.surface != ours.surface {
            return Ok(false);
        }
        from.card.synchronize()?;
        let stream = self.card.stream.clone();
        let config = self.shape.through(self.shape.rows(), 1);
        // The kernel for arrays whose values lie apart also takes arrays whose values do not.
        let take_cells = match theirs.of {
            1 => &self.take_cells,
            _ => &from.take_cells,
        };
        for buffer in &fields {
            let values = from.memory.address(&from.card.stream, from.slots[*buffer]);
            let own = self.memory.address(&stream, self.slots[*buffer]);
            let (theirs, ours) = (from.shape_of(*buffer), self.shape_of(*buffer));
            let mut launch = stream.launch_builder(take_cells);
            launch.arg(&values).arg(&theirs);
            launch.arg(&own).arg(&ours);
            // SAFETY: the arguments are those of the kernel, which reads and writes interior cells;
            // both machines live until it has ended.
            let launched = unsafe { launch.launch(config) };
            launched.map_err(CudaError::driver("copying fields"))?;
        }
        self.card.synchronize()?;
        self.forget(&fields);
        (self.holds, self.has_sent) = (false, false);
        Ok(true)
    }
}
