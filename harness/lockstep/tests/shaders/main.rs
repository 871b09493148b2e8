//! `lockstep shaders` and naga's pipeline under it: the errors, the layouts and slots, the command.

mod command;
mod hostile;
mod layouts;
mod pipeline;
