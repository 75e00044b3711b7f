//! Runs that are watched: the page by its requests, and the terminal in tmux.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::Value;
use stencil_runtime::io::Npz;

use super::folders::wait;
use super::{assert_has, common, folder, good, refused, text};

/// Options of a run without an end, and without frames.
const ENDLESS: &str =
    "--set time.end=1e6 --set output.every=1000000000 --set output.series_every=100";

/// A run with a page.
struct Page {
    run: Child,
    /// Kept open: the run writes its progress there.
    _notes: BufReader<ChildStderr>,
    port: u16,
    token: String,
}

impl Page {
    fn open(words: &str, here: &Path) -> Self {
        let mut command = common::command(&format!("{words} --watch"), here);
        let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut run = command.spawn().unwrap_or_else(|e| panic!("{e}"));
        let mut notes = BufReader::new(run.stderr.take().unwrap());
        let [mut line, mut other] = [String::new(), String::new()];
        notes.read_line(&mut line).unwrap();
        notes.read_line(&mut other).unwrap();
        let address = line.trim().strip_prefix("watch: http://127.0.0.1:");
        let address = address.unwrap_or_else(|| panic!("{line}"));
        let (port, token) = address.trim_end_matches('/').split_once('/').unwrap();
        assert_has(&other, &[&format!("ssh -L {port}:127.0.0.1:{port} ")]);
        Page { run, _notes: notes, port: port.parse().unwrap(), token: token.into() }
    }

    /// Sends a request as it is; returns the status, the head and the body.
    fn raw(&self, request: &str) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
        let (head, body) = (text(&bytes[..end]), bytes[end + 4..].to_vec());
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head, body)
    }

    fn ask(&self, method: &str, page: &str) -> (u16, Value) {
        let request =
            format!("{method} /{}/{page} HTTP/1.1\r\nHost: localhost\r\n\r\n", self.token);
        let (status, _, body) = self.raw(&request);
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    fn state(&self) -> Value {
        let (status, state) = self.ask("GET", "state");
        assert_eq!(status, 200, "{state}");
        state
    }

    /// Gives an order that is obeyed; returns the step after which it holds.
    fn order(&self, page: &str) -> u64 {
        let (status, answer) = self.ask("POST", page);
        assert_eq!(status, 200, "{page}: {answer}");
        answer["step"].as_u64().unwrap()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.run.kill();
        let _ = self.run.wait();
    }
}

fn values(state: &Path) -> (u64, Vec<f64>) {
    let mut state = Npz::open(state).unwrap_or_else(|e| panic!("{e}"));
    (state.u64("step").unwrap(), state.array_f64("q").unwrap().iter().copied().collect())
}

#[test]
fn a_page_is_for_its_address_alone() {
    let here = folder("watch_address");
    let page = Page::open(&format!("run drift.toml {ENDLESS}"), &here);
    let token = &page.token;
    let status = |method: &str, path: &str, host: &str| {
        page.raw(&format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")).0
    };
    let state = format!("/{token}/state");
    assert_eq!(status("GET", &state, "127.0.0.1:9"), 200);
    for host in ["evil.example", "127.0.0.1.evil.example", ""] {
        assert_eq!(status("GET", &state, host), 403, "{host}");
    }
    let other = "0".repeat(token.len());
    for path in ["/", "/state", &format!("/{other}/state"), &format!("/{}/state", &token[1..])] {
        assert_eq!(status("GET", path, "localhost"), 403, "{path}");
    }
    let from = |origin: &str| {
        let request =
            format!("POST /{token}/pause HTTP/1.1\r\nHost: localhost\r\nOrigin: {origin}\r\n\r\n");
        page.raw(&request).0
    };
    assert_eq!(
        (from("http://evil.example"), from("null"), from("http://localhost:5")),
        (403, 403, 200)
    );
    for (method, name) in
        [("POST", "state"), ("GET", "pause"), ("PUT", "param"), ("DELETE", "stop")]
    {
        assert_eq!(page.ask(method, name).0, 405, "{name}");
    }
    for name in
        ["../Cargo.toml", "..%2f..%2fetc/passwd", "/etc/passwd", "out/problem.toml", "index.html"]
    {
        assert_eq!(page.ask("GET", name).0, 404, "{name}");
    }
    for name in ["", "watch.js", "watch.css"] {
        let request = format!("GET /{token}/{name} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let (status, head, body) = page.raw(&request);
        assert_has(&head, &["default-src 'none'; script-src 'self'", "no-store", "no-referrer"]);
        assert!(status == 200 && !text(&body).contains("http"), "{name}");
    }
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(10_000));
    assert_eq!(page.raw(&long).0, 431);
}

#[test]
fn names_of_a_page_are_those_of_the_model() {
    let here = folder("watch_names");
    let page = Page::open(&format!("run drift.toml {ENDLESS} --json"), &here);
    let unknown = [
        ("GET", "state?field=p", "field"),
        ("GET", "state?normal=x", "axis"),
        ("GET", "state?field=q&at=1", "cell"),
        ("GET", "series.svg?name=momentum", "observable"),
        ("GET", "picture.png?map=rainbow", "map"),
        ("POST", "param?name=nu&value=1", "parameter"),
    ];
    for (method, name, what) in unknown {
        let (status, answer) = page.ask(method, name);
        assert_eq!(status, 404, "{name}: {answer}");
        assert_has(answer["error"].as_str().unwrap(), &[what]);
    }
    assert_eq!(page.ask("GET", "state?at=-1").0, 400);
    assert_eq!(page.ask("POST", "param?name=k&value=much").0, 400);
    wait(|| !page.state()["shot"].is_null());
    let state = page.state();
    assert_eq!(state["facts"]["scope"]["fields"][0]["name"], "q");
    assert_eq!(state["observables"]["names"], serde_json::json!(["mass", "top"]));
    assert_eq!(
        (&state["params"][0]["range"], &state["shot"]["field"]),
        (&"k >= 0".into(), &"q".into())
    );
    let get = |name: &str| {
        let request = format!("GET /{}/{name} HTTP/1.1\r\nHost: localhost\r\n\r\n", page.token);
        page.raw(&request)
    };
    assert_eq!(&get("picture.png?map=diverging&log=1").2[1..4], b"PNG");
    for name in ["line.svg?along=0&cell=15", "line.svg?along=1&cell=23", "series.svg?name=mass"] {
        assert_has(&text(&get(name).2), &["<svg "]);
    }
    assert_eq!((get("line.svg?along=0&cell=16").0, get("line.svg?along=2").0), (404, 404));
    // y is not periodic.
    assert_eq!(get("spectrum.svg").0, 404);
}

/// A run by hand: paused, stepped, changed, stopped. It goes on from the step of the change as a run that is restarted there
/// with the other parameter, bit for bit.
#[test]
fn a_parameter_that_changes_between_steps_is_that_of_a_restart() {
    let here = folder("watch_change");
    let mut page = Page::open(&format!("run drift.toml {ENDLESS}"), &here);
    wait(|| page.state()["step"].as_u64() > Some(50));
    assert_eq!(page.ask("POST", "step").0, 409);
    let at = page.order("pause");
    assert_eq!(page.order("step"), at + 1);
    assert_eq!(page.order("step"), at + 2);
    let state = page.state();
    assert_eq!((state["step"].as_u64(), &state["paused"]), (Some(at + 2), &true.into()));

    let (status, answer) = page.ask("POST", "param?name=k&value=-1");
    assert_eq!(status, 409);
    assert_has(answer["error"].as_str().unwrap(), &["`k`", "-1", "k >= 0"]);
    assert_eq!(page.order("param?name=k&value=0.02"), at + 2);
    assert_eq!(page.state()["params"][0]["value"], 0.02);
    for more in 3..=5 {
        assert_eq!(page.order("step"), at + more);
    }
    page.order("stop");
    assert_eq!(page.run.wait().unwrap().code(), Some(130));
    let settings = std::fs::read_to_string(here.join("out/problem.toml")).unwrap();
    let remark = format!("# changed while it ran: k = 0.02 after step {}", at + 2);
    assert_has(&settings, &[&remark, "k = 0.05"]);

    good(&format!("run drift.toml -q {ENDLESS} --steps {} --out begun", at + 2), &here);
    let again =
        "run drift.toml -q --restart begun/final.npz --param k=0.02 --steps 3 --out changed";
    good(&format!("{again} --set output.every=1000000000"), &here);
    let watched = values(&here.join("out/interrupted.npz"));
    assert_eq!(watched.0, at + 5);
    assert!(watched == values(&here.join("changed/final.npz")));

    // The command without the change goes on by the declared value, and says so.
    let words =
        format!("run drift.toml {ENDLESS} --steps 1 --restart out/interrupted.npz --out on");
    assert_has(&good(&words, &here), &["note: params.k: 0.02 in the file, 0.05 now"]);
}

#[test]
fn a_run_that_was_changed_says_so_at_its_end() {
    let here = folder("watch_end");
    let declared = std::fs::read_to_string(here.join("drift.toml")).unwrap();
    super::write(&here.join("drift.toml"), &format!("exact.q = '1'\n{declared}"));
    let mut command = common::command(
        "run drift.toml --json --watch --cells 48,48 --threads 1 --steps 1500 --set output.every=1000000000",
        &here,
    );
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut notes = BufReader::new(run.stderr.take().unwrap());
    let mut line = String::new();
    notes.read_line(&mut line).unwrap();
    let address =
        line.trim().strip_prefix("watch: http://127.0.0.1:").unwrap().trim_end_matches('/');
    let (port, token) = address.split_once('/').unwrap();
    let port: u16 = port.parse().unwrap();
    let post = |page: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let request = format!("POST /{token}/{page} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    };
    post("param?name=k&value=0.01");
    // A problem that has changed meanwhile is another one.
    drop(notes);
    let output = run.wait_with_output().unwrap();
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let change = &summary["changed"][0];
    assert_eq!(
        (&change["param"], &change["from"], &change["to"]),
        (&"k".into(), &0.05.into(), &0.01.into())
    );
    // The exact solution is not that of this run.
    assert_eq!(summary["errors"], serde_json::json!({}));
    assert_eq!(
        common::json("run drift.toml --json --steps 1 --out o", &here)["changed"],
        serde_json::json!([])
    );
}

#[test]
fn a_terminal_is_needed_for_one() {
    let here = folder("watch_terminal");
    let cases = [
        ("--watch terminal", "standard output, which is no terminal"),
        ("--watch terminal --watch-port 9", "`--watch-port` is the port of a page"),
        ("--watch -q", "cannot be used with"),
        ("--watch-port 9", "--watch"),
    ];
    for (words, expected) in cases {
        assert_has(&refused(&format!("run drift.toml {words}"), &here, 2), &[expected]);
    }
}

/// A tmux of its own, which ends with the test.
struct Tmux(String);

impl Tmux {
    fn call(&self, words: &[&str]) -> String {
        let output = Command::new("tmux").args(["-L", &self.0]).args(words).output().unwrap();
        text(&output.stdout)
    }

    fn shown(&self) -> String {
        self.call(&["capture-pane", "-p"])
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.call(&["kill-server"]);
    }
}

#[test]
fn a_terminal_of_80_columns_and_24_lines_shows_a_run() {
    if Command::new("tmux").arg("-V").output().is_err() {
        println!("skipped: there is no tmux");
        return;
    }
    let here = folder("watch_tmux");
    let tmux = Tmux(format!("stencil-watch-{}", std::process::id()));
    let stencil = env!("CARGO_BIN_EXE_stencil");
    let run = format!(
        "cd '{}' && '{stencil}' run drift.toml {ENDLESS} --watch terminal; echo code $?; sleep 60",
        here.display()
    );
    tmux.call(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", &run]);
    wait(|| tmux.shown().contains('▀'));
    let shown = tmux.shown();
    let lines: Vec<&str> = shown.lines().collect();
    assert_has(&shown, &["|  Drift", "step ", "mass ", "p pause  s step  q stop"]);
    assert!(lines.len() <= 24 && lines.iter().all(|line| line.chars().count() <= 80), "{shown}");
    tmux.call(&["send-keys", "p"]);
    wait(|| tmux.shown().contains("PAUSED"));
    let step = || {
        let shown = tmux.shown();
        let of = shown.lines().find_map(|line| line.strip_prefix("step ")).unwrap_or_default();
        of.split(['/', ' ']).next().unwrap_or_default().parse::<u64>().unwrap_or(0)
    };
    let before = step();
    tmux.call(&["send-keys", "s"]);
    wait(|| step() == before + 1);
    tmux.call(&["send-keys", "q"]);
    wait(|| tmux.shown().contains("code 130"));
    // The screen is the one before, with the message of the end.
    let after = tmux.shown();
    assert!(after.contains("stopped by its viewer after step") && !after.contains('▀'), "{after}");
    assert!(here.join("out/interrupted.npz").is_file());
}
