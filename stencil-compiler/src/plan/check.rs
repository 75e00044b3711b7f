//! The invariants of a plan.

use std::collections::{BTreeMap, BTreeSet};

use super::make::new_name;
use super::{Buffer, BufferRole, Depth, Launch, Phase, Place, Plan, Region, Step, max3};

impl Plan {
    /// Checks that each buffer is written before it is read, that ghost cells are filled as deep as they are read, that
    /// none is read while it is on its way from another device, and that uniforms are computed before launches.
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
        let mut state = State::new(self);
        for step in &self.steps {
            state.step(step)?;
        }
        state.end()
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
                if let Some(swap) = step {
                    for (a, b) in swap.exchanged() {
                        if let (Some(a), Some(b)) = (find(&a), find(&b)) {
                            places.swap(a, b);
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
            BufferRole::Field
            | BufferRole::NewField
            | BufferRole::Kept
            | BufferRole::Count
            | BufferRole::Given => None,
        };
        let fits = |home: &Buffer| Some(home.role) == homes && home.within.is_none();
        if !before.is_some_and(fits) {
            return Err(format!("`{}` cannot live in the memory of `{home}`", buffer.name));
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
}

/// The state of a walk through the steps of a plan.
struct State<'a> {
    plan: &'a Plan,
    /// Depth to which the values of each buffer are valid; absent if none were written.
    valid: BTreeMap<&'a str, Depth>,
    /// Buffers whose ghost cells are on their way, with the depth.
    under_way: BTreeMap<&'a str, Depth>,
    /// Launches whose interior was computed, but not the rim.
    unfinished: BTreeSet<usize>,
    /// The buffers that these write, each with its launch.
    partial: BTreeMap<&'a str, usize>,
    has_reduced: bool,
    has_accepted: bool,
    has_uniforms: bool,
}

impl<'a> State<'a> {
    fn new(plan: &'a Plan) -> Self {
        let mut valid: BTreeMap<&str, Depth> = BTreeMap::new();
        for buffer in &plan.buffers {
            match buffer.role {
                BufferRole::Field | BufferRole::Count => {
                    valid.insert(&buffer.name, Depth::default())
                }
                BufferRole::Given => valid.insert(&buffer.name, buffer.halo.into()),
                BufferRole::NewField
                | BufferRole::Accumulator
                | BufferRole::Kept
                | BufferRole::Derived => None,
            };
        }
        State {
            plan,
            valid,
            under_way: BTreeMap::new(),
            unfinished: BTreeSet::new(),
            partial: BTreeMap::new(),
            has_reduced: false,
            has_accepted: false,
            has_uniforms: false,
        }
    }

    fn step(&mut self, step: &'a Step) -> Result<(), String> {
        match step {
            Step::Reduce { quantities } => self.reduce(quantities),
            Step::Accept => self.accept(),
            Step::Uniforms if self.has_uniforms => Err("uniforms are computed twice".into()),
            Step::Uniforms => {
                self.has_uniforms = true;
                Ok(())
            }
            Step::Fill { buffers, depth } => {
                buffers.iter().try_for_each(|name| self.fill(name, *depth))
            }
            Step::Exchange { phase: Phase::Post, buffers, depth } => {
                buffers.iter().try_for_each(|name| self.post(name, *depth))
            }
            Step::Exchange { phase: Phase::Wait, buffers, depth } => {
                buffers.iter().try_for_each(|name| self.wait(name, *depth))
            }
            Step::Launch { launch, region } => self.launch(*launch, *region),
            Step::Swap { fields, kept } => self.swap(fields, kept),
        }
    }

    fn end(self) -> Result<(), String> {
        if let Some(name) = self.under_way.keys().next() {
            return Err(format!("ghost cells of `{name}` are on their way at the end"));
        }
        if let Some(at) = self.unfinished.first() {
            return Err(format!("`{}` has no rim", self.plan.launches[*at].name));
        }
        let new = self.plan.buffers.iter().filter(|b| b.role == BufferRole::NewField);
        let mut left = new.filter(|b| self.valid.contains_key(b.name.as_str()));
        match left.next() {
            Some(new) => Err(format!("`{}` has values that are not swapped in", new.name)),
            None => Ok(()),
        }
    }

    fn reduce(&mut self, quantities: &[String]) -> Result<(), String> {
        if self.has_reduced || self.has_uniforms {
            return Err("quantities are reduced once, before the uniforms".into());
        }
        let twice = |at: usize| quantities[..at].contains(&quantities[at]);
        match (0..quantities.len()).find(|at| twice(*at)) {
            Some(at) => return Err(format!("`{}` is reduced twice", quantities[at])),
            None if quantities.is_empty() => return Err("no quantity is reduced".into()),
            None => {}
        }
        self.has_reduced = true;
        Ok(())
    }

    fn accept(&mut self) -> Result<(), String> {
        if !self.has_reduced || self.has_uniforms || self.has_accepted {
            return Err("a step is accepted once, between the quantities and the uniforms".into());
        }
        self.has_accepted = true;
        Ok(())
    }

    fn fill(&mut self, name: &'a str, depth: Depth) -> Result<(), String> {
        let Some(buffer) = self.plan.buffer(name) else {
            return Err(format!("no buffer `{name}` to fill"));
        };
        let deepest = depth.deepest();
        if max3(buffer.halo, deepest) != buffer.halo {
            return Err(format!(
                "`{name}` is filled {deepest:?} deep but has a halo of {:?}",
                buffer.halo
            ));
        }
        self.not_under_way(name, "is filled")?;
        self.not_partial(name, "is filled")?;
        match self.valid.get_mut(name) {
            Some(known) if max3(known.towards, depth.computed) != known.towards => {
                return Err(format!(
                    "`{name}` is filled around {:?} cells where {:?} are computed",
                    depth.computed, known.towards
                ));
            }
            Some(known) => *known = known.join(depth.whole()),
            None => return Err(format!("`{name}` is filled before it is written")),
        }
        Ok(())
    }

    fn post(&mut self, name: &'a str, depth: Depth) -> Result<(), String> {
        self.not_under_way(name, "is sent")?;
        self.not_partial(name, "is sent")?;
        match self.valid.get(name) {
            Some(known) if known.join(depth) == *known => {}
            _ => {
                let deepest = depth.deepest();
                return Err(format!("`{name}` is sent {deepest:?} deep before it is filled"));
            }
        }
        self.under_way.insert(name, depth);
        Ok(())
    }

    fn wait(&mut self, name: &'a str, depth: Depth) -> Result<(), String> {
        match self.under_way.remove(name) {
            Some(sent) if sent == depth => Ok(()),
            _ => Err(format!("nothing of `{name}` {:?} deep is on its way", depth.deepest())),
        }
    }

    fn not_under_way(&self, name: &str, what: &str) -> Result<(), String> {
        match self.under_way.contains_key(name) {
            true => Err(format!("`{name}` {what} while its ghost cells are on their way")),
            false => Ok(()),
        }
    }

    fn not_partial(&self, name: &str, what: &str) -> Result<(), String> {
        match self.partial.get(name) {
            Some(by) => Err(format!(
                "`{name}` {what} before `{}` has computed its rim",
                self.plan.launches[*by].name
            )),
            None => Ok(()),
        }
    }

    fn launch(&mut self, at: usize, region: Region) -> Result<(), String> {
        let plan = self.plan;
        let Some(launch) = plan.launches.get(at) else {
            return Err(format!("no launch {at}"));
        };
        let name = &launch.name;
        if !self.has_uniforms {
            return Err(format!("`{name}` runs before its uniforms are computed"));
        }
        if self.unfinished.remove(&at) != (region == Region::Rim) {
            return Err(format!("`{name}` runs its rim once, after its interior"));
        }
        self.partial.retain(|_, by| *by != at);
        self.reads(launch, region)?;
        for (output, _) in &launch.outputs {
            self.write((at, region), output)?;
            if region == Region::Interior {
                self.partial.insert(output, at);
            } else {
                self.valid.insert(output, launch.computed());
            }
        }
        if region == Region::Interior {
            self.unfinished.insert(at);
        }
        Ok(())
    }

    /// Are the inputs of a launch valid as deep as it reads them?
    fn reads(&self, launch: &Launch, region: Region) -> Result<(), String> {
        for (name, read) in &launch.inputs {
            let [needed, beyond] = [launch.depth(*read), launch.beyond(*read)];
            self.not_partial(name, &format!("is read by `{}`", launch.name))?;
            match self.valid.get(name.as_str()) {
                None => {
                    return Err(format!("`{}` reads `{name}` before it is written", launch.name));
                }
                // Nothing is made of counts of other devices' cells.
                Some(_) if self.is_count(name) && *read == [0; 3] => {}
                Some(Depth { towards, .. }) if max3(*towards, needed) != *towards => {
                    return Err(format!(
                        "`{}` reads `{name}` {needed:?} deep where {towards:?} is filled",
                        launch.name
                    ));
                }
                Some(depth) if max3(depth.beyond, beyond) != depth.beyond => {
                    return Err(format!(
                        "`{}` reads `{name}` {beyond:?} beyond faces where {:?} is filled",
                        launch.name, depth.beyond
                    ));
                }
                Some(_) => {}
            }
            if region != Region::Interior && needed != [0; 3] {
                self.not_under_way(name, &format!("is read by `{}`", launch.name))?;
            }
        }
        Ok(())
    }

    fn is_count(&self, name: &str) -> bool {
        self.plan.buffer(name).is_some_and(|buffer| buffer.role == BufferRole::Count)
    }

    fn write(&mut self, (at, region): (usize, Region), name: &'a str) -> Result<(), String> {
        let launch = &self.plan.launches[at];
        match self.plan.buffer(name).map(|b| b.role) {
            None => {
                return Err(format!("`{}` writes `{name}`, which is no buffer", launch.name));
            }
            Some(BufferRole::Given) => {
                return Err(format!("`{}` writes `{name}`, which is given", launch.name));
            }
            Some(_) => {}
        }
        self.not_under_way(name, &format!("is written by `{}`", launch.name))?;
        self.not_partial(name, &format!("is written by `{}`", launch.name))?;
        self.not_read_later(at, name)?;
        for other in self.plan.sharing(name) {
            // Each thread reads its own cell of an accumulator, and then writes it.
            let in_place = self.plan.array_of(other) == name;
            let used =
                |(used, read): &(String, [u32; 3])| used == other && (!in_place || *read != [0; 3]);
            let written = launch.outputs.iter().any(|(used, _)| used == other);
            if written || launch.inputs.iter().any(used) {
                return Err(format!(
                    "`{}` uses `{other}` and writes `{name}` to the same memory",
                    launch.name
                ));
            }
            self.not_under_way(other, &format!("loses its memory to `{}`", launch.name))?;
            self.not_read_later(at, other)?;
            match region {
                Region::Interior if in_place => drop(self.partial.insert(other, at)),
                _ => drop(self.valid.remove(other)),
            }
        }
        Ok(())
    }

    /// Has every launch but this one that reads a buffer computed its rim, too?
    fn not_read_later(&self, by: usize, name: &str) -> Result<(), String> {
        let launches = &self.plan.launches;
        let reads =
            |at: &&usize| **at != by && launches[**at].inputs.iter().any(|(n, _)| n == name);
        match self.unfinished.iter().find(reads) {
            Some(at) => Err(format!(
                "`{name}` is overwritten before `{}` has computed its rim",
                launches[*at].name
            )),
            None => Ok(()),
        }
    }

    fn swap(&mut self, fields: &'a [String], kept: &'a [(String, String)]) -> Result<(), String> {
        if let Some(at) = self.unfinished.first() {
            let name = &self.plan.launches[*at].name;
            return Err(format!("fields are swapped before `{name}` has computed its rim"));
        }
        let mut old: BTreeMap<&str, Depth> = BTreeMap::new();
        for name in fields {
            self.not_under_way(name, "is swapped")?;
            let Some((new, depth)) = self.valid.remove_entry(new_name(name).as_str()) else {
                return Err(format!("`{name}` is swapped with new values that were not written"));
            };
            let before = self.valid.insert(name, depth).unwrap_or_default();
            // The array for its new values has the previous ones.
            let previous = self.plan.sharing(new);
            self.valid.extend(previous.map(|previous| (previous, before)));
            old.insert(name.as_str(), before);
        }
        for (at, (field, name)) in kept.iter().enumerate() {
            let halo = self.plan.buffer(&new_name(field)).map(|b| b.halo);
            let is_alike = |b: &Buffer| b.role == BufferRole::Kept && Some(b.halo) == halo;
            let is_kept = self.plan.buffer(name).is_some_and(is_alike);
            let twice = kept[..at].iter().any(|(f, n)| f == field || n == name);
            let shares = self.plan.sharing(&new_name(field)).next().is_some();
            if !is_kept || twice || shares || !fields.contains(field) {
                return Err(format!("`{name}` cannot take the previous values of `{field}`"));
            }
            self.not_under_way(name, "is swapped")?;
            self.valid.insert(name, old[field.as_str()]);
        }
        let derived = self.plan.buffers.iter();
        for buffer in derived.filter(|b| b.role == BufferRole::Derived) {
            self.valid.remove(buffer.name.as_str());
        }
        Ok(())
    }
}
