//! The components of fields and sources, as numbers of a cell.

use stencil_compiler::catalogue::Rank;
use stencil_compiler::model::{Model, Symmetry};

/// The component that holds an entry, and whether with the other sign; `None` if the entry is zero.
pub(super) type Entry = Option<(usize, bool)>;

/// The components of a model.
pub(super) struct Layout {
    /// Entries by field, row by row.
    pub(super) fields: Vec<Vec<Entry>>,
    /// Entries by source, row by row.
    pub(super) sources: Vec<Vec<Entry>>,
    /// The axes of the indices of each component: fields first, then sources.
    pub(super) indices: Vec<Vec<usize>>,
    /// The field and its entry that evolve each component.
    pub(super) evolved: Vec<(usize, usize)>,
}

impl Layout {
    pub(super) fn new(model: &Model) -> Self {
        let n = model.components;
        let mut layout = Layout {
            fields: Vec::new(),
            sources: Vec::new(),
            indices: Vec::new(),
            evolved: Vec::new(),
        };
        for (i, field) in model.fields.iter().enumerate() {
            let begin = layout.indices.len();
            let entries = layout.entries(field.rank, field.symmetry, n);
            let own = |component: usize| {
                let held = |entry: &Entry| *entry == Some((component, false));
                entries.iter().position(held)
            };
            let components = begin..layout.indices.len();
            let evolved = components.filter_map(|component| Some((i, own(component)?)));
            layout.evolved.extend(evolved);
            layout.fields.push(entries);
        }
        for source in &model.sources {
            let entries = layout.entries(source.rank, Symmetry::General, n);
            layout.sources.push(entries);
        }
        layout
    }

    fn entries(&mut self, rank: Rank, symmetry: Symmetry, n: usize) -> Vec<Entry> {
        let indices: Vec<Vec<usize>> = match rank {
            Rank::Scalar => vec![Vec::new()],
            Rank::Vector => (0..n).map(|i| vec![i]).collect(),
            Rank::Tensor => (0..n * n).map(|k| vec![k / n, k % n]).collect(),
        };
        let mut entries: Vec<Entry> = Vec::new();
        for of in &indices {
            let below = symmetry != Symmetry::General && of.len() == 2 && of[0] > of[1];
            let entry = if below {
                let above = entries[of[1] * n + of[0]];
                let turned = symmetry == Symmetry::Antisymmetric;
                above.map(|(component, negative)| (component, negative != turned))
            } else if symmetry == Symmetry::Antisymmetric && of[0] == of[1] {
                None
            } else {
                self.indices.push(of.clone());
                Some((self.indices.len() - 1, false))
            };
            entries.push(entry);
        }
        entries
    }
}
