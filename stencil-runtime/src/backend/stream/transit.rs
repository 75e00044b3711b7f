//! The choice of the slabs of a mesh that is to pass through a device, and of the steps of a pass.

use stencil_compiler::plan::{BufferRole, Plan, max3};

use super::{Bus, CROSS, PassTime, Passes, Rates, Slabs, WINDOWS, overlap};
use crate::Error;
use crate::field::{Shape, memory_use};

/// Slabs that a mesh is cut into if no memory is given, or fewer if these are too thin.
const SIMULATED: usize = 4;

/// A mesh in the memory of the host that is to pass through a device, and all that decides how.
#[derive(Clone, Debug)]
pub struct Transit<'a> {
    plan: &'a Plan,
    cells: [usize; 3],
    /// The axis along which it is cut into slabs.
    axis: usize,
    is_periodic: bool,
    /// Ghost cells of the arrays.
    halo: [usize; 3],
    value_bytes: usize,
    /// Bytes that the arrays may take of the device.
    budget: Option<usize>,
    rates: Option<Rates>,
    adapts: bool,
}

impl<'a> Transit<'a> {
    /// Returns the way of a mesh of so many cells, which is cut along an axis that is or is not periodic, by the plan of single
    /// steps. Arrays have ghost cells to this depth at least, and so many bytes a value. They are in the memory of a device that a run may take so many bytes of;
    /// without a number the processor stands for the device.
    pub fn new(
        plan: &'a Plan,
        (cells, halo, value_bytes): ([usize; 3], [usize; 3], usize),
        (axis, is_periodic): (usize, bool),
        budget: Option<usize>,
    ) -> Self {
        // Also where kernels read around the ends of an axis.
        let reads = plan.launches.iter().flat_map(|launch| {
            let reads = launch.inputs.iter().map(|(_, read)| *read);
            reads.map(|read| std::array::from_fn(|axis| read[axis] + launch.extend[axis]))
        });
        let own = reads.fold(plan.halo(), max3);
        Transit {
            plan,
            cells,
            axis,
            is_periodic,
            halo: std::array::from_fn(|axis| halo[axis].max(own[axis] as usize)),
            value_bytes,
            budget,
            rates: None,
            adapts: false,
        }
    }

    /// Returns the same with a bus and a memory of the device that copies so many bytes in a second, read and written: passes
    /// have predicted times then.
    pub fn by(self, bus: Bus, copy_bytes: f64) -> Self {
        Transit { rates: Some(Rates { bus, copy_bytes }), ..self }
    }

    /// Returns the same with steps whose length adapts: a pass does one of them, and waits for the pass before.
    pub fn adapting(self, adapts: bool) -> Self {
        Transit { adapts, ..self }
    }

    /// Has the device room for the whole mesh?
    pub fn fits(&self) -> bool {
        self.budget.is_none_or(|budget| self.bytes(self.cells) <= budget)
    }

    /// Returns how the mesh passes if each pass does so many steps.
    ///
    /// # Errors
    /// If the device has no room for slabs that are as thick as so many steps need.
    pub fn passes(&self, steps: usize) -> Result<Passes, Error> {
        Ok(self.shown(&self.slabs(steps)?))
    }

    /// Returns the passes that [`best`](Self::best) compares, of one step, two, and so on.
    ///
    /// # Errors
    /// If the device has no room for slabs of one step.
    pub fn compared(&self) -> Result<Vec<Passes>, Error> {
        Ok(self.candidates()?.iter().map(|slabs| self.shown(slabs)).collect())
    }

    /// Returns the passes whose steps take least time by the model, of equals those of fewest steps; those of one step if the
    /// rates of the device are unknown.
    ///
    /// # Errors
    /// If the device has no room for slabs of one step.
    pub fn best(&self) -> Result<Passes, Error> {
        Ok(self.shown(&self.best_slabs()?))
    }

    pub(crate) fn best_slabs(&self) -> Result<Slabs, Error> {
        let all = self.candidates()?.into_iter();
        let best = all.min_by(|a, b| a.seconds_of_a_step().total_cmp(&b.seconds_of_a_step()));
        best.ok_or_else(|| Error::Bug("no slabs of one step".into()))
    }

    /// Returns slabs of one step, two, and so on, until the steps take longer than all copies: still more steps in a pass
    /// only compute more layers twice.
    fn candidates(&self) -> Result<Vec<Slabs>, Error> {
        let mut all = vec![self.slabs(1)?];
        while let Slabs { time: Some(time), all: parts, .. } = &all[all.len() - 1]
            && !self.adapts
            && parts.len() > 1
            && time.steps < time.up.max(time.down)
            && let Ok(next) = self.slabs(all.len() + 1)
        {
            all.push(next);
        }
        Ok(all)
    }

    /// Cuts the mesh into slabs for the windows of the device, each of which does so many steps.
    pub(crate) fn slabs(&self, steps: usize) -> Result<Slabs, Error> {
        let (axis, layers) = (self.axis, self.cells[self.axis]);
        let deep = overlap(self.plan, axis, steps).ok_or_else(|| {
            let carried = "the scheme carries values from step to step beside its fields";
            refused(carried, "leave streaming off")
        })?;
        let most = match self.budget {
            Some(budget) => self.layers(budget / WINDOWS),
            None => layers.div_ceil((layers / deep.max(1)).clamp(1, SIMULATED)) + 2 * deep,
        };
        let slabs = Slabs::new((axis, layers, self.is_periodic), (deep, steps), most);
        let slabs = slabs.ok_or_else(|| too_thin(most, deep, steps))?;
        Ok(Slabs { time: self.time(&slabs), ..slabs })
    }

    /// Returns the time of a pass of slabs by the model.
    fn time(&self, slabs: &Slabs) -> Option<PassTime> {
        let (up, down) = self.moved(slabs);
        let by = (self.rates.as_ref()?, self.plan);
        Some(PassTime::new(slabs, by, (self.layer_bytes(), [up, down]), self.adapts))
    }

    /// Returns the bytes that a pass moves to the device, and back.
    fn moved(&self, slabs: &Slabs) -> (usize, usize) {
        let [up, down] = slabs.moved();
        let back = self.arrays(&[BufferRole::Field, BufferRole::Count]);
        (up * self.layer_bytes() * self.arrays(&CROSS), down * self.layer_bytes() * back)
    }

    fn shown(&self, slabs: &Slabs) -> Passes {
        let (up, down) = self.moved(slabs);
        Passes {
            slabs: slabs.all.len(),
            layers: slabs.window,
            overlap: slabs.overlap,
            steps: slabs.steps,
            up,
            down,
            host: self.array_bytes(self.cells).saturating_mul(self.arrays(&CROSS)),
            time: slabs.time,
        }
    }

    /// Returns the arrays that have these roles.
    fn arrays(&self, roles: &[BufferRole]) -> usize {
        self.plan.buffers.iter().filter(|buffer| roles.contains(&buffer.role)).count()
    }

    /// Returns the bytes of a layer of an array.
    fn layer_bytes(&self) -> usize {
        let shape = Shape::new(self.cells, self.halo, self.value_bytes);
        shape.map_or(0, |shape| shape.layers(self.axis, 0..1).len() * self.value_bytes)
    }

    fn array_bytes(&self, cells: [usize; 3]) -> usize {
        let shape = Shape::new(cells, self.halo, self.value_bytes);
        shape.map_or(usize::MAX, |shape| shape.array_bytes(self.value_bytes))
    }

    /// Returns the bytes of all arrays of so many cells on the device.
    pub fn bytes(&self, cells: [usize; 3]) -> usize {
        let all = memory_use::arrays_of(self.plan, false, false).map(|(_, count)| count);
        self.array_bytes(cells).saturating_mul(all.sum())
    }

    /// Returns the most layers whose arrays fit into so many bytes of the device.
    fn layers(&self, bytes: usize) -> usize {
        let fits = |layers: usize| {
            let mut cells = self.cells;
            cells[self.axis] = layers;
            self.bytes(cells) <= bytes
        };
        let (mut low, mut high) = (0, self.cells[self.axis] + 1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) { low = middle } else { high = middle }
        }
        low
    }
}

fn too_thin(most: usize, deep: usize, steps: usize) -> Error {
    let steps_need = match steps {
        1 => "a step needs".to_string(),
        several => format!("{several} steps need"),
    };
    let reason = format!(
        "a window of {most} layers has no room for a slab of {deep} layers and as many of both neighbours, which \
         {steps_need}"
    );
    let help = match steps {
        1 => "give it more memory of the card, or fewer cells along the other axes",
        _ => "do fewer steps at once, or give it more memory of the card",
    };
    refused(&reason, help)
}

pub(crate) fn refused(reason: &str, help: &str) -> Error {
    Error::Stream { reason: reason.into(), help: help.into() }
}

#[cfg(test)]
mod tests {
    use stencil_compiler::cost::MODELS;
    use stencil_compiler::plan::plan;
    use stencil_compiler::schedule::text::parse;

    use super::*;
    use crate::SystemDef;

    fn plan_of(order: usize, time: &str) -> Plan {
        let system = SystemDef::from_text(
            "heat.pde",
            &format!(
                "pub system Heat in 3d {{ field q: scalar; ddt(q) = lap(q); }}
                 scheme s for Heat {{ space: central<order = {order}>; time: {time}; }}"
            ),
        );
        plan(system.unwrap().algorithm(), &parse("schedule kernel direct").unwrap(), [false; 3])
            .unwrap()
    }

    /// Each choice takes at most a tenth longer than the fastest of all that are possible.
    #[test]
    fn the_steps_of_a_pass_suit_the_bus_and_the_card() {
        let (cells, mut chosen) = ([256, 256, 1024], Vec::new());
        for (order, time) in [(2, "euler"), (6, "rk3_williamson")] {
            let plan = plan_of(order, time);
            for model in MODELS {
                for up in [1e9, 6e9, 12e9, 25e9, 50e9, 200e9, 450e9] {
                    for (down, room) in [(1.0, 2), (0.5, 4), (1.5, 8)] {
                        let bus = Bus { up, down: down * up, both: [up, down * up] };
                        let whole =
                            Transit::new(&plan, (cells, [0; 3], 4), (2, true), None).bytes(cells);
                        let transit =
                            Transit::new(&plan, (cells, [0; 3], 4), (2, true), Some(whole / room));
                        let transit = transit.by(bus, model.rates.copy_bytes);
                        assert!(!transit.fits());
                        let step =
                            |passes: &Passes| passes.time.unwrap().seconds() / passes.steps as f64;
                        let best = transit.best().unwrap();
                        let all = (1..).map_while(|steps| transit.passes(steps).ok());
                        let least = all.map(|passes| step(&passes)).fold(f64::INFINITY, f64::min);
                        assert!(
                            step(&best) <= 1.1 * least,
                            "{} {bus:?} 1/{room}: {best:?}",
                            model.name
                        );
                        chosen.push(best.steps);
                    }
                }
            }
        }
        // A fast bus needs one step a pass, a slow one many.
        assert!(chosen.contains(&1) && chosen.iter().any(|steps| *steps > 16), "{chosen:?}");
    }

    #[test]
    fn without_rates_and_for_steps_that_adapt_a_pass_has_one_step() {
        let plan = plan_of(2, "euler");
        let transit = Transit::new(&plan, ([16, 16, 64], [0; 3], 8), (2, true), Some(600_000));
        assert_eq!((transit.best().unwrap().steps, transit.compared().unwrap().len()), (1, 1));
        let bus = Bus { up: 1e9, down: 1e9, both: [1e9; 2] };
        let transit = transit.by(bus, 1e12);
        assert!(transit.best().unwrap().steps > 1);
        assert_eq!(transit.adapting(true).compared().unwrap().len(), 1);
    }

    #[test]
    fn a_window_that_is_too_small_is_refused() {
        let plan = plan_of(6, "rk3_williamson");
        let transit = Transit::new(&plan, ([64, 64, 64], [0; 3], 8), (2, true), Some(1_000_000));
        let error = transit.best().unwrap_err().to_string();
        assert!(error.contains("which a step needs"), "{error}");
    }
}
