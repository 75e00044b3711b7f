//! The functions of the language on tensors of polynomials: vector calculus and algebra.

use num_rational::Ratio;

use super::expand::{Expander, Result, Tensor, label_of, overflow};
use super::names::Label;
use super::poly::{Poly, Uniform};
use crate::catalogue::Function;
use crate::diag::Span;
use crate::expr::Op;
use crate::model::Term;

impl Expander<'_> {
    pub(super) fn call(&mut self, function: Function, args: &[Term], span: Span) -> Result<Tensor> {
        let n = self.model.components;
        let name = label_of(self.model, &args[0]);
        let values: Result<Vec<Tensor>> = args.iter().map(|a| self.term(a)).collect();
        let values = values?;
        let a = &values[0];
        match function {
            Function::Grad => {
                let all = (0..n).flat_map(|axis| a.iter().map(move |x| (axis, x)));
                all.map(|(axis, x)| self.derivative(axis, 1, x, &name, span))
                    .collect()
            }
            Function::Lap => a.iter().map(|x| self.laplacian(x, &name, span)).collect(),
            Function::Div => {
                let width = a.len() / n;
                let label = name.map(|name| format!("div_{name}"));
                (0..width)
                    .map(|j| self.divergence(&a[j..], width, &name, &label, span))
                    .collect()
            }
            Function::Curl => (0..3)
                .map(|i| self.curl_component(a, i, &name, span))
                .collect(),
            Function::Dot => self.contract(a, &values[1], span),
            Function::Cross => (0..3)
                .map(|i| self.cross_component(a, &values[1], i, span))
                .collect(),
            Function::Outer => {
                let pairs = a.iter().flat_map(|x| values[1].iter().map(move |y| (x, y)));
                pairs.map(|(x, y)| self.product(x, y, span)).collect()
            }
            Function::Transpose => Ok((0..n * n).map(|k| a[(k % n) * n + k / n].clone()).collect()),
            Function::Diagonal => Ok(a.iter().step_by(n + 1).cloned().collect()),
            Function::Trace => {
                let trace = self.trace(a, span)?;
                Ok(vec![self.atoms.name(trace_label(&name), trace)])
            }
            Function::Sym => self.symmetric(a, span),
            Function::SymTraceless => {
                let trace = self.trace(a, span)?;
                let trace = self.atoms.name(trace_label(&name), trace);
                let mut sym = self.symmetric(a, span)?;
                let share = Uniform::number(Ratio::new(-1, n as i128));
                let share = trace.scaled(&share).map_err(overflow(span))?;
                for i in 0..n {
                    sym[i * n + i] = sym[i * n + i].plus(&share).map_err(overflow(span))?;
                }
                Ok(sym)
            }
            Function::Norm => {
                let sum = self.squares(a, span)?;
                Ok(vec![self.operation(Op::Sqrt, &[&sum])])
            }
            Function::Upwind => {
                let carried = &values[1];
                let name = label_of(self.model, &args[1]);
                carried
                    .iter()
                    .map(|f| self.upwind(a, f, &name, span))
                    .collect()
            }
            Function::Scalar(op) => {
                let scalars: Vec<&Poly> = values.iter().map(|v| &v[0]).collect();
                Ok(vec![self.operation(op, &scalars)])
            }
        }
    }

    pub(super) fn derivative(
        &mut self,
        axis: usize,
        times: u32,
        of: &Poly,
        name: &Label,
        span: Span,
    ) -> Result<Poly> {
        self.beside_given_slopes(span)?;
        // Nothing changes along an axis that the mesh does not have.
        if axis >= self.model.dimension {
            return Ok(Poly::default());
        }
        let out = if times == 1 {
            self.atoms.first(axis, of, name)
        } else {
            self.atoms.higher(axis, times, of, name)
        };
        out.map_err(overflow(span))
    }

    /// `u_i d_i f - |u_i| D_i f`, with D the difference that upwinding takes away.
    fn upwind(&mut self, u: &[Poly], f: &Poly, name: &Label, span: Span) -> Result<Poly> {
        let mut sum = Poly::default();
        for (axis, speed) in u.iter().enumerate().take(self.model.dimension) {
            let central = self.derivative(axis, 1, f, name, span)?;
            let central = self.product(speed, &central, span)?;
            let bias = self.atoms.upwind(axis, f, name).map_err(overflow(span))?;
            let size = self.operation(Op::Abs, &[speed]);
            let bias = self.product(&size, &bias, span)?;
            sum = sum
                .plus(&central)
                .and_then(|sum| sum.plus(&bias.negated()))
                .map_err(overflow(span))?;
        }
        Ok(sum)
    }

    fn laplacian(&mut self, of: &Poly, name: &Label, span: Span) -> Result<Poly> {
        let axes = 0..self.model.dimension;
        let parts = axes.map(|axis| self.derivative(axis, 2, of, name, span));
        let parts: Vec<Poly> = parts.collect::<Result<_>>()?;
        self.over_axes(name.map(|name| format!("lap_{name}")), &parts, span)
    }

    fn divergence(
        &mut self,
        of: &[Poly],
        stride: usize,
        name: &Label,
        label: &Label,
        span: Span,
    ) -> Result<Poly> {
        let axes = 0..self.model.dimension;
        let parts = axes.map(|axis| self.derivative(axis, 1, &of[axis * stride], name, span));
        let parts: Vec<Poly> = parts.collect::<Result<_>>()?;
        let sum = self.over_axes(label.clone(), &parts, span)?;
        Ok(self.atoms.name(label.clone(), sum))
    }

    fn curl_component(&mut self, a: &[Poly], i: usize, name: &Label, span: Span) -> Result<Poly> {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let plus = self.derivative(j, 1, &a[k], name, span)?;
        let minus = self.derivative(k, 1, &a[j], name, span)?;
        let curl = plus.plus(&minus.negated()).map_err(overflow(span))?;
        let label = name.map(|name| format!("curl_{name}_{}", ["x", "y", "z"][i]));
        Ok(self.atoms.name(label, curl))
    }

    fn cross_component(&mut self, a: &[Poly], b: &[Poly], i: usize, span: Span) -> Result<Poly> {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let plus = self.product(&a[j], &b[k], span)?;
        let minus = self.product(&a[k], &b[j], span)?;
        plus.plus(&minus.negated()).map_err(overflow(span))
    }

    /// Contracts the last index of `a` with the first index of `b`.
    fn contract(&mut self, a: &[Poly], b: &[Poly], span: Span) -> Result<Tensor> {
        let n = self.model.components;
        let (rows, columns) = (a.len() / n, b.len() / n);
        let mut out = Vec::with_capacity(rows * columns);
        for i in 0..rows {
            for j in 0..columns {
                let parts = (0..n).map(|k| self.product(&a[i * n + k], &b[k * columns + j], span));
                let parts: Vec<Poly> = parts.collect::<Result<_>>()?;
                out.push(self.over_axes("dot", &parts, span)?);
            }
        }
        Ok(out)
    }

    fn trace(&mut self, a: &[Poly], span: Span) -> Result<Poly> {
        let diagonal: Vec<Poly> = a
            .iter()
            .step_by(self.model.components + 1)
            .cloned()
            .collect();
        self.over_axes("trace", &diagonal, span)
    }

    fn symmetric(&self, a: &[Poly], span: Span) -> Result<Tensor> {
        let n = self.model.components;
        let half = Uniform::number(Ratio::new(1, 2));
        let entry = |k: usize| {
            a[k].plus(&a[(k % n) * n + k / n])
                .and_then(|sum| sum.scaled(&half))
        };
        (0..n * n)
            .map(|k| entry(k).map_err(overflow(span)))
            .collect()
    }
}

/// The trace of a gradient is a divergence.
fn trace_label(label: &Label) -> Label {
    label.map(|name| match name.strip_prefix("grad_") {
        Some(of) => format!("div_{of}"),
        None => format!("trace_{name}"),
    })
}
