//! The accuracy of the built-in systems, and known solutions. One program, since each instantiates the engines for
//! itself.

mod laws;
mod order;
mod solutions;
