//! The places of the arrays of a plan in the memory of a card.

use std::collections::BTreeMap;

use stencil_compiler::plan::{BufferRole, Place, Plan};

/// Returns the slot of each buffer in memory; some buffers share one.
pub(in crate::backend::cuda) fn slots(plan: &Plan) -> Vec<usize> {
    let mut next = 0;
    let mut slots: Vec<usize> = Vec::with_capacity(plan.buffers.len());
    for at in 0..plan.buffers.len() {
        let shared = slots.get(plan.memory_of(at)).copied();
        slots.push(shared.unwrap_or(next));
        next += usize::from(shared.is_none());
    }
    slots
}

/// Returns the places of the arrays of a plan in memory, by their slots, and of so many more behind them.
pub(in crate::backend::cuda) fn places(plan: &Plan, more: usize) -> Vec<Place> {
    let (slots, of_buffers) = (slots(plan), plan.places());
    let home = |slot: usize| slots.iter().position(|own| *own == slot);
    // Slots behind the plan's count arrays alone, without surfaces.
    let surfaces = (0..plan.memories()).filter_map(home);
    let surfaces = surfaces.filter(|buffer| of_buffers[*buffer].surface).count();
    let behind = |slot: usize| Place::alone(slot - surfaces);
    let place = |slot| home(slot).map_or_else(|| behind(slot), |buffer| of_buffers[buffer]);
    (0..plan.memories() + more).map(place).collect()
}

/// Returns the slots of copies of fields and counts, by their buffers: behind the slots of the plan.
pub(super) fn kept(plan: &Plan) -> BTreeMap<usize, usize> {
    let lasts = |role: BufferRole| matches!(role, BufferRole::Field | BufferRole::Count);
    let buffers = plan.buffers.iter().enumerate();
    let kept = buffers.filter(|(_, buffer)| lasts(buffer.role));
    kept.map(|(at, _)| at).zip(plan.memories()..).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use stencil_compiler::schedule::text;

    use super::*;
    use crate::SystemDef;

    /// No two values share a place, whatever is kept, and buffers that change places have the same layout.
    #[test]
    fn each_value_has_a_place_of_its_own() {
        let source = "pub system Waves in 2d { field h: scalar; field v: vector;
            ddt(h) = -div(v); ddt(v) = -grad(h); }
            scheme s for Waves { space: central<order = 2>; time: rk3_williamson; }
            scheme accumulators for Waves { space: central<order = 2>; time: rk3_williamson<storage = accumulator>; }
            scheme kept for Waves { space: central<order = 2>; time: ssprk3; }";
        let system = SystemDef::from_text("waves.pde", source).unwrap();
        have_places_of_their_own(&system);
        have_places_of_their_own(&system.with_scheme("accumulators").unwrap());
        have_places_of_their_own(&system.with_scheme("kept").unwrap());
    }

    fn have_places_of_their_own(system: &SystemDef) {
        for (layout, apart, surface) in [("soa", 1, false), ("aos", 3, false), ("surface", 1, true)]
        {
            let schedule = text::parse(&format!("schedule layout {layout} kernel direct"));
            let plan =
                stencil_compiler::plan::plan(system.algorithm(), &schedule.unwrap(), [false; 3]);
            let plan = plan.unwrap();
            let (kept, slots) = (kept(&plan), slots(&plan));
            let places = places(&plan, kept.len());
            assert_eq!(places.len(), plan.memories() + kept.len());
            let room = 7;
            let cells = |place: &Place| (0..room).map(|cell| place.value(cell, room)).collect();
            for surface in [false, true] {
                let alike = places.iter().filter(|place| place.surface == surface);
                let all: Vec<Vec<usize>> = alike.map(cells).collect();
                let count = all.len() * room;
                let all: BTreeSet<usize> = all.into_iter().flatten().collect();
                assert!(all.into_iter().eq(0..count));
            }
            for (field, slot) in &kept {
                let (of_field, of_kept) = (places[slots[*field]], places[*slot]);
                assert_eq!((of_field.of, of_field.surface), (apart, surface));
                assert_eq!((of_kept.of, of_kept.surface), (1, false));
            }
            for buffer in &plan.buffers {
                let at = |name: &str| plan.buffers.iter().position(|b| b.name == name);
                let new = at(&format!("{}_new", buffer.name));
                if let (Some(old), Some(new)) = (at(&buffer.name), new) {
                    let lies = |buffer: usize| {
                        let place = places[slots[buffer]];
                        (place.of, place.surface)
                    };
                    assert_eq!(lies(old), lies(new));
                }
            }
        }
    }
}
