//! The runtime as its users call it. One program, since each instantiates the engines for itself.

mod accuracy;
mod boundaries;
mod cards;
mod causes;
mod deep;
mod frames;
mod handover;
mod limits;
mod loops;
mod messages;
mod open_faces;
mod orders;
mod parts;
mod patches;
mod places;
mod reciprocals;
mod reference;
mod rejected;
mod reschedule;
mod restart;
mod runs;
mod stability;
mod storage;
mod streaming;
mod threads;
