//! Runs implementations in lockstep and reports where they part. `ARCHITECTURE.md` draws the whole; each module says its part.

pub mod campaign;
pub mod case;
pub mod cli;
pub mod corpus;
pub mod coverage;
pub mod files;
pub mod findings;
pub mod generators;
pub mod gpu;
pub mod msl;
pub mod oracles;
pub mod readers;
pub mod report;
pub mod setup;
pub mod shaders;
pub mod text;
