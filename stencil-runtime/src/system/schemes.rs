//! The same system by another scheme than it was declared with, or with open choices settled.

use std::sync::Arc;

use stencil_compiler::discretize::DiscretizeError;
use stencil_compiler::model::{Formulation, Mixed, Model};

use super::{Parts, SystemDef};
use crate::Error;

impl SystemDef {
    /// Returns the same system with another choice for derivatives of derivatives, under the name of its scheme and of
    /// that choice, or under the name of its scheme alone if the one or the other leaves the choice open. Only the
    /// declared choice is compiled.
    ///
    /// ```
    /// use stencil_runtime::{SystemDef, compiler::model::Mixed};
    /// let heat = SystemDef::from_text("heat.pde", "
    ///     pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }
    ///     scheme fine for Heat { space: central<order = 6>; mixed: bidiagonal; time: rk4; }
    /// ")?;
    /// let composed = heat.with_mixed(Mixed::Composed)?;
    /// assert!(composed.algorithm().scheme.contains("mixed composed"));
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the scheme cannot be discretized with it.
    pub fn with_mixed(&self, mixed: Mixed) -> Result<Self, Error> {
        if self.model().scheme.mixed == mixed {
            return Ok(self.clone());
        }
        let mut model = self.model().clone();
        model.scheme.mixed = mixed;
        match model.scheme.settles(&self.model().scheme) {
            true => self.settled(model),
            false => self.changed(model, mixed.name()),
        }
    }

    /// Returns the same system with its open choices settled by a formulation. Only the usual one is compiled.
    ///
    /// # Errors
    /// If the scheme cannot be discretized with it.
    pub fn by(&self, formulation: Formulation) -> Result<Self, Error> {
        self.settled(self.model().by(formulation))
    }

    /// Returns the formulations of its scheme that give different discrete problems, with the system by each; the
    /// first is the default. Formulations that cannot be discretized are left out.
    ///
    /// ```
    /// use stencil_runtime::SystemDef;
    /// let of = |rate: &str| SystemDef::from_text("shear.pde", &format!("
    ///     pub system Shear in 2d {{ field q: scalar; ddt(q) = {rate}; }}
    ///     scheme open for Shear {{ space: central<order = 6>; mixed: either; time: rk4; }}
    /// "));
    /// let names = |rate| -> Result<Vec<String>, stencil_runtime::Error> {
    ///     let all = of(rate)?.formulations()?;
    ///     Ok(all.iter().map(|(formulation, _)| formulation.to_string()).collect())
    /// };
    /// let all = ["mixed bidiagonal", "mixed product", "mixed composed"];
    /// assert_eq!(names("d[x](d[y](q))")?, all);
    /// assert_eq!(names("d[x](d[x](q))")?, [all[0], all[2]]);
    /// assert_eq!(names("d[x](q)")?, all[..1]);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If not even the first can be discretized.
    pub fn formulations(&self) -> Result<Vec<(Formulation, Self)>, Error> {
        let mut found: Vec<(Formulation, SystemDef)> = Vec::new();
        for formulation in self.model().scheme.formulations() {
            let system = match self.by(formulation) {
                Ok(system) => system,
                Err(error) if found.is_empty() => return Err(error),
                Err(_) => continue,
            };
            let functions = &system.algorithm().functions;
            let mut before = found.iter();
            if before.all(|(_, other)| other.algorithm().functions != *functions) {
                found.push((formulation, system));
            }
        }
        Ok(found)
    }

    /// Makes the system by a model with other open choices, with its program if the default formulation is the same.
    pub(crate) fn settled(&self, model: Model) -> Result<Self, Error> {
        let own = &self.0;
        let usual = |model: &Model| model.scheme.by(Formulation::default());
        if usual(&model) != usual(&own.model) {
            let failed = |e: DiscretizeError| {
                Error::Declaration(format!("scheme `{}`: {e}", own.model.scheme.name))
            };
            let parts = Parts::discretize(model, &own.source).map_err(failed)?;
            return Ok(SystemDef(Arc::new(parts)));
        }
        Ok(SystemDef(Arc::new(Parts {
            model,
            source: own.source.clone(),
            algorithm: own.algorithm.clone(),
            schedule: own.schedule.clone(),
            observation: own.observation.clone(),
            kernels: own.kernels,
            open_faces: own.open_faces.clone(),
        })))
    }

    /// Returns the system with central differences of another order than declared: 2, 4, 6, 8 or 10. It has no
    /// compiled program unless the order is the declared one.
    ///
    /// ```
    /// let heat = stencil_runtime::SystemDef::from_text("heat.pde", "
    ///     pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }
    ///     scheme fine for Heat { space: central<order = 6>; mixed: bidiagonal; time: rk4; }
    /// ")?;
    /// assert!(heat.with_order(8)?.algorithm().scheme.contains("order 8"));
    /// assert!(heat.with_order(7).is_err());
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such order.
    pub fn with_order(&self, order: u32) -> Result<Self, Error> {
        if self.model().scheme.order == order {
            return Ok(self.clone());
        }
        let mut model = self.model().clone();
        model.scheme.order = order;
        self.changed(model, &format!("order{order}"))
    }

    /// Does it have central differences, whose order [may be another](Self::with_order)? Fluxes of reconstructed states alone have none.
    ///
    /// # Errors
    /// If it cannot be discretized by another order.
    pub fn has_differences(&self) -> Result<bool, Error> {
        let own = self.model().scheme.order;
        // An algorithm that was made elsewhere may name other places of the declaration, so both are made here.
        let mut others = [2, 4, 6].into_iter().filter(|order| *order != own);
        let mut other = || self.with_order(others.next().unwrap_or(own));
        let (low, high) = (other()?, other()?);
        Ok(low.algorithm().functions != high.algorithm().functions)
    }

    /// Makes the system by a model whose scheme differs; the name of the scheme gets a suffix.
    fn changed(&self, mut model: Model, suffix: &str) -> Result<Self, Error> {
        model.scheme.name = format!("{}_{suffix}", model.scheme.name);
        let name = model.scheme.name.clone();
        let failed =
            |e: &dyn std::fmt::Display| Error::Declaration(format!("scheme `{name}`: {e}"));
        model.check().map_err(|e| failed(&e))?;
        let parts = Parts::discretize(model, &self.0.source).map_err(|e| failed(&e))?;
        Ok(SystemDef(Arc::new(parts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(settings: &str) -> SystemDef {
        let text = format!(
            "pub system Open in 2d {{ field q: scalar; let s = d[x](q) + d[y](q);
                ddt(q) = d[x](s) + q/(1 + q) + 2/(1 + q); }}
             scheme s for Open {{ space: central<order = 2>; {settings} time: euler; }}"
        );
        SystemDef::from_text("open.pde", &text).unwrap()
    }

    #[test]
    fn fluxes_of_reconstructed_states_have_no_order() {
        let law = |more: &str| {
            let text = format!(
                "pub system Law in 1d {{ conserved q: scalar; flux q -> q^2/2 * diagonal(I); {more} waves {{ flow: q*diagonal(I); }} }}
                 scheme s for Law {{ reconstruct: plm<limiter = mc>; riemann: hll; time: ssprk2; }}"
            );
            SystemDef::from_text("law.pde", &text).unwrap()
        };
        assert!(!law("").has_differences().unwrap());
        assert!(law("ddt(q) = lap(q);").has_differences().unwrap());
        assert!(system("").has_differences().unwrap());
    }

    #[test]
    fn each_open_choice_is_settled_in_each_way() {
        let names = |settings| {
            let all = system(settings).formulations().unwrap();
            let names = all.iter().map(|(formulation, _)| formulation.to_string());
            names.collect::<Vec<_>>()
        };
        let closed = "mixed: composed; arith: as_written;";
        assert_eq!(names(closed), [""]);
        assert_eq!(
            names("mixed: composed; arith: either;"),
            ["arith collected", "arith as_written"]
        );
        assert_eq!(names("mixed: either; arith: either;").len(), 6);
        assert_eq!(names(""), names("mixed: either; arith: collected;"));
        let open = system("mixed: either; arith: either;");
        assert_eq!(open.algorithm(), system("").algorithm());
    }

    #[test]
    fn what_settles_an_open_choice_is_still_the_declared_scheme() {
        let (open, closed) = (system(""), system("mixed: bidiagonal;"));
        assert_eq!(open.algorithm(), closed.algorithm());
        let scheme = |system: &SystemDef, mixed| {
            let with = system.with_mixed(mixed).unwrap();
            with.algorithm().scheme.clone()
        };
        let composed = "s: central order 2, mixed composed, time euler";
        assert_eq!(scheme(&open, Mixed::Composed), composed);
        let renamed = "s_composed: central order 2, mixed composed, time euler";
        assert_eq!(scheme(&closed, Mixed::Composed), renamed);
        // Opening the choice again gives the same, until it is settled otherwise.
        let opened = closed.with_mixed(Mixed::Either).unwrap();
        assert_eq!(opened.algorithm(), closed.algorithm());
        assert_eq!(scheme(&opened, Mixed::Composed), composed);
        let by = open.by("mixed composed".parse().unwrap()).unwrap();
        assert_eq!(by.algorithm(), open.with_mixed(Mixed::Composed).unwrap().algorithm());
    }
}
