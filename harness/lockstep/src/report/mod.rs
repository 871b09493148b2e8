//! The report: results as data, and the three shapes that they are shown in.

pub mod html;
pub mod results;
pub mod terminal;
