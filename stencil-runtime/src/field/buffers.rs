//! The table of a plan's buffers: the name, the role and the memory of each.

use stencil_compiler::plan::{BufferRole, Depth, Plan};

use crate::Error;

/// The buffers of a plan, by their numbers.
#[derive(Clone, Debug)]
pub(crate) struct Buffers {
    names: Vec<(String, BufferRole)>,
    /// The buffer whose memory each one uses.
    memory: Vec<usize>,
}

/// Ghost cells of a component that are to be filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GhostDepth {
    /// The component, in the order of the rules of boundaries.
    pub(crate) component: usize,
    /// Their depth.
    pub(crate) depth: Depth,
}

impl Buffers {
    /// Returns the buffers of a plan.
    pub(crate) fn new(plan: &Plan) -> Self {
        let names = plan.buffers.iter().map(|b| (b.name.clone(), b.role));
        Buffers {
            names: names.collect(),
            memory: (0..plan.buffers.len()).map(|at| plan.memory_of(at)).collect(),
        }
    }

    /// Returns the number of buffers.
    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }

    /// Returns the name of a buffer.
    pub(crate) fn name(&self, at: usize) -> &str {
        &self.names[at].0
    }

    /// Returns the role of a buffer.
    pub(crate) fn role(&self, at: usize) -> BufferRole {
        self.names[at].1
    }

    /// Does a buffer have memory of its own?
    pub(crate) fn owns_memory(&self, at: usize) -> bool {
        self.memory[at] == at
    }

    /// Do other buffers use the memory of a buffer?
    pub(crate) fn is_shared(&self, at: usize) -> bool {
        let others = self.memory.iter().enumerate();
        others.filter(|(other, _)| *other != at).any(|(_, memory)| *memory == at)
    }

    /// Gives a buffer memory of its own.
    pub(crate) fn separate(&mut self, at: usize) {
        self.memory[at] = at;
    }

    /// Returns the buffer whose memory the one of this name uses.
    pub(crate) fn index(&self, name: &str) -> Result<usize, Error> {
        let found = self.names.iter().position(|(n, _)| n == name);
        let found = found.map(|at| self.memory[at]);
        found.ok_or_else(|| Error::Bug(format!("the plan has no buffer `{name}`")))
    }

    /// The same for several names.
    pub(crate) fn indices<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<usize>, Error> {
        names.into_iter().map(|name| self.index(name)).collect()
    }

    /// Returns the buffers that have the memory of those of this role.
    pub(crate) fn memory_of_role(&self, role: BufferRole) -> Vec<usize> {
        let all = self.of_role(role).into_iter();
        all.map(|at| self.memory[at]).collect()
    }

    /// Returns the buffers of this role, in their order.
    pub(crate) fn of_role(&self, role: BufferRole) -> Vec<usize> {
        self.where_role(|found| found == role)
    }

    /// Returns the buffers that a step changes: fields, and counters.
    pub(crate) fn changed(&self) -> Vec<usize> {
        self.where_role(|role| matches!(role, BufferRole::Field | BufferRole::Count))
    }

    /// Returns the buffers of all fields and given fields.
    pub(crate) fn states(&self) -> Vec<usize> {
        self.where_role(|role| matches!(role, BufferRole::Field | BufferRole::Given))
    }

    fn where_role(&self, is_wanted: impl Fn(BufferRole) -> bool) -> Vec<usize> {
        let names = self.names.iter().enumerate();
        let wanted = names.filter(|(_, (_, role))| is_wanted(*role));
        wanted.map(|(at, _)| at).collect()
    }

    /// Returns the buffer of a name and a role.
    pub(crate) fn find(&self, name: &str, role: BufferRole) -> Option<usize> {
        let is_it = |(n, r): &(String, BufferRole)| n == name && *r == role;
        self.names.iter().position(is_it)
    }

    /// Returns the buffer that holds a component of a field.
    pub(crate) fn field(&self, name: &str) -> Option<usize> {
        self.find(name, BufferRole::Field)
    }

    /// Returns the buffer that holds a component of a given field.
    pub(crate) fn given(&self, name: &str) -> Option<usize> {
        self.find(name, BufferRole::Given)
    }

    /// Returns the names of the components of all fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        let fields = self.names.iter();
        let fields = fields.filter(|(_, role)| *role == BufferRole::Field);
        fields.map(|(name, _)| name.as_str())
    }

    /// Returns for each buffer the ghost cells to fill, if it is a component of this depth. With `all`, all are filled
    /// to the same depth: functions of the user read any component.
    pub(crate) fn ghosts(
        &self,
        all: bool,
        depth: impl Fn(&str) -> Option<Depth>,
    ) -> Vec<Option<GhostDepth>> {
        let depths = || self.fields().filter_map(&depth);
        let union = depths().reduce(Depth::join).unwrap_or_default();
        let all = all && union.deepest() != [0; 3];
        let mut component = 0;
        let mut ghosts = |(name, role): &(String, BufferRole)| {
            if *role != BufferRole::Field {
                return None;
            }
            component += 1;
            let depth = if all { union } else { depth(name)? };
            Some(GhostDepth { component: component - 1, depth })
        };
        self.names.iter().map(&mut ghosts).collect()
    }
}
