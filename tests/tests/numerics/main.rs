//! What the built-in systems compute: their accuracy, and solutions that are known. One program,
//! since each instantiates the engines for itself.

mod laws;
mod order;
mod solutions;
