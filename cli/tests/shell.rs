//! The command before a shell, `man`, a terminal and a pipe.

use std::path::Path;

#[path = "../build.rs"]
#[allow(dead_code, reason = "a program of its own, of which a part is tested")]
mod build;
mod common;

use common::{assert_has, command, folder, good, output, refused, stencil, text};

#[test]
fn the_version_names_the_commit_and_the_features() {
    let said = good("--version", &folder("version"));
    let begin = format!("stencil {} (", env!("CARGO_PKG_VERSION"));
    assert!(said.starts_with(&begin), "{said}");
    assert_has(&said, &["; features: "]);
    // Of a repository it is the commit by which the sources were found.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let commit = build::of_repository(root, "git");
    let commit = commit.unwrap_or("of no known commit".to_string());
    let hash = commit.split(',').next().unwrap();
    assert!(said.contains(hash), "{said}: {commit}");
}

#[test]
fn sources_without_a_repository_have_no_commit() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    assert_eq!(build::of_repository(root, "no-such-program"), None);
    assert_eq!(build::of_repository(&folder("tarball"), "git"), None);
    // A folder of a repository is not its root.
    assert_eq!(build::of_repository(&root.join("cli"), "git"), None);
}

#[test]
fn completions_and_pages_know_every_command() {
    let here = folder("manual");
    let help = good("help", &here);
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    let indent = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let commands = commands.lines().filter(indent);
    let commands: Vec<&str> = commands.filter_map(|l| l.split_whitespace().next()).collect();
    assert!(commands.len() > 10, "{help}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = good(&format!("completions {shell}"), &here);
        for word in commands.iter().chain(&["--precision", "--restart"]) {
            let word = if shell == "fish" { word.trim_start_matches('-') } else { word };
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
    let paths = good("man pages", &here);
    for command in commands.iter().filter(|command| **command != "help") {
        let path = format!("pages/stencil-{command}.1");
        assert!(paths.contains(&path), "{paths}");
        let page = std::fs::read_to_string(here.join(path)).unwrap();
        assert_has(&page, &[".TH", "SYNOPSIS"]);
    }
    assert!(here.join("pages/stencil.1").is_file());
    std::fs::write(here.join("taken"), "").unwrap();
    refused("man taken", &here, 6);
}

#[test]
fn colours_are_where_they_are_wanted() {
    let here = folder("colours");
    std::fs::write(here.join("a.pde"), "system A in 1d { field q: scalar; ddt(q) = lap(r); }")
        .unwrap();
    let escape = '\u{1b}';
    for words in ["check a.pde", "run no_such_problem", "run --no-such-option"] {
        for (environment, is_colored) in [
            (&[][..], false),
            (&[("CLICOLOR_FORCE", "1")], true),
            (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
            (&[("CLICOLOR", "1")], false),
        ] {
            let output = output(command(words, &here).envs(environment.iter().copied()));
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert_eq!(said.contains(escape), is_colored, "{words} {environment:?}: {said}");
        }
    }
}

#[test]
fn a_pipe_gets_plain_lines() {
    let here = folder("pipe");
    let output = stencil("run heat_blob --cells 16 --steps 5", &here);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.lines().last().unwrap().starts_with("100 %  step 5/5  t = "), "{said}");
    assert!(!said.contains(['\r', '\u{1b}', '▕']), "{said}");
    // One launch is one, and each field is counted once.
    let out = text(&output.stdout);
    for line in out.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.windows(2).filter(|pair| pair[0] == "1") {
            let is_plural = pair[1].trim_matches([',', ';', ')']).ends_with("es");
            assert!(!is_plural, "{line}");
        }
    }
}

#[test]
fn lists_have_each_name_once() {
    let here = folder("lists");
    let list = good("list", &here);
    for line in list.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let doubled = words.windows(2).skip(1).find(|pair| pair[0] == pair[1]);
        assert_eq!(doubled, None, "{line}");
        assert!(!line.contains(") ("), "{line}");
    }
    let systems = text(&stencil("explain no_such_system", &here).stderr);
    let names = systems.lines().filter_map(|line| line.split_whitespace().next());
    let mut names: Vec<&str> = names.filter(|name| *name != "or").collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "{systems}");
    std::fs::write(
        here.join("a.toml"),
        "system = \"Nothing\"\n[mesh]\ncells = [8]\n[time]\ndt = 0.1\nsteps = 1\n",
    )
    .unwrap();
    let problem = text(&stencil("check a.toml", &here).stderr);
    assert_eq!(
        problem.matches("Acoustics,").count(),
        1 + problem.matches("LayeredAcoustics,").count(),
        "{problem}"
    );
}

#[test]
fn a_system_of_any_dimension_goes_everywhere() {
    let here = folder("dimensions");
    let waves = "pub system Waves in nd { field p: scalar; field v: vector; ddt(p) = -div(v); ddt(v) = -grad(p); }";
    std::fs::write(here.join("waves.pde"), waves).unwrap();
    let turn =
        "system Turn in nd { field w: scalar; field v: vector; ddt(w) = v.y; ddt(v) = grad(w); }";
    std::fs::write(here.join("turn.pde"), turn).unwrap();
    std::fs::write(
        here.join("waves.toml"),
        "system = \"waves.pde\"\n[mesh]\ncells = 8\n[init]\np = \"sin(2*pi*x)\"\n[time]\ndt = 0.001\nsteps = 2\n",
    )
    .unwrap();
    std::fs::write(
        here.join("plane.toml"),
        "system = \"waves.pde\"\n[mesh]\ncells = [9, 9]\n[init]\np = \"sin(2*pi*x)\"\n[time]\ndt = 0.001\nsteps = 2\n",
    )
    .unwrap();
    for dimension in 1..=3 {
        for command in [
            "check waves.pde",
            "check waves.toml",
            "explain waves.pde",
            "emit --target model waves.pde",
            "run plane.toml --cells 8",
        ] {
            let said = good(&format!("{command} --dimension {dimension}"), &here);
            let is_plain = command.starts_with("run");
            assert!(is_plain || said.contains(&format!("in {dimension}d")), "{command}: {said}");
        }
    }
    good("bench waves.pde --dimension 2 --cells 8 --repeat 1 --steps 1 --precision f64", &here);
    let all = good("check waves.pde", &here);
    assert!((1..=3).all(|n| all.contains(&format!("in {n}d"))), "{all}");
    let some = good("check turn.pde", &here);
    assert_has(&some, &["not in 1d", "in 2d"]);
    for words in ["bench mhd --dimension 2", "explain mhd --dimension 2"] {
        let said = refused(words, &here, 2);
        assert_has(&said, &["is declared in 3d, not in 2d"]);
        assert!(!said.contains("error: error"), "{said}");
    }
    refused("check waves.pde --dimension 4", &here, 2);
}
