//! Lifetimes: what shares memory, and what a check finds where it may not.

use super::{Plan, Region, Step, plan, text};
use crate::algorithm::text::parse;
use crate::schedule::{self, Overlap};

/// Each function reads the one before at two cells, and its own at the end.
const CHAIN: &str = "algorithm Chain 1d scheme \"chain\"
state q field
fn q = state q
fn a = q[1,0,0] - q[-1,0,0]
fn b = a[1,0,0] - a[-1,0,0]
fn c = b[1,0,0] - b[-1,0,0]
fn d = c[1,0,0] - c[-1,0,0]
fn e = d + q
fn q_1 = q + e
substep { q = q_1 }";

fn planned(placed: &str, kernels: usize) -> Plan {
    let lines = "kernel direct ".repeat(kernels);
    let schedule = schedule::text::parse(&format!("schedule {placed} {lines}")).unwrap();
    let plan = plan(&parse(CHAIN).unwrap(), &schedule, [false; 3]).unwrap();
    plan.check().unwrap();
    assert_eq!(text::parse(&text::print(&plan)).unwrap(), plan);
    plan
}

fn all() -> Plan {
    planned("place a global exchange place b global exchange place c global exchange", 4)
}

#[test]
fn what_is_never_needed_at_once_shares_memory() {
    let plan = all();
    assert_eq!(plan.buffer("a").unwrap().within, None);
    assert_eq!(plan.buffer("b").unwrap().within, None);
    assert_eq!(plan.buffer("c").unwrap().within.as_deref(), Some("a"));
    assert_eq!((plan.buffers.len(), plan.memories()), (5, 4));
    assert!(text::print(&plan).contains("buffer c derived halo [1, 0, 0] in a\n"));
    let places: Vec<usize> = (0..5).map(|at| plan.memory_of(at)).collect();
    assert_eq!(places, [0, 1, 2, 3, 2]);
}

#[test]
fn a_check_finds_what_is_overwritten_too_early() {
    let mut wrong = all();
    wrong.buffers[3].within = Some("a".to_string());
    let message = wrong.check().unwrap_err();
    assert!(message.contains("uses `a` and writes `b` to the same memory"), "{message}");
    for (at, home) in [(1, "a"), (3, "q"), (3, "nothing"), (3, "c"), (2, "a")] {
        let mut wrong = all();
        wrong.buffers[at].within = Some(home.to_string());
        let message = wrong.check().unwrap_err();
        assert!(message.contains("cannot live in the memory of"), "{home}: {message}");
    }
    // Read once more, behind the launch that writes its memory anew.
    let mut wrong = all();
    wrong.launches[3].inputs.push(("a".to_string(), [0; 3]));
    let message = wrong.check().unwrap_err();
    assert!(message.contains("reads `a` before it is written"), "{message}");
}

/// The second substep reads the previous value of the field in the array that it writes.
const TWO: &str = "algorithm Two 1d scheme \"two\"
state q field
state q_previous accumulator
fn q = state q
fn q_previous = state q_previous
fn rate = q[1,0,0] - q[-1,0,0]
fn q_1 = q + rate
fn q_previous_1 = q
fn q_2 = q - q_previous + rate
substep { q = q_1, q_previous = q_previous_1 }
substep { q = q_2 }";

fn two(text: &str) -> Plan {
    let schedule = schedule::text::parse("schedule kernel direct").unwrap();
    plan(&parse(text).unwrap(), &schedule, [false; 3]).unwrap()
}

#[test]
fn previous_values_are_in_the_array_for_new_ones() {
    let plan = two(TWO);
    plan.check().unwrap();
    assert_eq!((plan.buffers.len(), plan.memories()), (3, 2));
    assert_eq!(plan.array_of("q_previous"), "q_new");
    let printed = text::print(&plan);
    let expected = "buffer q_previous accumulator halo [0, 0, 0] in q_new\n";
    assert!(printed.contains(expected), "{printed}");
    assert_eq!(text::parse(&printed), Ok(plan.clone()));
    // No launch stores them.
    let outputs = plan.launches.iter().flat_map(|launch| &launch.outputs);
    assert!(outputs.clone().all(|(buffer, _)| buffer == "q_new"));
    assert_eq!(outputs.count(), 2);
    // They have an array of their own where something else reads them, or something else is kept.
    let others = [
        TWO.replace("fn q_2 =", "fn r_2 = q_previous\nfn q_2 =") + "\nsubstep { q = r_2 }",
        TWO.replace("q_previous_1 = q\n", "q_previous_1 = rate\n"),
        TWO.replace("substep { q = q_2 }", "substep { q = q_1 }\nsubstep { q = q_2 }"),
    ];
    for other in others.iter().map(|text| two(text)) {
        other.check().unwrap();
        assert_eq!(other.memories(), 3, "{}", text::print(&other));
    }
}

#[test]
fn a_check_finds_previous_values_that_are_gone() {
    let refused = |change: &dyn Fn(&mut Plan), expected: &str| {
        let mut wrong = two(TWO);
        change(&mut wrong);
        let message = wrong.check().unwrap_err();
        assert!(message.contains(expected), "{message}");
    };
    // The first substep has none.
    let previous = || ("q_previous".to_string(), [0; 3]);
    refused(
        &|plan| plan.launches[0].inputs.push(previous()),
        "reads `q_previous` before it is written",
    );
    // Another launch has written over them.
    refused(
        &|plan| {
            plan.launches.push(plan.launches[1].clone());
            plan.steps
                .insert(plan.steps.len() - 1, Step::Launch { launch: 2, region: Region::Whole });
        },
        "reads `q_previous` before it is written",
    );
    // Another thread writes the cell, here beyond the end of a wrapped axis.
    refused(
        &|plan| {
            plan.launches[1].wrapped = [true; 3];
            let reads = plan.launches[1].inputs.iter_mut();
            reads.for_each(|(_, read)| *read = [1, 0, 0]);
        },
        "uses `q_previous` and writes `q_new` to the same memory",
    );
    refused(
        &|plan| plan.launches[1].outputs.push(("q_previous".into(), "q_2".into())),
        "uses `q_previous` and writes `q_new` to the same memory",
    );
    for home in ["q", "q_previous", "nothing"] {
        refused(
            &|plan| plan.buffers[2].within = Some(home.to_string()),
            "cannot live in the memory of",
        );
    }
}

/// The field at the start of the step is kept in the first substep, and read in the second and the third.
#[test]
fn a_kept_value_changes_places_with_new_ones() {
    let kept = "algorithm Kept 1d scheme \"kept\"
state q field
state q_old accumulator
fn q = state q
fn q_old = state q_old
fn q_old_1 = q
fn q_1 = q[1,0,0] - q[-1,0,0]
fn q_2 = q_1 + q_old
substep { q = q_1, q_old = q_old_1 }
substep { q = q_2 }
substep { q = q_2 }";
    let schedule = schedule::text::parse("schedule kernel direct").unwrap();
    let good = plan(&parse(kept).unwrap(), &schedule, [false; 3]).unwrap();
    good.check().unwrap();
    let printed = text::print(&good);
    assert_eq!(text::parse(&printed).unwrap(), good);
    assert!(printed.contains("buffer q_old kept halo [1, 0, 0]\n"), "{printed}");
    assert_eq!(printed.matches("swap q keep q in q_old\n").count(), 1, "{printed}");
    assert!(!printed.contains("write q_old"), "{printed}");
    assert_eq!(good.before_the_step(), [("q", "q_old")]);
    type Pairs = Vec<(String, String)>;
    let refused = |change: &dyn Fn(&mut Pairs), message: &str| {
        let mut wrong = good.clone();
        let mut swaps = wrong.steps.iter_mut().filter_map(|step| match step {
            Step::Swap { kept, .. } => Some(kept),
            _ => None,
        });
        change(swaps.next().unwrap());
        assert_eq!(wrong.check().unwrap_err(), message);
    };
    refused(&|kept| kept.clear(), "`Kept_2_1` reads `q_old` before it is written");
    let pair = |of: &str| (of.to_string(), "q_old".to_string());
    refused(&|kept| kept.push(pair("q")), "`q_old` cannot take the previous values of `q`");
    refused(&|kept| kept[0] = pair("r"), "`q_old` cannot take the previous values of `r`");
    let new = "q_new".to_string();
    refused(&|kept| kept[0].1 = new.clone(), "`q_new` cannot take the previous values of `q`");
    let mut wrong = good.clone();
    wrong.buffers[2].halo = [0; 3];
    let message = wrong.check().unwrap_err();
    assert_eq!(message, "`q_old` cannot take the previous values of `q`");
}

#[test]
fn what_is_needed_in_its_own_cell_only_comes_from_the_same_kernel() {
    let plan = planned("place d global exchange place e global exchange", 2);
    let first = &plan.launches[0];
    assert_eq!(first.outputs.len(), 2);
    assert!(first.inputs.iter().all(|(name, _)| name == "q"), "{:?}", first.inputs);
    // The last kernel reads the sum in its own cell: no ghost cells are filled for it.
    assert_eq!(plan.buffer("e").unwrap().halo, [0; 3]);
    assert!(!text::print(&plan).contains("fill [0, 0, 0]"));
    assert_eq!(text::print(&plan).matches("fill").count(), 1);
}

#[test]
fn what_a_plan_has_once_is_given_once() {
    for (source, message) in [
        ("plan layout soa layout aos", "`layout` is given twice"),
        ("plan overlap rim overlap rim", "`overlap` is given twice"),
        ("plan overlap early", "no overlap `early`; there are rim, store, none"),
        ("plan steps 1 steps 2", "`steps` is given twice"),
    ] {
        assert_eq!(text::parse(source).unwrap_err().message, message);
    }
}

/// The wave equation of a chain, in steps of one substep: each launch reads ghost cells of the one before.
fn among_devices() -> Plan {
    let plan = Plan { overlap: Some(Overlap::Rim), ..all() }.among_devices().unwrap();
    assert_eq!(text::parse(&text::print(&plan)).unwrap(), plan);
    plan
}

#[test]
fn launches_beside_an_exchange_run_their_interior_first() {
    let printed = text::print(&among_devices());
    let (_, steps) = printed.rsplit_once("}\n").unwrap();
    let first = "uniforms
fill [1, 0, 0] q
post [1, 0, 0] q
run Chain_1_1 interior
wait [1, 0, 0] q
run Chain_1_1 rim
fill [1, 0, 0] a
post [1, 0, 0] a
run Chain_1_2 interior
wait [1, 0, 0] a
run Chain_1_2 rim
";
    assert!(steps.starts_with(first), "{steps}");
    let again = among_devices().among_devices().unwrap_err();
    assert!(again.contains("already"), "{again}");
}

#[test]
fn launches_that_store_what_others_read_run_as_a_whole() {
    assert_eq!(all().overlap(), Overlap::Rim);
    let of = |overlap| Plan { overlap: Some(overlap), ..all() }.among_devices().unwrap();
    let [stored, waiting] = [of(Overlap::Store), of(Overlap::None)];
    assert_eq!(stored.steps, waiting.steps);
    assert!(text::print(&stored).contains("wait [1, 0, 0] q\nrun Chain_1_1\n"));
    assert_eq!(text::parse(&text::print(&stored)).unwrap(), stored);
    let sent = |plan: &Plan| ["q_new", "a", "q"].map(|name| plan.sent(name));
    assert_eq!(sent(&stored), [Some([1, 0, 0]), Some([1, 0, 0]), Some([1, 0, 0])]);
    assert_eq!((sent(&waiting), sent(&all())), ([None; 3], [None; 3]));
}

#[test]
fn a_check_finds_each_step_that_is_missing_or_in_the_wrong_place() {
    let good = among_devices();
    let steps = good.steps.len();
    for at in 0..steps {
        let mut wrong = good.clone();
        wrong.steps.remove(at);
        // A fill of the own cells that is missing leaves nothing to send, and so on: no step is idle.
        assert!(wrong.check().is_err(), "without {:?}", good.steps[at]);
        let mut wrong = good.clone();
        wrong.steps.swap(at, (at + 1) % steps);
        // An interior may run before values are sent, or after they have come.
        let is_interior = |step: &Step| {
            let region = Region::Interior;
            matches!(step, Step::Launch { region: of, .. } if *of == region)
        };
        let is_exchange = |step: &Step| matches!(step, Step::Exchange { .. });
        let (one, next) = (&good.steps[at], &good.steps[(at + 1) % steps]);
        let is_legal =
            (is_interior(one) && is_exchange(next)) || (is_exchange(one) && is_interior(next));
        let is_legal = is_legal || at == 0;
        assert!(wrong.check().is_err() || is_legal, "{:?} too late", good.steps[at]);
        let mut wrong = good.clone();
        wrong.steps.insert(at, good.steps[at].clone());
        let is_idle = matches!(good.steps[at], Step::Fill { .. });
        assert!(wrong.check().is_err() || is_idle, "twice {:?}", good.steps[at]);
    }
    let messages = |change: &dyn Fn(&mut Vec<Step>)| {
        let mut wrong = good.clone();
        change(&mut wrong.steps);
        wrong.check().unwrap_err()
    };
    let early = messages(&|steps| steps.swap(4, 5));
    assert_eq!(early, "`q` is read by `Chain_1_1` while its ghost cells are on their way");
    let partial = messages(&|steps| drop(steps.remove(5)));
    assert_eq!(partial, "`a` is filled before `Chain_1_1` has computed its rim");
    let late = messages(&|steps| drop(steps.remove(0)));
    assert_eq!(late, "`Chain_1_1` runs before its uniforms are computed");
}

/// The second launch gives another function the memory of the one that is on its way.
const REUSES: &str = "plan
buffer q field halo [1, 0, 0]
buffer q_new new halo [1, 0, 0]
buffer a derived halo [1, 0, 0]
buffer b derived halo [0, 0, 0] in a
launch one substep 0 kernel 0 extend [0, 0, 0] { read q [1, 0, 0] write a = a kernel direct }
launch two substep 0 kernel 1 extend [0, 0, 0] { read q [0, 0, 0] write b = b kernel direct }
launch three substep 0 kernel 2 extend [0, 0, 0] { read b [0, 0, 0] write q_new = q_1 kernel direct }
uniforms
";

#[test]
fn a_launch_that_overwrites_what_is_sent_waits_for_it() {
    let plan = |steps: &str| text::parse(&format!("{REUSES}{steps}")).unwrap();
    let single = plan("fill [1, 0, 0] q run one fill [1, 0, 0] a run two run three swap q");
    let printed =
        text::print(&Plan { overlap: Some(Overlap::Rim), ..single }.among_devices().unwrap());
    let wanted = "run one rim
fill [1, 0, 0] a
post [1, 0, 0] a
wait [1, 0, 0] a
run two
run three
swap q
";
    assert!(printed.ends_with(wanted), "{printed}");
    let refused = |steps: &str| plan(steps).check().unwrap_err();
    let split = "fill [1, 0, 0] q run one fill [1, 0, 0] a post [1, 0, 0] a run two interior
        wait [1, 0, 0] a run two rim run three swap q";
    assert_eq!(
        refused(split),
        "`a` loses its memory to `two` while its ghost cells are on their way"
    );
    // Nothing that a rim is still to read is overwritten.
    let early = "fill [1, 0, 0] q run one run two run three interior run one run three rim swap q";
    assert_eq!(refused(early), "`b` is overwritten before `three` has computed its rim");
    let early = "fill [1, 0, 0] q run one run two run three interior swap q run three rim";
    assert_eq!(refused(early), "fields are swapped before `three` has computed its rim");
    let sent = "fill [1, 0, 0] q run one interior fill [1, 0, 0] a run one rim";
    assert_eq!(refused(sent), "`a` is filled before `one` has computed its rim");
}

#[test]
fn an_adaptive_step_reduces_accepts_and_then_begins() {
    let names = || vec!["advective".to_string(), "diffusive".to_string()];
    let plan = all().adaptive(names(), true).unwrap();
    let printed = text::print(&plan);
    assert!(printed.contains("reduce advective, diffusive\naccept\nuniforms\nfill"), "{printed}");
    assert_eq!(text::parse(&printed).unwrap(), plan);
    assert!(!text::print(&all().adaptive(names(), false).unwrap()).contains("accept"));
    for (refused, message) in [
        (all().adaptive(Vec::new(), true), "no quantity is reduced"),
        (all().adaptive(vec!["a".into(), "a".into()], true), "`a` is reduced twice"),
        (plan.adaptive(names(), true), "quantities are reduced once, before the uniforms"),
    ] {
        assert_eq!(refused.unwrap_err(), message);
    }
    for order in [[1, 0, 2], [0, 2, 1], [2, 0, 1]] {
        let mut wrong = plan.clone();
        let first: Vec<Step> = order.iter().map(|at| plan.steps[*at].clone()).collect();
        wrong.steps.splice(0..3, first);
        assert!(wrong.check().is_err(), "{order:?}");
    }
}

/// Three substeps whose ghost cells come at once: a check counts how deep values are valid.
#[test]
fn ghost_cells_that_last_are_counted_down() {
    let launch = |k: usize| {
        format!(
            "launch k{k} substep {k} kernel 0 extend [0, 0, 0] {{ read q [1, 2, 0] read a [0, 0, 0]
             write q_new = q_1 write a = a_1 kernel direct }}"
        )
    };
    let steps = [0, 1, 2, 3].map(|k| format!("fill [1, 2, 0] q run k{k} swap q")).join(" ");
    let plan = text::parse(&format!(
        "plan buffer q field halo [1, 2, 0] buffer q_new new halo [1, 2, 0] buffer a count halo [0, 0, 0] {} uniforms {steps}",
        [0, 1, 2, 3].map(launch).join(" ")
    ));
    let plan = plan.unwrap();
    let cut = [false, true, false];
    let deep = plan.deepened(2, cut).unwrap();
    let printed = text::print(&deep);
    assert_eq!(text::parse(&printed).unwrap(), deep);
    let steps = "uniforms
fill [1, 4, 0] beyond [1, 2, 0] q
run k0
swap q
fill [1, 2, 0] around [0, 2, 0] q
run k1
swap q
fill [1, 4, 0] beyond [1, 2, 0] q
";
    assert!(printed.contains(steps), "{printed}");
    assert!(
        printed.contains("launch k0 substep 0 kernel 0 extend [0, 2, 0] redundant [0, 2, 0] {")
    );
    assert_eq!(deep.buffer("q").unwrap().halo, [1, 4, 0]);
    let refused = |change: &dyn Fn(&mut Plan)| {
        let mut wrong = deep.clone();
        change(&mut wrong);
        wrong.check().unwrap_err()
    };
    let shallow = refused(&|plan| {
        let Step::Fill { depth, .. } = &mut plan.steps[1] else { panic!("{plan:?}") };
        depth.towards[1] -= 1;
    });
    assert_eq!(shallow, "`k0` reads `q` [1, 4, 0] deep where [1, 3, 0] is filled");
    let narrow = refused(&|plan| plan.launches[0].extend[1] -= 1);
    assert_eq!(narrow, "`q` is filled around [0, 2, 0] cells where [0, 1, 0] are computed");
    let faces = refused(&|plan| {
        let Step::Fill { depth, .. } = &mut plan.steps[1] else { panic!("{plan:?}") };
        depth.beyond[1] -= 1;
    });
    assert_eq!(faces, "`k0` reads `q` [1, 2, 0] beyond faces where [1, 1, 0] is filled");
    // Values come before the first and the third substep alone.
    let printed = text::print(&deep.among_devices().unwrap());
    assert_eq!(printed.matches("\npost").count(), 2);
    let part = plan.deepened(3, cut).unwrap_err();
    assert_eq!(part, "ghost cells cannot last for 3 of the 4 substeps of a step; give 1 or 2 or 4");
    assert_eq!(plan.deepened(2, [false; 3]).unwrap(), plan);
}
