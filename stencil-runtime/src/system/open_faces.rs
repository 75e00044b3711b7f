//! The same system on a mesh with values on its faces that follow from a rule.

use std::sync::Arc;

use stencil_compiler::algorithm::open_faces::OpenFaces;
use stencil_compiler::discretize::Observation;
use stencil_compiler::search::heuristic;

use super::{Parts, SystemDef};

impl SystemDef {
    /// Returns the fields on faces whose divergence stays where it is.
    pub(crate) fn kept_divergences(&self) -> Vec<String> {
        self.algorithm().kept_divergences(self.model().scheme.order)
    }

    /// Returns a name that nothing in its algorithms has.
    pub(crate) fn free_name(&self, like: &str) -> String {
        let name = self.algorithm().free_name(like);
        match self.observation().map(|observation| observation.algorithm.free_name(&name)) {
            Some(free) if free != name => self.free_name(&free),
            Some(_) | None => name,
        }
    }

    /// Returns the same system with these rules. It has no compiled program.
    pub(crate) fn with_open_faces(&self, faces: OpenFaces) -> Self {
        let parts = &self.0;
        let algorithm = parts.algorithm.with_open_faces(&faces);
        SystemDef(Arc::new(Parts {
            source: parts.source.clone(),
            model: parts.model.clone(),
            schedule: heuristic::cpu(&algorithm),
            observation: parts.observation.as_ref().map(|of| observed(of, &faces)),
            kernels: None,
            open_faces: Some(faces),
            algorithm,
        }))
    }

    /// Returns the rules of values on faces, if it has some.
    pub(crate) fn open_faces(&self) -> Option<&OpenFaces> {
        self.0.open_faces.as_ref()
    }

    /// Returns quantities as they are observed on the mesh of this system.
    pub(crate) fn on_open_faces(&self, of: &Observation) -> Observation {
        self.open_faces().map_or_else(|| of.clone(), |faces| observed(of, faces))
    }
}

fn observed(of: &Observation, faces: &OpenFaces) -> Observation {
    let (algorithm, quantities) = (of.algorithm.with_open_faces(faces), of.quantities.clone());
    Observation { algorithm, quantities }
}
