//! What was measured, and pictures, of made-up results.

use super::*;

/// Does something with the report of a system by name or in a file.
fn with_report<R>(line: &str, of: impl Fn(&Problem<'_>, Report) -> R) -> R {
    let line = format!("explain {line} --plan");
    let args = Command::parse_from(line.split_whitespace()).args;
    let loaded = source::load(&args.system, &built_ins()).unwrap();
    let problem = Problem {
        model: &loaded.model,
        algorithm: &loaded.algorithm,
        chosen: None,
        precision: args.schedule.precision.get(),
        cells: usual(loaded.algorithm.dimension),
        on: args.on,
    };
    let wanted = Wanted {
        schedule: args.schedule.schedule.as_deref(),
        candidates: 6,
        ..Wanted::default()
    };
    of(&problem, Report::new(&problem, wanted).unwrap())
}

#[test]
fn what_was_measured_stands_beside_what_was_predicted() {
    let page = with_report("heat --schedule direct", |problem, mut report| {
        let kernels = report.plan.kernels().map(|kernel| Launched {
            name: kernel.launch.name.clone(),
            substep: kernel.launch.substep,
            threads: kernel.cost.threads,
            resources: Resources {
                registers: 77,
                spill_loads: 12,
                ..Resources::default()
            },
            shared_bytes: kernel.cost.shared_bytes,
            resident: 3,
            occupancy: 0.375,
            bound: Bound::Registers,
        });
        let measured = analyze::Measured {
            card: "Some Card".into(),
            best: 2.0 * report.plan.predicted.seconds,
            median: 3.0 * report.plan.predicted.seconds,
            predicted: 1.6 * report.plan.predicted.seconds,
            doubts: vec![Doubt {
                what: "the clock, Hz",
                measured: 1e8,
                expected: 1.98e9,
            }],
            copy_bytes: problem.on.rates.copy_bytes,
            launches: 6,
            kernels: kernels.collect(),
            seconds_of: [(0, 0.5 * report.plan.kernels().next().unwrap().time.total)].into(),
        };
        report.plan.analyze(problem, measured);
        let share = report.plan.floor_seconds / report.plan.predicted.seconds / 2.0;
        let json = json::report(problem, &report);
        assert_eq!(json["plan"]["measured"]["card"], "Some Card");
        let kernel = &json["plan"]["substeps"][0][1];
        assert_eq!(kernel["registers"]["compiled"]["spilled_bytes"], 12);
        let seconds = ["measured_s", "total"].map(|name| match name {
            "total" => number(&kernel["predicted_s"][name]),
            _ => number(&kernel[name]),
        });
        assert_eq!(seconds[0], 0.5 * seconds[1]);
        let page = text::page(problem, &report);
        assert!(
            page.contains(&format!("{:.0} % of", 100.0 * share)),
            "{page}"
        );
        page
    });
    for words in [
        "  measured  ",
        "a step on Some Card",
        "2.00 times the prediction for H200",
        "1.25 times the one with the numbers of this card",
        "  note      the clock, Hz, was measured as 1.000e8",
        "77 compiled, 12 bytes of spills",
        "measured (0.50 times that)",
        "3 blocks on a multiprocessor, 38 % of its warps; no more for registers",
        "Registers: of Some Card, where it ran.",
    ] {
        let plain = page.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(plain.contains(&words), "{words}\n{page}");
    }
}

#[test]
fn texts_of_pictures_are_inside_and_apart_in_any_dimension() {
    let flow = |dimension: usize| {
        format!(
            "system Flow in {dimension}d {{ field h: scalar; field u: vector; param nu: real = 1;
               ddt(h) = -dot(u, grad(h)) - div(u);
               ddt(u) = -dot(u, grad(u)) - grad(h) + nu * (lap(u) + grad(div(u))/3); }}
             scheme s for Flow {{ space: central<order = 4>; mixed: composed; time: ssprk2; }}"
        )
    };
    for dimension in 1..=3 {
        let file = declared(&format!("flow{dimension}"), &flow(dimension));
        // A long name of a schedule is cut.
        let long = file.with_file_name("a-schedule-with-a-name-".repeat(8) + ".schedule");
        fs::write(&long, "schedule\nkernel direct\n").unwrap();
        let long = format!("--schedule {}", long.display());
        for options in ["", "--schedule decomposed", &long] {
            let line = format!("{} {options}", file.display());
            let scenes = with_report(&line, |problem, report| pictures::scenes(problem, &report));
            for (name, scene) in scenes {
                let what = format!("{dimension}d {name} {options}");
                let (width, height) = scene.size();
                let texts = scene.texts();
                assert!(texts.len() > 4, "{what}");
                for (at, (text, [x, y, w, h])) in texts.iter().enumerate() {
                    let inside = *x >= 0.0 && *y >= 0.0 && x + w <= width && y + h <= height;
                    assert!(inside, "{what}: `{text}` is not inside");
                    for (other, [ox, oy, ow, oh]) in &texts[..at] {
                        let apart = x + w <= *ox || ox + ow <= *x || y + h <= *oy || oy + oh <= *y;
                        assert!(apart, "{what}: `{text}` covers `{other}`");
                    }
                }
            }
        }
        fs::remove_dir_all(file.parent().unwrap()).unwrap();
    }
}

#[test]
fn pictures_are_saved_and_named() {
    let folder = folder("pictures");
    let page = plan(&format!(
        "heat --schedule gathered --pictures {}",
        folder.display()
    ));
    for name in ["graph", "stencil", "roofline"] {
        for kind in ["svg", "png"] {
            let file = folder.join(format!("Heat-f32-{name}.{kind}"));
            assert!(
                page.lines().any(|line| line == file.display().to_string()),
                "{page}"
            );
            assert!(fs::metadata(&file).unwrap().len() > 1000);
        }
    }
    let svg = fs::read_to_string(folder.join("Heat-f32-stencil.svg")).unwrap();
    // Three faces of each of the 19 cubes.
    assert!(svg.matches("<polygon").count() > 57, "{svg}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_schedule_in_words_says_what_it_places() {
    let schedule: Schedule = stencil_compiler::schedule::text::parse(
        "schedule\nplace a global exchange\nplace b carried\npass u 1\nkernel direct\nkernel direct\n",
    )
    .unwrap();
    assert_eq!(
        candidates::words(&schedule),
        "direct, a stored, 1 carried, 2 passes"
    );
}
