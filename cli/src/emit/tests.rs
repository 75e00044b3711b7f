//! Every target, and mistakes on the command line.

use clap::Parser;

use super::*;

const HEAT: &str = "system Heat in 3d { field q: scalar; param k: real = 1; ddt(q) = k * lap(q); }";

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: EmitArgs,
}

fn emit(line: &str) -> Result<String, String> {
    emit_and_note(line).map(|(text, _)| text)
}

/// Runs the command: its output, and its notes.
fn emit_and_note(line: &str) -> Result<(String, String), String> {
    let words = ["emit", "heat"].into_iter().chain(line.split_whitespace());
    let args = Command::try_parse_from(words).map_err(|error| error.to_string())?.args;
    let built_ins =
        [BuiltIn { name: "heat".into(), summary: "diffusion".into(), text: HEAT.into() }];
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    run(&args, &built_ins, &mut out, &mut notes).map_err(|error| error.to_string())?;
    Ok((String::from_utf8(out).unwrap(), String::from_utf8(notes).unwrap()))
}

#[test]
fn kernels_are_those_of_a_periodic_mesh_where_it_is_known() {
    let plan = |more: &str| emit(&format!("--target plan --schedule carried {more}")).unwrap();
    let chunk = |text: &str| {
        let (_, after) = text.split_once(" chunk=").unwrap_or(("", "0"));
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().unwrap()
    };
    // On 132 multiprocessors, as in a run, and on 108.
    let (unknown, known) = (plan(""), plan("--cells 256"));
    assert_eq!(chunk(&unknown), 0);
    assert!(chunk(&known) > 0 && chunk(&known) != chunk(&plan("--cells 128")));
    assert_ne!(known, plan("--cells 256 --arch sm_80"));
    assert!(unknown.contains("fill") && !known.contains("fill"), "{known}");
    // The processor fills ghost cells, and has no chunks.
    let rows = |more: &str| emit(&format!("--target plan --schedule cpu {more}")).unwrap();
    assert_eq!(rows("--cells 64"), rows(""));
}

#[test]
fn every_stage_prints() {
    let begins = [
        ("model", "pub system Heat in 3d {"),
        ("algorithm", "algorithm Heat 3d"),
        ("schedule", "schedule"),
        ("plan", "plan"),
        ("kernel", "kernel Heat_1_1"),
        ("rust", "/// "),
        ("c", "#if "),
    ];
    for (target, begin) in begins {
        let text = emit(&format!("--target {target}")).unwrap();
        assert!(text.starts_with(begin), "{target}: {}", &text[..80.min(text.len())]);
        assert!(text.ends_with('\n'));
        assert_eq!(text, emit(&format!("--target {target}")).unwrap());
    }
    let text = emit("--target cuda --launch 1 --precision f64").unwrap();
    assert!(text.contains("Heat_2_1") && !text.contains("Heat_1_1") && text.contains("double"));
}

#[test]
fn cuda_text_leads_back_to_the_declaration() {
    let marked = emit("--target cuda").unwrap();
    assert!(marked.contains("#line 1 \"<heat>\"\n"), "{marked}");
    assert!(marked.contains(" \"Heat_1_1.cu\"\n"), "{marked}");
    let plain = emit("--target cuda --no-marks").unwrap();
    let lines = marked.lines().filter(|line| !line.starts_with("#line "));
    assert!(lines.eq(plain.lines()));
}

#[test]
fn a_printed_schedule_reads_back() {
    let text = emit("--target schedule --schedule carried").unwrap();
    assert!(text.contains("kernel march"));
    let file = std::env::temp_dir().join(format!("stencil-emit-{}.schedule", std::process::id()));
    fs::write(&file, &text).unwrap();
    let again = emit(&format!("--target schedule --schedule {}", file.display()));
    fs::write(&file, "schedule\nkernel direct x=4096\n").unwrap();
    let illegal = emit(&format!("--target plan --schedule {}", file.display()));
    fs::remove_file(&file).unwrap();
    assert_eq!(again.unwrap(), text);
    assert!(illegal.unwrap_err().contains("is illegal: `direct` with"));
}

#[test]
fn what_is_not_there_is_answered_with_what_is() {
    let text = emit("--target ptx").unwrap_err();
    assert!(text.contains("model") && text.contains("cubin"), "{text}");
    let text = emit("--target cuda --launch 9").unwrap_err();
    assert_eq!(text, "error: no launch 9; a step has\n  0  Heat_1_1\n  1  Heat_2_1\n  2  Heat_3_1");
    let text = emit("--target cuda --schedule rows").unwrap_err();
    assert!(text.contains("help: schedules of thread blocks"), "{text}");
    let text = emit("--target rust --schedule direct").unwrap_err();
    assert!(text.contains("help: schedules over rows"), "{text}");
}
