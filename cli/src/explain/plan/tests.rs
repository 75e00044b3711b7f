//! Reports of plans.
