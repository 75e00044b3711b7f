//! Round trips, and texts that are not kernels.

use super::{parse, print};
use crate::kernel::Index;

const ALL: &str = "kernel all { note \"say \\\"hi\\\"\" dimension 2 value_bytes 8
    launch rows threads [1, 1, 1] tile [0, 1, 1] extend [1, 2, 0] blocks_per_unit 3
    buffer u@1 read halo [1, 0, 0] buffer v write halo [0, 0, 0] buffer w readwrite halo [0, 0, 0]
    shared copies[64] barrier full[2] arrivals 8 barrier load[1] arrivals 1 uniforms dt, sync
    registers a, b, set, load, fma, e queues e ints x, min, i cells c, d
    code {
        note \"# no comment\"
        int x = thread.x * 2 * 3 - (block.y - 4) - -5 + min(size.z % 3, x / 2) * -1
        int min = numbered((x + 1) * 2 % 8, size.y)
        cell c = (x, min + 1, -1)
        a = load u@1[c + (1, 0, -1)]
        set, load = copies[x - 3]
        store copies[x + 2] = a, 0.5
        b = -a
        fma = fma(a, lit(-0.0), 1e-300)
        a = load + dt
        a = set * sync
        a = min(lit(inf), lit(-inf))
        a = sqrt(2.5)
        set e = lit(-1e16)
        copy copies[x * 2] <- w(x, 0, 0)
        arrive copies full[x % 2]
        arrive full[0]
        copy box copies[x * 16] <- w(x, -1, 0) by (16, 3, 1) to full[x % 2]
        copy box copies[x * 16] <- w, u@1(x, -1, 0) by (16, 2, 1) to full[x % 2]
        expect full[x % 2] bytes 384
        arrive load[0] bytes 0
        arrive load[0]
        wait load[0] parity x / 2 % 2
        sync
        for i in 0 .. min unroll { for x in i - 1 .. i + 1 { store v[c] = a } }
        if x < min and i - 1 >= 0 { store v[c + (0, 2, 0)] = 0.1 }
    } }";

#[test]
fn a_kernel_is_read_back_as_it_was_printed() {
    let kernel = parse(ALL).unwrap();
    let text = print(&kernel);
    assert_eq!(parse(&text).unwrap(), kernel, "{text}");
    assert_eq!(print(&parse(&text).unwrap()), text);
    let runs = parse(&ALL.replace("tile [0, 1, 1]", "tile [64, 1, 1] runs")).unwrap();
    assert!(runs.launch.runs && parse(&print(&runs)).unwrap() == runs);
}

#[test]
fn sums_and_products_nest_as_built() {
    let mut kernel = parse(ALL).unwrap();
    let leaf = || Index::Thread(0);
    let two = |f: fn(Box<Index>, Box<Index>) -> Index, a, b| f(Box::new(a), Box::new(b));
    let nested =
        two(Index::Sub, leaf(), two(Index::Sub, leaf(), two(Index::Add, leaf(), Index::Const(-7))));
    let value =
        Index::Rem(Box::new(Index::Div(Box::new(two(Index::Add, nested.clone(), nested)), 3)), 5);
    kernel.body = vec![crate::kernel::Stmt::Int { var: crate::kernel::IntVar(0), value }];
    assert_eq!(parse(&print(&kernel)).unwrap(), kernel);
}

#[test]
fn errors_have_lines() {
    for (from, to, line, message) in [
        ("b = -a", "b = -z", 14, "not a register"),
        ("b = -a", "b = a", 14, "expected an operation"),
        ("sync\n        for", "sink\n        for", 30, "starts no statement"),
        ("threads [1,", "threads [9999999999,", 2, "too large"),
        ("buffer v write", "buffer v wrote", 3, "expected `read`"),
    ] {
        assert!(ALL.contains(from));
        let error = parse(&ALL.replacen(from, to, 1)).unwrap_err();
        assert!(error.message.contains(message), "{error}");
        assert!(error.line.abs_diff(line) <= 1, "{error}");
    }
}
