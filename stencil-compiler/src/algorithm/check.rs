//! The invariants of an [`Algorithm`].

use std::collections::{BTreeMap, BTreeSet};

use super::{Access, Algorithm, Atom, Def, FnId, Role, Substep, SumTerm, UniformAtom};
use crate::expr::{Expr, Node, Op};

/// The largest offset of one access, in cells: room for any real scheme, none for overflow.
pub const LARGEST_OFFSET: i32 = 1000;

/// Names that mean spacings, the time step, the time and the epsilon of the precision in the values of uniforms.
pub const RESERVED: [&str; 6] = ["dx", "dy", "dz", "dt", "t", "epsilon"];

impl Algorithm {
    /// Checks every invariant of this stage.
    ///
    /// # Errors
    /// The first violation, with the name of the offending item.
    pub fn check(&self) -> Result<(), String> {
        if !(1..=3).contains(&self.dimension) {
            return Err(format!(
                "`{}` has {} dimensions; 1 to 3 are possible",
                self.name, self.dimension
            ));
        }
        self.check_names()?;
        self.check_operations()?;
        for param in &self.params {
            if param.default.is_some_and(|value| !value.is_finite()) {
                return Err(format!("the default of parameter `{}` is not finite", param.name));
            }
        }
        for uniform in &self.uniforms {
            let name = &uniform.name;
            check_expr(&uniform.value).map_err(|e| format!("uniform `{name}`: {e}"))?;
            for atom in uniform.value.atoms() {
                self.check_uniform_atom(*atom).map_err(|e| format!("uniform `{name}`: {e}"))?;
            }
        }
        for (id, function) in self.ids() {
            self.check_function(id).map_err(|e| format!("function `{}`: {e}", function.name))?;
        }
        self.check_states()?;
        self.check_accumulators()?;
        if self.substeps.is_empty() {
            return Err(format!("`{}` has no substep", self.name));
        }
        for (i, substep) in self.substeps.iter().enumerate() {
            self.check_substep(substep).map_err(|e| format!("substep {}: {e}", i + 1))?;
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), String> {
        identifier(&self.name)?;
        let params = self.params.iter().map(|p| p.name.as_str());
        let uniforms = self.uniforms.iter().map(|u| u.name.as_str());
        let states = self.states.iter().map(|s| s.name.as_str());
        let mut names = BTreeSet::new();
        for name in params.clone().chain(uniforms).chain(states) {
            identifier(name)?;
            if !names.insert(name) {
                return Err(format!("`{name}` is declared twice"));
            }
        }
        if let Some(name) = params.clone().find(|name| RESERVED.contains(name)) {
            return Err(format!(
                "parameter `{name}` has the name of a spacing, of the time step or of the time"
            ));
        }
        let mut functions = BTreeSet::new();
        for function in &self.functions {
            let name = function.name.as_str();
            identifier(name)?;
            if !functions.insert(name) {
                return Err(format!("function `{name}` is defined twice"));
            }
            let own = match function.def {
                Def::State(state) => {
                    self.states.get(state.0 as usize).is_some_and(|s| s.name == name)
                }
                Def::Point(_) | Def::Sum(_) => false,
            };
            if names.contains(name) && !own {
                return Err(format!("function `{name}` has the name of something else"));
            }
        }
        Ok(())
    }

    fn check_operations(&self) -> Result<(), String> {
        let defined = self.defined();
        let loops = defined.loops.iter().map(|looped| &looped.get().name);
        let routines = defined.routines.iter();
        let values = routines.clone().flat_map(|routine| &routine.values);
        routines.map(|routine| &routine.name).try_for_each(|name| identifier(name))?;
        let mut names = BTreeSet::new();
        for name in loops.chain(values) {
            identifier(name)?;
            if Op::from_name(name).is_some() || !names.insert(name) {
                return Err(format!("`{name}` is the name of two operations"));
            }
        }
        Ok(())
    }

    fn check_uniform_atom(&self, atom: UniformAtom) -> Result<(), String> {
        match atom {
            UniformAtom::Param(i) if i >= self.params.len() => {
                Err(format!("there is no parameter {i}"))
            }
            UniformAtom::Spacing(axis) if axis >= self.dimension => {
                Err(format!("there is no axis {axis}"))
            }
            UniformAtom::Param(_)
            | UniformAtom::Spacing(_)
            | UniformAtom::Dt
            | UniformAtom::Time
            | UniformAtom::Epsilon => Ok(()),
        }
    }

    fn check_function(&self, id: FnId) -> Result<(), String> {
        let def = &self.function(id).def;
        match def {
            Def::State(state) if state.0 as usize >= self.states.len() => {
                return Err(format!("there is no state {}", state.0));
            }
            Def::State(_) => {}
            Def::Point(expr) => {
                check_expr(expr)?;
                for atom in expr.atoms() {
                    if let Atom::Uniform(uniform) = atom {
                        self.check_uniform(uniform.0)?;
                    }
                }
            }
            Def::Sum(terms) => self.check_sum(terms)?,
        }
        def.accesses().iter().try_for_each(|access| self.check_access(id, access))
    }

    fn check_uniform(&self, index: u32) -> Result<(), String> {
        if index as usize >= self.uniforms.len() {
            Err(format!("there is no uniform {index}"))
        } else {
            Ok(())
        }
    }

    fn check_sum(&self, terms: &[SumTerm]) -> Result<(), String> {
        if terms.is_empty() {
            return Err("the sum has no term".into());
        }
        for term in terms {
            if let Some(factor) = term.factor {
                self.check_uniform(factor.0)?;
            }
        }
        let axis = self.slowest_axis();
        if terms.windows(2).any(|pair| pair[0].value.at[axis] > pair[1].value.at[axis]) {
            return Err(
                "the terms of the sum are not in the order of the planes that they read".into()
            );
        }
        Ok(())
    }

    fn check_access(&self, reader: FnId, access: &Access) -> Result<(), String> {
        if access.of >= reader {
            return Err(match self.functions.get(access.of.0 as usize) {
                Some(f) => format!("reads `{}`, which is not defined before it", f.name),
                None => format!("there is no function {}", access.of.0),
            });
        }
        let name = &self.function(access.of).name;
        if access.at[self.dimension..].iter().any(|o| *o != 0) {
            return Err(format!(
                "reads `{name}` at {:?}, beyond {} dimensions",
                access.at, self.dimension
            ));
        }
        if access.at.iter().any(|o| o.unsigned_abs() > LARGEST_OFFSET.unsigned_abs()) {
            return Err(format!(
                "reads `{name}` at {:?}, further than {LARGEST_OFFSET} cells",
                access.at
            ));
        }
        Ok(())
    }

    fn check_states(&self) -> Result<(), String> {
        let mut readers: BTreeMap<u32, &str> = BTreeMap::new();
        for function in &self.functions {
            if let Def::State(state) = function.def
                && let Some(other) = readers.insert(state.0, &function.name)
            {
                let name = &self.state(state).name;
                return Err(format!(
                    "state `{name}` has two functions, `{other}` and `{}`",
                    function.name
                ));
            }
        }
        for (i, state) in self.states.iter().enumerate() {
            if !readers.contains_key(&(i as u32)) {
                return Err(format!("state `{}` has no function", state.name));
            }
        }
        Ok(())
    }

    /// Accumulators have no ghost cells: nothing made of one may be read from a neighbour.
    fn check_accumulators(&self) -> Result<(), String> {
        let mut local = vec![false; self.functions.len()];
        for (id, function) in self.ids() {
            let name = &function.name;
            for access in function.def.accesses() {
                if !local[access.of.0 as usize] {
                    continue;
                }
                let read = self.function(access.of);
                if access.at != [0; 3] {
                    return Err(format!(
                        "function `{name}` reads `{}` at {:?}, but that depends on an accumulator, which is \
                         known only in its own cell",
                        read.name, access.at
                    ));
                }
                if matches!((&read.def, &function.def), (Def::State(_), Def::Sum(_))) {
                    return Err(format!(
                        "sum `{name}` reads accumulator `{}`; a point function may",
                        read.name
                    ));
                }
                local[id.0 as usize] = true;
            }
            if let Def::State(state) = function.def {
                local[id.0 as usize] = self.state(state).role.is_in_place();
            }
        }
        Ok(())
    }

    fn check_substep(&self, substep: &Substep) -> Result<(), String> {
        if !(0.0..=1.0).contains(&substep.at) {
            return Err(format!("its time is {} steps after the step's", substep.at));
        }
        let mut updated = BTreeSet::new();
        for (state, value) in &substep.updates {
            let Some(declared) = self.states.get(state.0 as usize) else {
                return Err(format!("there is no state {}", state.0));
            };
            if value.0 as usize >= self.functions.len() {
                return Err(format!(
                    "state `{}` is updated by function {}, which is none",
                    declared.name, value.0
                ));
            }
            if declared.role == Role::Given {
                return Err(format!("`{}` is given and cannot be updated", declared.name));
            }
            if !updated.insert(*state) {
                return Err(format!("state `{}` is updated twice", declared.name));
            }
        }
        match self.states_of(Role::Field).find(|(id, _)| !updated.contains(id)) {
            Some((_, state)) if self.evolves() => {
                Err(format!("field `{}` is not updated", state.name))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Does any substep update a field? Observing alone does not count.
    fn evolves(&self) -> bool {
        let mut updated = self.substeps.iter().flat_map(|s| &s.updates);
        updated.any(|(id, _)| {
            let state = self.states.get(id.0 as usize);
            state.is_some_and(|s| s.role == Role::Field)
        })
    }
}

fn check_expr<A: Clone + Ord>(expr: &Expr<A>) -> Result<(), String> {
    expr.check()?;
    if expr.results.len() != 1 {
        return Err("it has more than one result".into());
    }
    for node in &expr.nodes {
        if let Node::Lit(lit) = node
            && !lit.value().is_finite()
        {
            return Err(format!("the literal {} is not finite", lit.value()));
        }
    }
    Ok(())
}

fn identifier(name: &str) -> Result<(), String> {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if starts && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        Ok(())
    } else {
        Err(format!("`{name}` is not a name: letters, digits and `_` make one"))
    }
}
