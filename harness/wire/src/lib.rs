#![forbid(unsafe_code)]
//! stub
