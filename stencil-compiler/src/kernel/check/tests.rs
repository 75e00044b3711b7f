//! Each invariant, broken.

use crate::kernel::text::parse;

const GOOD: &str = "kernel k { dimension 1 value_bytes 4
    launch blocks threads [8, 1, 1] tile [8, 1, 1] extend [0, 0, 0] blocks_per_unit 1
    buffer u read halo [1, 0, 0] buffer v write halo [0, 0, 0] buffer w readwrite halo [0, 0, 0]
    shared ring[64] barrier full[2] arrivals 8 uniforms k1 registers a, b, d, e, q queues q ints x, n, i
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
        ("= a, d", "= a, b", "not yet defined"),
        ("= a, d", "= a, d, e", "shared store of 3"),
        ("b = a + q", "b = a + b", "not yet defined"),
        ("d = load w[c]", "a = load w[c]", "assigned twice"),
        ("set q = d", "set a = d", "only queues"),
        ("d = load w[c]", "q = load w[c]", "`set` only"),
        (
            "d = load w[c]",
            "d = load w[c + (1, 0, 0)]",
            "another thread's",
        ),
        ("d = load w[c]", "d = load v[c]", "only written"),
        ("store v[c] = b", "store u[c] = b", "only read"),
        (
            "if n < 4 { sync }",
            "if x < 4 { sync }",
            "depends on the thread",
        ),
        ("int n = size.x", "int n = x + 1", "depends on the thread"),
        ("wait full[0]", "wait full[x]", "depends on the thread"),
        ("registers a,", "registers x, a,", "used twice"),
        (
            "cell c = (x, 0, 0)",
            "cell c = (i, 0, 0)",
            "not yet defined",
        ),
        ("int n = size.x", "int n = size.x / 0", "division"),
        ("int n = size.x", "int x = size.x", "defined twice"),
        ("arrivals 8", "arrivals 0", "no arrivals"),
        (
            "launch blocks threads [8",
            "launch blocks threads [2000",
            "2000 threads",
        ),
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
