//! Dump.
#[test]
fn dump() {
    for mixed in ["bidiagonal", "product", "composed"] {
        let source = include_str!("../systems/isothermal_ns.pde").replace("bidiagonal", mixed);
        let a = stencil_tests::algorithm_of(&source);
        a.check().unwrap();
        println!("{}", stencil_compiler::algorithm::text::print(&a));
    }
}
