//! The number of nested derivatives of fields.

use std::collections::BTreeSet;

use super::{Let, Model, Term, TermKind};

impl Model {
    /// Do derivatives of a field smooth it: is it differentiated twice or more in its own equation, or never exactly
    /// once? That holds for `q` in `div(k*grad(q))`, but not for a field that is only advected or pushed by a gradient.
    /// Fields with fluxes are advected.
    pub fn is_smoothed(&self, field: usize) -> bool {
        let mut own = BTreeSet::new();
        let mut all = BTreeSet::new();
        for equation in &self.equations {
            let mut seen = BTreeSet::new();
            let mut orders = BTreeSet::new();
            orders_of(&equation.rhs, field, 0, &self.lets, &mut orders, &mut seen);
            if equation.field == field {
                own.extend(orders.iter().copied());
            }
            all.extend(orders);
        }
        let flows = self.fluxes.iter().any(|flux| flux.field == field);
        !flows && (own.iter().any(|order| *order > 1) || !all.contains(&1))
    }
}

/// The numbers of derivatives around each read of a field in a term, counted from `depth`. A `let` is visited once at
/// each depth.
fn orders_of(
    term: &Term,
    field: usize,
    depth: u32,
    lets: &[Let],
    orders: &mut BTreeSet<u32>,
    seen: &mut BTreeSet<(usize, u32)>,
) {
    let inner = match &term.kind {
        TermKind::Field(other) if *other == field => {
            orders.insert(depth);
            depth
        }
        TermKind::Let(at) => {
            if let Some(named) = lets.get(*at).filter(|_| seen.insert((*at, depth))) {
                orders_of(&named.value, field, depth, lets, orders, seen);
            }
            depth
        }
        TermKind::Derivative { times, .. } => depth + times,
        TermKind::Call(function, _) => depth + function.times(),
        _ => depth,
    };
    for part in term.parts() {
        orders_of(part, field, inner, lets, orders, seen);
    }
}

#[cfg(test)]
mod tests {
    use crate::model::parse::parse_str;

    #[test]
    fn fields_are_smoothed_by_second_derivatives_of_their_own() {
        let smoothed = |equations: &str| {
            let text = format!(
                "system S in 2d {{ field q: scalar; field p: scalar; let flux = p*grad(q); {equations} }}"
            );
            let model = parse_str(&text).unwrap();
            [0, 1].map(|field| model.is_smoothed(field))
        };
        let case = |equations: &str, expected: [bool; 2]| {
            assert_eq!(smoothed(equations), expected, "{equations}");
        };
        case("ddt(q) = lap(q); ddt(p) = 0*p;", [true, true]);
        case("ddt(q) = div(flux); ddt(p) = 0*p;", [true, false]);
        case("ddt(q) = -d[x](p); ddt(p) = -d[x](q);", [false, false]);
        case("ddt(q) = -d[x](q) + d2[y](q); ddt(p) = q;", [true, true]);
        case("ddt(q) = lap(p) + d[x](p); ddt(p) = lap(q);", [true, false]);
        case("ddt(q) = d[x](d[y](q)); ddt(p) = lap(lap(p)) + q;", [true, true]);
    }
}
