//! Components of results as expressions of the components of arguments. A row writes them once; equations and formulas read them.

use super::super::centering::Halves;
use super::super::operators::Operator;
use crate::expr::Op;

/// A component of what a function makes of its arguments.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// A component of an argument: the numbers of both.
    Of(usize, usize),
    /// A derivative along an axis; zero along one that the mesh does not have.
    Derivative {
        /// The axis.
        axis: usize,
        /// The order of the derivative.
        times: u32,
        /// The form that is differentiated.
        of: Box<Form>,
    },
    /// The difference along an axis by an operator that approximates no derivative.
    Difference {
        /// The operator.
        by: &'static Operator,
        /// The axis.
        axis: usize,
        /// The form that is differentiated.
        of: Box<Form>,
    },
    /// The value at another place of the cell, by interpolation along each axis where it lies elsewhere.
    At(Halves, Box<Form>),
    /// A product.
    Times(Box<Form>, Box<Form>),
    /// A sum of two.
    Plus(Box<Form>, Box<Form>),
    /// A difference of two.
    Minus(Box<Form>, Box<Form>),
    /// A half.
    Half(Box<Form>),
    /// A quotient by a whole number.
    Over(Box<Form>, usize),
    /// A sum of one part for each axis, whose parts round alike.
    Sum(Called, Vec<Form>),
    /// The sum of the squares of all components of the first argument.
    Squares,
    /// An operation on scalars.
    Op(Op, Vec<Form>),
    /// The same, as one grid function wherever it occurs.
    Named(Called, Box<Form>),
}

/// The name of a grid function.
#[derive(Clone, Debug)]
pub(crate) enum Called {
    /// By what it does in something else.
    Part(&'static str),
    /// By what it is, where the first argument is called so.
    Whole(String),
}

/// The arguments of a call.
pub(crate) struct Arguments<'a> {
    /// The number of components of a vector.
    pub(crate) components: usize,
    /// The number of axes of the mesh.
    pub(crate) dimension: usize,
    /// The number of components of each argument.
    pub(crate) widths: &'a [usize],
    /// The name of the first argument.
    pub(crate) name: &'a str,
}

impl Arguments<'_> {
    /// Returns a part of a sum for each axis of the mesh.
    pub(crate) fn over_axes(&self, called: Called, part: impl Fn(usize) -> Form) -> Form {
        Form::Sum(called, (0..self.dimension).map(part).collect())
    }
}

impl Called {
    /// The word, and what the first argument is called: `lap_f`.
    pub(crate) fn after(word: &str, arguments: &Arguments<'_>) -> Self {
        Called::Whole(format!("{word}_{}", arguments.name))
    }
}

impl Form {
    /// Returns its derivative along an axis, taken so many times.
    pub(crate) fn derivative(self, axis: usize, times: u32) -> Form {
        let of = Box::new(self);
        Form::Derivative { axis, times, of }
    }

    /// Returns its difference along an axis by an operator.
    pub(crate) fn difference(self, by: &'static Operator, axis: usize) -> Form {
        let of = Box::new(self);
        Form::Difference { by, axis, of }
    }

    /// Returns its value at another place of the cell.
    pub(crate) fn at(self, place: Halves) -> Form {
        Form::At(place, Box::new(self))
    }

    /// Returns its product with another.
    pub(crate) fn times(self, other: Form) -> Form {
        Form::Times(Box::new(self), Box::new(other))
    }

    /// Returns its sum with another.
    pub(crate) fn plus(self, other: Form) -> Form {
        Form::Plus(Box::new(self), Box::new(other))
    }

    /// Returns it less another.
    pub(crate) fn minus(self, other: Form) -> Form {
        Form::Minus(Box::new(self), Box::new(other))
    }

    /// Returns half of it.
    pub(crate) fn half(self) -> Form {
        Form::Half(Box::new(self))
    }

    /// Returns it over a whole number.
    pub(crate) fn over(self, number: usize) -> Form {
        Form::Over(Box::new(self), number)
    }

    /// Returns it as one grid function.
    pub(crate) fn named(self, called: Called) -> Form {
        Form::Named(called, Box::new(self))
    }
}
