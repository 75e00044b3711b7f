//! The stages against each other: however a system is scheduled, lowered or emitted, its bits are those of the
//! definition. One program, since each instantiates the engines for itself.

mod ahead;
mod algebra;
mod barriers;
mod conserve;
mod constant_fields;
mod device_code;
mod ends;
mod engines;
mod faults;
mod functions;
mod fused;
mod generic;
mod invariance;
mod language;
mod marks;
mod names;
mod nvrtc;
mod passes;
mod patches;
mod pointwise;
mod products;
mod prologue;
mod random_systems;
mod regions;
mod restarts;
mod storage;
mod studies;
mod texts;
mod transport;
mod written;
