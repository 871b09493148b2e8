//! Runs implementations in lockstep and reports where they part. `ARCHITECTURE.md` draws the whole; each module says its part.

// What is printed goes through `say`, which does not panic where nobody reads.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod bind;
pub mod campaign;
pub mod case;
pub mod cli;
pub mod corpus;
pub mod coverage;
pub mod deep;
pub mod files;
pub mod findings;
pub mod generators;
pub mod gpu;
pub mod input;
pub mod ledger;
pub mod minimize;
pub mod msl;
pub mod oracles;
pub mod panics;
pub mod pipeline;
pub mod power;
pub mod readers;
pub mod recording;
pub mod report;
pub mod say;
pub mod setup;
pub mod shaders;
pub mod text;

pub use subject::strict;
