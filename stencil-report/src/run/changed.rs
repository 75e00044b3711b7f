//! Parameters that are changed while a run goes on.

use serde_json::{Value, json};
use stencil_runtime::report::significant;

use super::DIGITS;

/// Another value of a parameter, from a step on.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// The last step with the earlier value.
    pub step: u64,
    /// The time after it.
    pub t: f64,
    /// The parameter.
    pub param: String,
    /// Its value before.
    pub from: f64,
    /// Its value from then on.
    pub to: f64,
}

impl Changed {
    /// Returns `k = 0.1 after step 20, at t = 0.5 (was 0.05)`, with all digits of values.
    pub fn line(&self) -> String {
        let Changed { step, t, param, from, to } = self;
        let t = significant(*t, DIGITS);
        format!("{param} = {to:?} after step {step}, at t = {t} (was {from:?})")
    }

    /// Returns the object for programs.
    pub fn json(&self) -> Value {
        let Changed { step, t, param, from, to } = self;
        json!({ "step": step, "t": t, "param": param, "from": from, "to": to })
    }
}
