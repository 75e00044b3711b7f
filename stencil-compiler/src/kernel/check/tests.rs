//! Each invariant, broken.

use crate::kernel::text::parse;

const GOOD: &str = "kernel k { dimension 1 value_bytes 4
    launch blocks threads [8, 1, 1] tile [8, 1, 1] extend [0, 0, 0] blocks_per_unit 1
    buffer u read halo [1, 0, 0] buffer v write halo [0, 0, 0] buffer w readwrite halo [0, 0, 0]
    shared ring[64] barrier full[2] arrivals 8 uniforms k1 registers a, b, d, e, q, r queues q, r ints x, n, i
        cells c
    code {
        int x = thread.x
        int n = size.x
        cell c = (x, 0, 0)
        a = load u[c + (1, 0, 0)]
        d = load w[c]
        e = ring[x]
        store ring[x] = a, d
        if n < 4 { sync }
        if x < 4 { b = a + q store v[c] = b }
        wait full[0] parity 1
        store w[c] = a
        set r = q
        set q = d
    } }";

fn broken(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    parse(&GOOD.replace(from, to)).unwrap().check().unwrap_err()
}

#[test]
fn each_invariant_is_checked() {
    parse(GOOD).unwrap().check().unwrap();
    let cases = [
        ("store w[c] = a", "store w[c] = b", "outside the block"),
        ("tile [8, 1, 1]", "tile [8, 2, 1] runs", "runs of"),
        ("tile [8, 1, 1]", "tile [0, 1, 1] runs", "runs of"),
        ("int x = thread.x", "int x = numbered(i, size.x)", "not yet defined"),
        (
            "buffer u read halo [1, 0, 0]",
            "buffer u read halo [1, 0, 0] at 2 of 2 behind 0",
            "beside nothing",
        ),
        (
            "buffer u read halo [1, 0, 0]",
            "buffer u read halo [1, 0, 0] at 1 of 2 behind 0 surface",
            "beside nothing",
        ),
        ("= a, d", "= a, b", "not yet defined"),
        ("= a, d", "= a, d, e", "shared store of 3"),
        ("b = a + q", "b = a + b", "not yet defined"),
        ("d = load w[c]", "a = load w[c]", "assigned twice"),
        ("set q = d", "set a = d", "only queues"),
        (
            "set r = q\n        set q = d",
            "set q = d\n        set r = q",
            "before another queue is set to it",
        ),
        ("d = load w[c]", "q = load w[c]", "`set` only"),
        ("d = load w[c]", "d = load w[c + (1, 0, 0)]", "another thread's"),
        ("d = load w[c]", "d = load v[c]", "only written"),
        ("store v[c] = b", "store u[c] = b", "only read"),
        ("if n < 4 { sync }", "if x < 4 { sync }", "depends on the thread"),
        ("int n = size.x", "int n = x + 1", "depends on the thread"),
        ("wait full[0]", "wait full[x]", "depends on the thread"),
        ("registers a,", "registers x, a,", "used twice"),
        ("cell c = (x, 0, 0)", "cell c = (i, 0, 0)", "not yet defined"),
        ("int n = size.x", "int n = size.x / 0", "division"),
        ("int n = size.x", "int x = size.x", "defined twice"),
        ("arrivals 8", "arrivals 0", "no arrivals"),
        ("launch blocks threads [8", "launch blocks threads [2000", "2000 threads"),
        ("registers a,", "registers block.x, a,", "valid name"),
    ];
    for (from, to, message) in cases {
        let found = broken(from, to);
        assert!(found.contains(message), "{to}: {found}");
    }
}

#[test]
fn a_message_names_the_statement() {
    assert!(broken("b = a + q", "b = a + b").ends_with("in `b = a + b`"));
}

const BOXES: &str = "kernel k { dimension 2 value_bytes 4
    launch blocks threads [32, 1, 1] tile [32, 1, 1] extend [0, 0, 0] blocks_per_unit 1
    buffer u read halo [4, 0, 0] buffer v write halo [0, 0, 0] buffer w read halo [4, 0, 0]
    shared ring[256] barrier full[2] arrivals 1 registers a ints x, fill, i cells c
    code {
        int x = block.x * 32 - 4
        for i in 0 .. size.y {
            int fill = i % 4 * 64
            if thread.x < 1 {
                expect full[i % 2] bytes 320
                copy box ring[fill + 32] <- u, w(x, i, 0) by (40, 1, 1) to full[i % 2]
                arrive full[i % 2] bytes 0
            }
            wait full[i % 2] parity i / 2 % 2
        }
    } }";

#[test]
fn boxes_are_what_a_device_can_copy() {
    parse(BOXES).unwrap().check().unwrap();
    let cases = [
        ("by (40, 1, 1)", "by (38, 1, 1)", "rows of a box"),
        ("by (40, 1, 1)", "by (0, 1, 1)", "1 to 256 cells"),
        ("by (40, 1, 1)", "by (4, 257, 1)", "1 to 256 cells"),
        ("by (40, 1, 1)", "by (40, 4, 1)", "320 values in a smaller"),
        ("block.x * 32 - 4", "block.x * 32 - 3", "multiple of 1 values"),
        ("block.x * 32 - 4", "block.x * 30 - 4", "multiple of 2 values"),
        ("i % 4 * 64", "i % 4 * 48", "multiple of 16 values, not of 32"),
        ("fill + 32", "fill + 16", "multiple of 16 values, not of 32"),
        ("<- u, w(", "<- u, v(", "only written"),
        ("<- u, w(", "<- u, w, u(", "a buffer twice"),
        ("if thread.x < 1", "if x < 1", "one thread"),
        ("bytes 320", "bytes 1048576", "at most"),
        ("to full[i % 2]", "to full[thread.x]", "depends on the thread"),
        (
            "arrive full[i % 2] bytes 0",
            "copy box ring[fill] <- u, w(x, i, 0) by (32, 1, 1) to full[0]",
            "of the same buffers",
        ),
    ];
    for (from, to, message) in cases {
        assert!(BOXES.contains(from), "{from}");
        let found = parse(&BOXES.replace(from, to)).unwrap().check();
        let found = found.unwrap_err();
        assert!(found.contains(message), "{to}: {found}");
    }
}

/// Several values are stored at once only where they follow each other.
#[test]
fn rows_are_of_values_that_follow_each_other() {
    let wide = GOOD.replace("store w[c] = a", "store w[c] = a, a");
    for apart in [" at 0 of 2 behind 0", " surface"] {
        let buffer = "buffer w readwrite halo [0, 0, 0]";
        let wide = wide.replace(buffer, &format!("{buffer}{apart}"));
        let wrong = parse(&wide).unwrap().check().unwrap_err();
        assert!(wrong.contains("rows of w, whose values lie apart"), "{wrong}");
    }
}
