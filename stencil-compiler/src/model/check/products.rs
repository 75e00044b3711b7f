//! Products with slopes of fields beside the fluxes.

use super::invariants::{Checked, Sees, ensure};
use super::resolve::unequal;
use super::scope::{Meaning, Scope};
use super::slopes::{Refused, Slopes};
use super::terms::{Place, Terms, Typed};
use crate::diag::{Code, Diagnostic, Span};
use crate::model::parse::ast::{Ast, AstKind, FluxItem, System};
use crate::model::{AtFace, Field, Flux, Model, Product, TermKind};

/// The products in the order of the fields; `None` after an error.
pub(super) fn products<'a>(
    scope: &mut Scope<'a>,
    system: &'a System,
    fluxes: Option<&[Flux]>,
    at_face: Option<&AtFace>,
) -> Option<Vec<Product>> {
    let errors = scope.errors();
    let mut all: Vec<Product> = Vec::new();
    for (i, item) in system.products.iter().enumerate() {
        let value = item.value.as_ref();
        let value = value.and_then(|ast| scope.term(ast, item.at, Place::System));
        let name = &item.field.text;
        let same = |other: &&FluxItem| other.field.text == *name;
        if let Some(first) = system.products[..i].iter().find(same) {
            let message = format!("a second product of `{name}`");
            let diagnostic = Diagnostic::new(Code::NoFlux, item.field.span, message)
                .note_at(first.field.span, "the first is here");
            scope.report(diagnostic.help("add the two"));
            continue;
        }
        let Some((field, rank)) = scope.evolved(&item.field) else {
            continue;
        };
        let flows = |fluxes: &[Flux]| fluxes.iter().any(|flux| flux.field == field);
        if fluxes.is_some_and(|fluxes| !flows(fluxes)) {
            let message = format!("`{name}` has a product and no flux");
            let diagnostic = Diagnostic::new(Code::NoFlux, item.field.span, message);
            scope.report(diagnostic.help(format!(
                "a product goes through faces beside a flux: declare `{name}` as conserved, with `flux {name} -> ..;`"
            )));
        }
        let (Some(value), Some(rank)) = (value, rank) else {
            continue;
        };
        if value.rank != rank {
            scope.report(unequal("product", name, rank, value.rank, value.span));
            continue;
        }
        let product = Product { field, value, span: item.span };
        if let Some((code, span, message)) = wrong(scope, &product, system, at_face) {
            let help = "write a sum of products such as `g*h*grad(depth)`, and put other terms into `ddt(..)`";
            scope.report(Diagnostic::new(code, span, message).help(help));
        }
        all.push(product);
    }
    all.sort_by_key(|product| product.field);
    (scope.errors() == errors).then_some(all)
}

/// The error in a product.
fn wrong(
    scope: &Scope<'_>,
    product: &Product,
    system: &System,
    at_face: Option<&AtFace>,
) -> Option<(Code, Span, String)> {
    let lets = &scope.expansion.lets;
    if let Some(at_face) = at_face {
        let shared = Slopes::new(at_face, lets);
        if let Some(part) = shared.parts(&product.value).products.first() {
            let message = "this slope is of a field with one value at faces, which `ddt(..)` takes";
            return Some((Code::NotASlope, part.span, message.to_string()));
        }
    }
    let all = Slopes::of_fields((0..system.fields.len()).collect(), lets);
    let parts = all.parts(&product.value);
    if let Some(rest) = parts.rest() {
        let message = "there is no slope of a field in this part".to_string();
        return Some((Code::NotASlope, rest.span, message));
    }
    let refused = parts.products.iter().find_map(|part| all.linear(part).err())?;
    Some(match refused {
        Refused::Other(span) => {
            (Code::NotASlope, span, "this is no first derivative of one field".to_string())
        }
        Refused::Product(span) => {
            (Code::NotASlope, span, "this is not linear in slopes of fields".to_string())
        }
        Refused::Factor(what, span) => {
            let message = format!(
                "a slope is multiplied by a function of fields at one point, and {what} is none"
            );
            (Code::NotAtFaces, span, message)
        }
    })
}

impl Terms<'_, '_> {
    /// `rise(m)`: the jump of the flux of a conserved field, and of its product.
    pub(super) fn rise(&mut self, arguments: &[Ast], span: Span) -> Typed {
        let [Ast { kind: AstKind::Name(name), span: place, .. }] = arguments else {
            let message = "`rise(..)` is of a conserved field";
            let diagnostic = Diagnostic::new(Code::WrongUse, span, message);
            self.scope.report(diagnostic.help("write `rise(m)`"));
            return None;
        };
        let flows = |field| self.scope.fluxes.iter().any(|flux| flux.field == field);
        match self.scope.names.get(name.as_str()) {
            Some((Meaning::Field(field, rank), _)) if flows(*field) => {
                Some((TermKind::Rise(*field), (*rank)?))
            }
            _ => {
                let message = format!("`{name}` has no flux that rises");
                let diagnostic = Diagnostic::new(Code::NoFlux, *place, message);
                self.scope.report(diagnostic.help("write the name of a conserved field"));
                None
            }
        }
    }
}

impl Model {
    /// The invariants of the products.
    pub(super) fn check_products(&self) -> Checked {
        let mut last = None;
        for product in &self.products {
            let flows = self.flux_of(product.field).is_some() && last < Some(product.field);
            ensure(flows, || "products are not in the order of conserved fields".to_string())?;
            last = Some(product.field);
            self.check_whole(&product.value, Sees::Lets(self.lets.len()))
                .map_err(|problem| format!("in a product: {problem}"))?;
            let fits = |field: &Field| field.rank == product.value.rank;
            ensure(self.fields.get(product.field).is_some_and(fits), || {
                format!("the product of field {} has another rank", product.field)
            })?;
            let all = Slopes::of_fields((0..self.fields.len()).collect(), &self.lets);
            let parts = all.parts(&product.value);
            let linear = parts.products.iter().all(|part| all.linear(part).is_ok());
            ensure(linear && parts.rest().is_none(), || {
                format!("the product of field {} is not linear in slopes", product.field)
            })?;
        }
        Ok(())
    }
}
