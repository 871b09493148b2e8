//! The strict check: what WebGPU would refuse over memory, said before any replay (wire.md section 8).
//!
//! The positions of arguments are those of wire.md section 2.

mod buffers;
mod draws;
mod facts;
mod format;
mod rule;
mod textures;

pub use facts::{BufferFacts, Dimension, DynamicBuffer, Limits, ObjectTable, TextureFacts, VertexBufferLayout};
pub use format::Format;
pub use rule::{Class, Rule};

use crate::{Cmd, Op};
use draws::Bound;

/// Why [`check_strict`] refuses a stream, and where (wire.md section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("command {command} ({op}), word {word}: {}: {rule}", .rule.class())]
pub struct Strict {
    /// The command's index, from 0, every command counted.
    pub command: usize,
    /// Its opcode.
    pub op: Op,
    /// Index, in the stream's words, of the argument that the rule is about.
    pub word: usize,
    /// The first rule that the command breaks.
    pub rule: Rule,
}

impl Strict {
    /// The class of the rule.
    pub fn class(&self) -> Class {
        self.rule.class()
    }
}

/// Whether every command keeps to the rules of memory that WebGPU would hold it to (wire.md section 8).
///
/// `cmds` are the commands of a stream that [`decode`](crate::decode) or [`remap`](crate::remap) accepted, in the replayer's ids, and
/// `table` tells of the objects that they name. What it accepts [`check_ranges`](crate::check_ranges) accepts under the same dispatch
/// bound. The read window is not looked at: [`check_reads`](crate::check_reads) does. Time is linear in the words, and nothing is
/// allocated.
///
/// # Errors
///
/// The first rule that the first refused command breaks.
pub fn check_strict<'a>(cmds: impl IntoIterator<Item = Cmd<'a>>, table: &impl ObjectTable) -> Result<(), Strict> {
    check(Checker::new(table, false), cmds)
}

/// [`check_strict`] for a render bundle: `cmds` are the commands of its words, which [`decode_bundle`](crate::decode_bundle)
/// accepted, with the ids that its references name in place of their positions. WebGPU holds a bundle to the rules when it is made.
///
/// # Errors
///
/// As [`check_strict`].
pub fn check_strict_bundle<'a>(
    cmds: impl IntoIterator<Item = Cmd<'a>>,
    table: &impl ObjectTable,
) -> Result<(), Strict> {
    check(Checker::new(table, true), cmds)
}

fn check<'a, T: ObjectTable>(
    mut checker: Checker<'_, T>,
    cmds: impl IntoIterator<Item = Cmd<'a>>,
) -> Result<(), Strict> {
    for (command, cmd) in cmds.into_iter().enumerate() {
        checker.command(&cmd).map_err(|Broken { argument, rule }| Strict {
            command,
            op: cmd.op,
            word: cmd.word + 1 + argument,
            rule,
        })?;
    }
    Ok(())
}

/// A rule that a command breaks.
struct Broken {
    /// The argument that it is about, counted from the word after the opcode.
    argument: usize,
    rule: Rule,
}

type Checked = Result<(), Broken>;

#[cold]
fn broken(argument: usize, rule: Rule) -> Broken {
    Broken { argument, rule }
}

fn require(holds: bool, argument: usize, rule: Rule) -> Checked {
    if holds { Ok(()) } else { Err(broken(argument, rule)) }
}

/// What an id names; an id of another kind breaks the rule of section 4, rule 6.
fn named<F>(facts: Option<F>, argument: usize) -> Result<F, Broken> {
    facts.ok_or_else(|| broken(argument, Rule::WrongKind))
}

/// The check on its way through the commands.
struct Checker<'t, T> {
    table: &'t T,
    limits: Limits,
    /// The open pass is a render pass, or the commands are a bundle's.
    rendering: bool,
    /// What the open render pass has set.
    bound: Bound<'t>,
}

impl<'t, T: ObjectTable> Checker<'t, T> {
    fn new(table: &'t T, rendering: bool) -> Self {
        Checker {
            table,
            limits: table.limits(),
            rendering,
            bound: Bound::default(),
        }
    }

    fn command(&mut self, cmd: &Cmd<'_>) -> Checked {
        let args = cmd.args;
        match cmd.op {
            Op::BeginRenderPass | Op::BeginComputePass => {
                self.rendering = cmd.op == Op::BeginRenderPass;
                self.bound = Bound::default();
            }
            // Bundles leave nothing set behind them, none of them too.
            Op::ExecuteBundles => self.bound = Bound::default(),
            Op::EndPass
            | Op::Submit
            | Op::SetViewport
            | Op::SetScissorRect
            | Op::SetBlendConstant
            | Op::SetStencilReference => {}
            Op::SetPipeline => self.set_pipeline(sized(args)?)?,
            Op::SetBindGroup => self.set_bind_group(args)?,
            Op::SetVertexBuffer => self.set_vertex_buffer(sized(args)?)?,
            Op::SetIndexBuffer => self.set_index_buffer(sized(args)?)?,
            Op::Draw => self.bound.draw(sized(args)?)?,
            Op::DrawIndexed => self.bound.draw_indexed(sized(args)?)?,
            Op::DrawIndirect => self.indirect(sized(args)?, 16, Rule::DrawIndirectRange)?,
            Op::DrawIndexedIndirect => self.indirect(sized(args)?, 20, Rule::DrawIndexedIndirectRange)?,
            Op::Dispatch => self.dispatch(sized(args)?)?,
            Op::DispatchIndirect => self.indirect(sized(args)?, 12, Rule::DispatchIndirectRange)?,
            Op::WriteBuffer => self.write_buffer(sized(args)?)?,
            Op::CopyBufferToBuffer => self.copy_buffer_to_buffer(sized(args)?)?,
            Op::CopyTextureToTexture => self.copy_texture_to_texture(sized(args)?)?,
            Op::WriteTexture => self.write_texture(sized(args)?)?,
            Op::ReadBuffer => self.read_buffer(sized(args)?)?,
        }
        Ok(())
    }
}

/// The arguments of a command that takes `N` words.
fn sized<const N: usize>(args: &[u32]) -> Result<[u32; N], Broken> {
    args.try_into().map_err(|_| broken(0, Rule::Malformed))
}
