//! The Riemann solver of a scheme, and the one that it would have without `riemann`.

use stencil_compiler::model::Model;
use stencil_compiler::model::check::DefaultSolver;

/// The solver that the scheme has or would have without `riemann`, and its reason; `None` without fluxes.
pub(super) fn by_default(model: &Model) -> Option<String> {
    let DefaultSolver { name, known, .. } = model.default_solver(&model.scheme)?;
    let (own, why) = (&model.scheme.riemann, format!("the least diffusive that fits: {known}"));
    Some(match own == name {
        true => format!("Solver: {name}, as without `riemann`, {why}."),
        false => format!("Solver: {own}; without `riemann` it would be {name}, {why}."),
    })
}

#[cfg(test)]
mod tests {
    use stencil_compiler::model::parse::parse_str;

    use super::by_default;

    #[test]
    fn the_solver_comes_with_its_reason() {
        let unknown = "conserved a: scalar; conserved b: scalar; flux a -> [b]; flux b -> [-a];";
        let speed = format!("{unknown} cfl {{ advective: abs(a) + 1; }}");
        let cases = [
            (
                "conserved q: scalar; flux q -> [q^2];",
                "",
                "roe, as without `riemann`, the least diffusive that fits: the speeds of all waves follow from the fluxes",
            ),
            (
                "conserved q: scalar; flux q -> [q^2];",
                "riemann: hll;",
                "hll; without `riemann` it would be roe, the least diffusive that fits: the speeds of all waves follow from the fluxes",
            ),
            (
                "conserved q: scalar; flux q -> [q^2]; waves { flow: [2*q]; }",
                "",
                "hll, as without `riemann`, the least diffusive that fits: `waves` bounds the speeds, so none between both sides are added as by `hlle`",
            ),
            (
                &speed,
                "",
                "rusanov, as without `riemann`, the least diffusive that fits: the `advective` speed of `cfl` bounds the sizes of the speeds",
            ),
            (
                unknown,
                "",
                "force, as without `riemann`, the least diffusive that fits: nothing is known of the waves",
            ),
        ];
        for (items, settings, expected) in cases {
            let text = format!(
                "system S in 1d {{ {items} }} scheme s for S {{ {settings} time: ssprk2; }}"
            );
            let model = parse_str(&text).unwrap_or_else(|e| panic!("{}", e.render("test", &text)));
            assert_eq!(by_default(&model), Some(format!("Solver: {expected}.")));
        }
        let plain = parse_str("system S in 1d { field q: scalar; ddt(q) = q; }").unwrap();
        assert_eq!(by_default(&plain), None);
    }
}
