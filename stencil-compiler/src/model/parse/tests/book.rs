//! The examples of the book's page on the language.

use crate::catalogue::{limiters, reconstructions, riemann};
use crate::discretize::discretize;
use crate::model::parse::{Dimensions, dimensions, parse_str, parse_str_in};
use crate::model::text;

const PAGE: &str = include_str!("../../../../../docs/src/language.md");

#[test]
fn the_examples_of_the_book_are_read_and_discretized() {
    let examples: Vec<&str> =
        PAGE.split("```pde\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(examples.len(), 25);
    for example in examples {
        let generic = dimensions(example) == Some(Dimensions::Any);
        let model = parse_str_in(example, generic.then_some(2))
            .unwrap_or_else(|errors| panic!("{}", errors.render("book", example)));
        assert_eq!(model.check(), Ok(()));
        let printed = text::print(&model);
        assert_eq!(parse_str(&printed).unwrap().without_spans(), model.without_spans());
        for scheme in model.schemes() {
            let chosen = model.with_scheme(&scheme.name).unwrap();
            discretize(&chosen).unwrap_or_else(|error| panic!("{error}: {example}"));
        }
    }
}

/// The page lists every function, integrator, limiter, reconstruction and Riemann solver.
#[test]
fn the_book_is_complete() {
    let functions = crate::model::check::functions();
    assert!(functions.len() > 25);
    for name in functions {
        assert!(
            PAGE.contains(&format!("`{name}`")) || PAGE.contains(&format!("`{name}(")),
            "{name}"
        );
    }
    let limiters = limiters::ALL.iter().map(|row| row.name);
    let reconstructions = reconstructions::ALL.iter().map(|row| row.name);
    let solvers = riemann::ALL.iter().map(|row| row.name);
    let names = limiters.chain(reconstructions).chain(solvers);
    let times = [crate::model::check::integrators(), crate::model::check::predictors()].concat();
    for name in names.chain(times) {
        let with_settings = PAGE.contains(&format!("`{name}<"));
        assert!(with_settings || PAGE.contains(&format!("`{name}`")), "{name}");
    }
}
