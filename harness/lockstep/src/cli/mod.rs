//! The command line.

pub mod doctor;
pub mod repro;
pub mod run;
pub mod test;
