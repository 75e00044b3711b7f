//! Models without places, to compare those from different sources.

use crate::diag::Span;
use crate::model::{
    AtFace, Average, Equation, Field, Flux, FromPrimitives, Let, Model, Observable, Param,
    Primitives, Product, Range, RiemannSolver, Solved, SolverWave, Source, Speed, Term, Waves,
};

impl Model {
    /// The model with every place unknown, to compare models from different sources.
    #[must_use]
    pub fn without_spans(&self) -> Model {
        let span = Span::default();
        let field = |f: &Field| Field { span, ..f.clone() };
        let param = |p: &Param| Param { span, ..p.clone() };
        let source = |s: &Source| Source {
            value: s.value.as_ref().map(Term::without_spans),
            span,
            ..s.clone()
        };
        let observable =
            |o: &Observable| Observable { value: o.value.without_spans(), span, ..o.clone() };
        let speed = |s: &Speed| Speed { power: s.power, value: s.value.without_spans(), span };
        let flux = |f: &Flux| Flux { field: f.field, value: f.value.without_spans(), span };
        let product =
            |p: &Product| Product { field: p.field, value: p.value.without_spans(), span };
        let waves = |w: &Waves| Waves {
            flow: w.flow.as_ref().map(Term::without_spans),
            sound: w.sound.as_ref().map(Term::without_spans),
            density: w.density.as_ref().map(Term::without_spans),
            pressure: w.pressure.as_ref().map(Term::without_spans),
            span,
        };
        let primitives = |p: &Primitives| Primitives {
            variables: p.variables.iter().map(Term::without_spans).collect(),
            conserved: p
                .conserved
                .iter()
                .map(|c| FromPrimitives { field: c.field, value: c.value.without_spans(), span })
                .collect(),
            span,
        };
        let at_face = |f: &AtFace| AtFace {
            fields: f.fields.clone(),
            recomputed: f
                .recomputed
                .iter()
                .map(|(variable, value)| (variable.without_spans(), value.without_spans()))
                .collect(),
            span,
        };
        let average = |a: &Average| Average {
            of: primitives(&a.of),
            weights: a
                .weights
                .iter()
                .map(|weight| weight.as_ref().map(Term::without_spans))
                .collect(),
        };
        let range = |r: &Range| Range { of: r.of.without_spans(), span, ..*r };
        let equation = |e: &Equation| Equation { field: e.field, rhs: e.rhs.without_spans(), span };
        Model {
            name: self.name.clone(),
            doc: self.doc.clone(),
            dimension: self.dimension,
            components: self.components,
            generic: self.generic,
            fields: self.fields.iter().map(field).collect(),
            params: self.params.iter().map(param).collect(),
            sources: self.sources.iter().map(source).collect(),
            lets: self.lets.iter().map(Let::without_spans).collect(),
            equations: self.equations.iter().map(equation).collect(),
            fluxes: self.fluxes.iter().map(flux).collect(),
            products: self.products.iter().map(product).collect(),
            ranges: self.ranges.iter().map(range).collect(),
            primitives: self.primitives.as_ref().map(primitives),
            at_face: self.at_face.as_ref().map(at_face),
            average: self.average.as_ref().map(average),
            waves: self.waves.as_ref().map(waves),
            solvers: self.solvers.iter().map(RiemannSolver::without_spans).collect(),
            observables: self.observables.iter().map(observable).collect(),
            speeds: self.speeds.iter().map(speed).collect(),
            scheme: self.scheme.clone(),
            others: self.others.clone(),
        }
    }
}

impl Let {
    fn without_spans(&self) -> Let {
        Let { value: self.value.without_spans(), span: Span::default(), ..self.clone() }
    }
}

impl RiemannSolver {
    fn without_spans(&self) -> RiemannSolver {
        let span = Span::default();
        let line = |line: &Solved| Solved {
            of: line.of.without_spans(),
            value: line.value.without_spans(),
            span,
        };
        let wave = |w: &SolverWave| SolverWave {
            strength: w.strength.without_spans(),
            speed: w.speed.without_spans(),
            spread: w.spread.as_ref().map(Term::without_spans),
            vector: w.vector.iter().map(line).collect(),
            span,
        };
        RiemannSolver {
            lets: self.lets.iter().map(Let::without_spans).collect(),
            values: self.values.iter().map(line).collect(),
            waves: self.waves.iter().map(wave).collect(),
            span,
            ..self.clone()
        }
    }
}

impl Term {
    /// The expression with every place unknown.
    #[must_use]
    pub fn without_spans(&self) -> Term {
        Term { span: Span::default(), ..self.with_parts(&mut Term::without_spans) }
    }
}
