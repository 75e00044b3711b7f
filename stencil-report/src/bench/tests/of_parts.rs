//! Work and times of the parts of a step.

use super::*;

#[test]
fn each_part_of_a_step_has_its_work_and_its_share() {
    let printed = parts().table(70e-6, None);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = printed.lines().map(words).collect();
    let [head, time_step, ghosts, first, _, step] = &lines[..] else {
        panic!("{printed}");
    };
    assert!(head.ends_with("MB Mflop flop/B div us GB/s Gflop/s of roof share"), "{head}");
    // 24 of 32 instructions are of divisions; 32 of them a byte-free 3.2 us at half the peak, 20 MB 5 us at a copy.
    let expected = "20.0 12.0 0.60 75 % 10.0 2000 1200 50.0 % 15.6 %";
    assert_eq!(*time_step, format!("time step speeds, and the time step {expected}"));
    assert_eq!(*ghosts, "ghost cells ghost cells 2.000 0.000 - - 4.0 500 - 12.5 % 6.2 %");
    assert_eq!(*first, "Heat_1_1 new q 40.0 100.0 2.50 10 % 20.0 2000 5000 50.0 % 31.2 %");
    // All bytes and operations over the time of a step.
    let expected = "102.0 212.0 2.08 21 % 70.0 1457 3029 36.4 % 100.0 %";
    assert_eq!(*step, format!("a step parts one by one: 64 us {expected}"));
    let wide: Vec<usize> = printed.lines().map(|line| line.chars().count()).collect();
    assert!(wide.iter().all(|n| *n == wide[0]), "{printed}");
}

#[test]
fn what_substeps_do_alike_is_together() {
    let together = parts().together();
    let found: Vec<(String, f64)> = together.iter().map(|t| (t.label(), t.work.bytes)).collect();
    assert_eq!(found[0], ("2 x new q".into(), 80e6));
    assert_eq!(together.len(), 3);
    // Parts are told apart by all outputs, not by the words for them.
    let mut others = parts();
    others.all[2].whole = "new q and r".into();
    let others = others.together();
    assert_eq!(others.len(), 4);
    assert!(others[0].is_like(&others[0]) && !others[0].is_like(&others[1]));
    let mut untimed = parts();
    untimed.all.iter_mut().for_each(|part| part.seconds = None);
    assert!(untimed.together().is_empty() && untimed.seconds().is_none());
    let line = untimed.table(70e-6, None).lines().nth(3).unwrap().to_string();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(line, "Heat_1_1 new q 40.0 100.0 2.50 10 % - - - - -");
    let value = parts().json();
    let shares = value["parts"].as_array().unwrap().iter();
    let shares: f64 = shares.map(|part| part["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-12);
    assert!((value["parts"][0]["of_roof"].as_f64().unwrap() - 0.5).abs() < 1e-12);
}

#[test]
fn schedules_are_compared_with_the_first() {
    let mut first = Measured { parts: Some(parts()), ..on_card(None) };
    let mut second = Measured { schedule: Some("direct".into()), best_mpts: 30.0, ..first.clone() };
    let mut other_size = Measured { cells: [8; 3], ..second.clone() };
    first.compare(&[]);
    assert_eq!(first.of_first, Some(1.0));
    if let Some(parts) = &mut second.parts {
        // The words for it are cut before they differ.
        parts.all[2].whole = "new q, along x".into();
        parts.all[3].seconds = Some(20e-6);
    }
    second.compare(std::slice::from_ref(&first));
    assert_eq!(second.of_first, Some(1.5));
    other_size.compare(&[first.clone(), second.clone()]);
    assert_eq!(other_size.of_first, Some(1.0));
    let ratios = |of: &Measured| -> Vec<Option<f64>> {
        let parts = of.parts.iter().flat_map(|parts| &parts.all);
        parts.map(|part| part.of_first).collect()
    };
    // Fills are of different arrays, and one kernel computes something else.
    assert_eq!(ratios(&first), [Some(1.0), None, Some(1.0), Some(1.0)]);
    let [time_step, None, None, Some(last)] = ratios(&second)[..] else {
        panic!("{:?}", ratios(&second));
    };
    assert!(time_step == Some(1.0) && (last - 1.5).abs() < 1e-12);
    // A part that reads other arrays does other work.
    let mut apart = second.clone();
    if let Some(parts) = &mut apart.parts {
        parts.all[3].reads.insert("flux".into());
    }
    apart.compare(std::slice::from_ref(&first));
    assert_eq!(ratios(&apart)[3], None);
    // A kernel of two steps is no kernel of one.
    let mut fused = second.clone();
    fused.parts.iter_mut().for_each(|parts| parts.steps = 2);
    fused.compare(std::slice::from_ref(&first));
    assert_eq!((fused.of_first, ratios(&fused)), (Some(1.5), vec![None; 4]));
    let printed = kernels(&[first.clone(), second.clone()]);
    let line = printed.lines().rfind(|line| line.contains("Heat_2_1")).unwrap();
    assert!(line.ends_with(" 1.50"), "{line}");
    assert!(second.is_other(&on_card(None)));
    let wide = second.heading().trim_end().chars().count();
    assert_eq!(second.row().trim_end().chars().count(), wide);
    assert!(second.row().trim_end().ends_with(" 1.50"), "{}", second.row());
}
