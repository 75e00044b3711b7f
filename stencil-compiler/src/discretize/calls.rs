//! The functions of the language on tensors of polynomials, by the forms of their rows.

use num_rational::Ratio;

use super::atoms::Atoms;
use super::expand::{Expander, Result, Tensor, label_of, overflow};
use super::names::Label;
use super::poly::{Overflow, Poly, Uniform};
use crate::catalogue::Function;
use crate::catalogue::functions::{Arguments, Called, Form};
use crate::diag::Span;
use crate::model::Term;

/// A call with its arguments evaluated.
struct Call {
    values: Vec<Tensor>,
    names: Vec<Label>,
    span: Span,
}

impl Call {
    fn called(&self, called: &Called) -> Label {
        match called {
            Called::Part(word) => Label::from(*word),
            Called::Whole(words) => self.names[0].map(|_| words.clone()),
        }
    }

    /// The label of a form, for names of grid functions that are made of it.
    fn label_of(&self, form: &Form) -> Label {
        match form {
            Form::Of(argument, _) => self.names[*argument].clone(),
            Form::Sum(called, _) | Form::Named(called, _) => self.called(called),
            _ => Label::from("part"),
        }
    }
}

impl Expander<'_> {
    pub(super) fn call(&mut self, function: Function, args: &[Term], span: Span) -> Result<Tensor> {
        let values: Result<Vec<Tensor>> = args.iter().map(|a| self.term(a)).collect();
        let call = Call {
            values: values?,
            names: args.iter().map(|a| label_of(self.model, a)).collect(),
            span,
        };
        let widths: Vec<usize> = call.values.iter().map(Vec::len).collect();
        let (Label::Whole(name) | Label::Part(name)) = &call.names[0];
        let forms = function.forms(&Arguments {
            components: self.model.components,
            dimension: self.model.dimension,
            widths: &widths,
            name,
        });
        forms.iter().map(|form| self.form(form, &call)).collect()
    }

    /// The polynomial of a form.
    fn form(&mut self, form: &Form, call: &Call) -> Result<Poly> {
        let span = call.span;
        match form {
            Form::Of(argument, at) => Ok(call.values[*argument][*at].clone()),
            Form::Derivative { axis, times, of } => {
                let value = self.form(of, call)?;
                self.derivative(*axis, *times, &value, &call.label_of(of), span)
            }
            Form::Difference { by, axis, of } => {
                let (value, name) = (self.form(of, call)?, call.label_of(of));
                self.along(*axis, span, |atoms| atoms.along(by, *axis, &value, &name))
            }
            // States at faces have all their values there.
            Form::At(_, of) if self.has_states() => self.form(of, call),
            Form::At(place, of) => {
                let (value, name) = (self.form(of, call)?, call.label_of(of));
                self.atoms.moved(*place, &value, &name).map_err(overflow(span))
            }
            Form::Times(a, b) => {
                let (a, b) = (self.form(a, call)?, self.form(b, call)?);
                self.product(&a, &b, span)
            }
            Form::Plus(a, b) => {
                let (a, b) = (self.form(a, call)?, self.form(b, call)?);
                a.plus(&b).map_err(overflow(span))
            }
            Form::Minus(a, b) => {
                let (a, b) = (self.form(a, call)?, self.form(b, call)?);
                a.plus(&b.negated()).map_err(overflow(span))
            }
            Form::Half(of) => self.share(of, 2, call),
            Form::Over(of, number) => self.share(of, *number, call),
            Form::Sum(called, parts) => {
                let parts = self.forms(parts, call)?;
                self.over_axes(call.called(called), &parts, span)
            }
            Form::Squares => self.squares(&call.values[0], span),
            Form::Op(op, arguments) => {
                let arguments = self.forms(arguments, call)?;
                let arguments: Vec<&Poly> = arguments.iter().collect();
                Ok(self.operation(*op, &arguments))
            }
            Form::Named(called, of) => {
                let value = self.form(of, call)?;
                Ok(self.atoms.name(call.called(called), value))
            }
        }
    }

    fn forms(&mut self, forms: &[Form], call: &Call) -> Result<Vec<Poly>> {
        forms.iter().map(|form| self.form(form, call)).collect()
    }

    /// A form over a whole number.
    fn share(&mut self, of: &Form, number: usize, call: &Call) -> Result<Poly> {
        let value = self.form(of, call)?;
        let share = Uniform::number(Ratio::new(1, number as i128));
        value.scaled(&share).map_err(overflow(call.span))
    }

    pub(super) fn derivative(
        &mut self,
        axis: usize,
        times: u32,
        of: &Poly,
        name: &Label,
        span: Span,
    ) -> Result<Poly> {
        self.along(axis, span, |atoms| match times {
            1 => atoms.first(axis, of, name),
            _ => atoms.higher(axis, times, of, name),
        })
    }

    /// A difference along an axis. All is the same along one that the mesh does not have.
    fn along(
        &mut self,
        axis: usize,
        span: Span,
        difference: impl FnOnce(&mut Atoms) -> std::result::Result<Poly, Overflow>,
    ) -> Result<Poly> {
        self.beside_given_slopes(span)?;
        match axis < self.model.dimension {
            true => difference(&mut self.atoms).map_err(overflow(span)),
            false => Ok(Poly::default()),
        }
    }
}
