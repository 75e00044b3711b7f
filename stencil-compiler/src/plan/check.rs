//! The invariants of a plan.

use std::collections::BTreeMap;

use super::make::new_name;
use super::{Buffer, BufferRole, Place, Plan, Step, max3};

impl Plan {
    /// Checks that each buffer is written before it is read and that ghost cells are filled as
    /// deep as they are read.
    ///
    /// # Errors
    /// Names the launch and the buffer.
    pub fn check(&self) -> Result<(), String> {
        if self.time_steps == 0 {
            return Err("it is no time step".into());
        }
        for (at, buffer) in self.buffers.iter().enumerate() {
            if self.buffers[..at].iter().any(|b| b.name == buffer.name) {
                return Err(format!("two buffers are named `{}`", buffer.name));
            }
            self.check_memory(at, buffer)?;
        }
        // Depth to which the content of each buffer is valid; absent where nothing was written.
        let mut valid: BTreeMap<&str, [u32; 3]> = BTreeMap::new();
        for buffer in &self.buffers {
            match buffer.role {
                BufferRole::Field | BufferRole::Count => valid.insert(&buffer.name, [0; 3]),
                BufferRole::Given => valid.insert(&buffer.name, buffer.halo),
                BufferRole::NewField | BufferRole::Accumulator | BufferRole::Derived => None,
            };
        }
        for step in &self.steps {
            match step {
                Step::Fill { buffers, depth } => {
                    for name in buffers {
                        let Some(buffer) = self.buffer(name) else {
                            return Err(format!("no buffer `{name}` to fill"));
                        };
                        if max3(buffer.halo, *depth) != buffer.halo {
                            return Err(format!(
                                "`{name}` is filled {depth:?} deep but has a halo of {:?}",
                                buffer.halo
                            ));
                        }
                        match valid.get_mut(name.as_str()) {
                            Some(known) => *known = max3(*known, *depth),
                            None => return Err(format!("`{name}` is filled before it is written")),
                        }
                    }
                }
                Step::Launch(at) => self.check_launch(*at, &mut valid)?,
                Step::Swap { fields } => {
                    for name in fields {
                        let new = new_name(name);
                        let Some((new, _)) = valid.remove_entry(new.as_str()) else {
                            return Err(format!(
                                "`{name}` is swapped with new values that were not written"
                            ));
                        };
                        valid.insert(name, [0; 3]);
                        // The array for its new values has the previous ones.
                        valid.extend(self.sharing(new).map(|previous| (previous, [0; 3])));
                    }
                    let derived = self
                        .buffers
                        .iter()
                        .filter(|b| b.role == BufferRole::Derived);
                    for buffer in derived {
                        valid.remove(buffer.name.as_str());
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks that arrays which a kernel copies as one are where it takes them to be, in this order: each by itself, and as
    /// far from the one before as at first, whatever changes places in this step and in the next ones.
    ///
    /// # Errors
    /// Names the arrays, and where they are.
    pub fn check_apart(&self, arrays: &[&str]) -> Result<(), String> {
        let find = |name: &str| self.buffers.iter().position(|b| b.name == name);
        let of: Option<Vec<usize>> = arrays.iter().map(|name| find(name)).collect();
        let of = of.ok_or_else(|| format!("{arrays:?} are not all in the plan"))?;
        let [first, second, ..] = of[..] else {
            return Ok(());
        };
        let begin = self.places();
        let between = begin[second].before.saturating_sub(begin[first].before);
        let mut places = begin.clone();
        loop {
            for step in [None].into_iter().chain(self.steps.iter().map(Some)) {
                if let Some(Step::Swap { fields }) = step {
                    for name in fields {
                        if let (Some(old), Some(new)) = (find(name), find(&new_name(name))) {
                            places.swap(old, new);
                        }
                    }
                }
                let before = places[first].before;
                let is_there = |(at, array): (usize, &usize)| {
                    places[*array] == Place::alone(before + at * between)
                };
                if between == 0 || !of.iter().enumerate().all(is_there) {
                    let places: Vec<usize> = of.iter().map(|at| places[*at].before).collect();
                    return Err(format!("{arrays:?} have {places:?} arrays before them"));
                }
            }
            // What changes places once a step is back after two.
            if places == begin {
                return Ok(());
            }
        }
    }

    /// Only stored functions share memory, and only with one that has its own; and accumulators with new values of fields.
    fn check_memory(&self, at: usize, buffer: &Buffer) -> Result<(), String> {
        let Some(home) = &buffer.within else {
            return Ok(());
        };
        let before = self.buffers[..at].iter().find(|b| b.name == *home);
        let homes = match buffer.role {
            BufferRole::Derived => Some(BufferRole::Derived),
            BufferRole::Accumulator => Some(BufferRole::NewField),
            BufferRole::Field | BufferRole::NewField | BufferRole::Count | BufferRole::Given => {
                None
            }
        };
        let fits = |home: &Buffer| Some(home.role) == homes && home.within.is_none();
        if !before.is_some_and(fits) {
            return Err(format!(
                "`{}` cannot live in the memory of `{home}`",
                buffer.name
            ));
        }
        Ok(())
    }

    /// Buffers other than this one that live in its memory.
    fn sharing<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let home = |buffer: &'a Buffer| buffer.within.as_ref().unwrap_or(&buffer.name);
        let own = self.buffer(name).map(home);
        let others = self.buffers.iter().filter(move |b| b.name != name);
        let others = others.filter(move |b| Some(home(b)) == own);
        others.map(|b| b.name.as_str())
    }

    fn check_launch<'a>(
        &'a self,
        at: usize,
        valid: &mut BTreeMap<&'a str, [u32; 3]>,
    ) -> Result<(), String> {
        let Some(launch) = self.launches.get(at) else {
            return Err(format!("no launch {at}"));
        };
        for (name, read) in &launch.inputs {
            let needed = launch.depth(*read);
            match valid.get(name.as_str()) {
                None => {
                    return Err(format!(
                        "`{}` reads `{name}` before it is written",
                        launch.name
                    ));
                }
                Some(depth) if max3(*depth, needed) != *depth => {
                    return Err(format!(
                        "`{}` reads `{name}` {needed:?} deep where {depth:?} is filled",
                        launch.name
                    ));
                }
                Some(_) => {}
            }
        }
        for (name, _) in &launch.outputs {
            match self.buffer(name).map(|b| b.role) {
                None => {
                    return Err(format!(
                        "`{}` writes `{name}`, which is no buffer",
                        launch.name
                    ));
                }
                Some(BufferRole::Given) => {
                    return Err(format!("`{}` writes `{name}`, which is given", launch.name));
                }
                Some(_) => {}
            }
            for other in self.sharing(name) {
                // Each thread reads its own cell of an accumulator, and then writes it.
                let in_place = self.array_of(other) == name && launch.extend == [0; 3];
                let used = |(used, read): &(String, [u32; 3])| {
                    used == other && (!in_place || *read != [0; 3])
                };
                let written = launch.outputs.iter().any(|(used, _)| used == other);
                if written || launch.inputs.iter().any(used) {
                    return Err(format!(
                        "`{}` uses `{other}` and writes `{name}` to the same memory",
                        launch.name
                    ));
                }
                valid.remove(other);
            }
            valid.insert(name, launch.extend);
        }
        Ok(())
    }
}
