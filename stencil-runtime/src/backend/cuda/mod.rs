//! NVIDIA GPUs. The only folder of the runtime in which the vendor's name occurs.

pub mod nvrtc;
