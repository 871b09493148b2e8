//! Names packages; holds no code.
