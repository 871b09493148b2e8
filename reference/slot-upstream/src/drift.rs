//! What changed between two releases of wgpu-hal.
