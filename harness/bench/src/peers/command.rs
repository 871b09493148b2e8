//! The commands as the types that one would write for serde and rkyv, and the rules of wire.md section 3 over them.
// What rkyv derives says nothing of its fields.
#![allow(missing_docs)]

use rkyv::{Archive, Deserialize, Serialize};
use wire::Context::{self, Compute, Outside, Render};
use wire::{MAX_BUNDLES, MAX_COLOR_ATTACHMENTS, MAX_DYNAMIC_OFFSETS, MAX_READ_WINDOW, MAX_SAFE_INTEGER};

/// Derives what every peer needs, for one type and for what rkyv makes of it.
macro_rules! carried {
    ($($item:item)+) => {
        $(#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, Archive, Serialize, Deserialize)] $item)+
    };
}

carried! {
    /// An id that must not be 0.
    pub struct Id(pub u32);
    /// An id that may be.
    pub struct OptionalId(pub u32);
    /// A u64 of at most 2^53 - 1.
    pub struct Safe(pub u64);
    /// A finite float.
    pub struct Finite(pub f32);
    /// A value of an enumeration or a bool.
    pub struct Of<const LEAST: u32, const MOST: u32>(pub u32);
    /// What a copy of a texture starts at.
    pub struct Place { pub texture: Id, pub at: [u32; 4], pub aspect: Of<0, 3> }
    /// A color attachment.
    pub struct Color {
        pub view: OptionalId, pub resolve_target: OptionalId, pub load_op: Of<1, 2>, pub store_op: Of<1, 2>, pub clear: [Finite; 4],
    }
    /// A depth and stencil attachment.
    pub struct Depth {
        pub view: Id, pub depth_load_op: Of<0, 2>, pub depth_store_op: Of<0, 2>, pub depth_clear: Finite, pub depth_read_only: Of<0, 1>,
        pub stencil_load_op: Of<0, 2>, pub stencil_store_op: Of<0, 2>, pub stencil_clear: u32, pub stencil_read_only: Of<0, 1>,
    }
}

/// What a field is on the wire, and whether it is well formed (check 7).
pub trait Field: Sized {
    /// Takes it off the front of a command's arguments.
    fn take(args: &mut &[u32]) -> Self;
    /// Puts its words at the end.
    fn put(&self, words: &mut Vec<u32>);
}

/// Whether a field is well formed (check 7), of a command and of an archived one.
pub trait Holds {
    /// Whether it is.
    fn holds(&self) -> bool;
}

fn word(args: &mut &[u32]) -> u32 {
    let (&word, rest) = args.split_first().expect("decoded commands have their arguments");
    *args = rest;
    word
}

impl Field for u32 {
    fn take(args: &mut &[u32]) -> Self {
        word(args)
    }
    fn put(&self, words: &mut Vec<u32>) {
        words.push(*self);
    }
}

macro_rules! one_word {
    ($([$($generic:tt)*] $type:ty, $archived:ty, |$word:ident| $holds:expr;)+) => {$(
        impl<$($generic)*> Field for $type {
            fn take(args: &mut &[u32]) -> Self {
                Self(word(args))
            }
            fn put(&self, words: &mut Vec<u32>) {
                words.push(self.0);
            }
        }
        impl<$($generic)*> Holds for $type {
            #[inline]
            fn holds(&self) -> bool {
                let $word = self.0;
                $holds
            }
        }
        impl<$($generic)*> Holds for $archived {
            #[inline]
            fn holds(&self) -> bool {
                let $word = self.0.to_native();
                $holds
            }
        }
    )+};
}

one_word! {
    [] Id, ArchivedId, |id| id != 0;
    [] OptionalId, ArchivedOptionalId, |_id| true;
    [const LEAST: u32, const MOST: u32] Of<LEAST, MOST>, ArchivedOf<LEAST, MOST>, |value| (LEAST..=MOST).contains(&value);
}

impl Field for Safe {
    fn take(args: &mut &[u32]) -> Self {
        Self(u64::from(word(args)) | u64::from(word(args)) << 32)
    }
    fn put(&self, words: &mut Vec<u32>) {
        words.extend([self.0 as u32, (self.0 >> 32) as u32]);
    }
}

impl Field for Finite {
    fn take(args: &mut &[u32]) -> Self {
        Self(f32::from_bits(word(args)))
    }
    fn put(&self, words: &mut Vec<u32>) {
        words.push(self.0.to_bits());
    }
}

impl<T: Field, const N: usize> Field for [T; N] {
    fn take(args: &mut &[u32]) -> Self {
        std::array::from_fn(|_| T::take(args))
    }
    fn put(&self, words: &mut Vec<u32>) {
        self.iter().for_each(|item| item.put(words));
    }
}

impl<T: Field> Field for Vec<T> {
    fn take(args: &mut &[u32]) -> Self {
        (0..word(args)).map(|_| T::take(args)).collect()
    }
    fn put(&self, words: &mut Vec<u32>) {
        words.push(self.len() as u32);
        self.iter().for_each(|item| item.put(words));
    }
}

impl<T: Field> Field for Option<T> {
    fn take(args: &mut &[u32]) -> Self {
        (word(args) == 1).then(|| T::take(args))
    }
    fn put(&self, words: &mut Vec<u32>) {
        words.push(u32::from(self.is_some()));
        self.iter().for_each(|item| item.put(words));
    }
}

/// The same for a type and for what rkyv makes of it.
macro_rules! holds {
    ($([$($generic:tt)*] $type:ty, $archived:ty, |$it:ident| $holds:expr;)+) => {$(
        impl<$($generic)*> Holds for $type {
            #[inline]
            fn holds(&self) -> bool {
                let $it = self;
                $holds
            }
        }
        impl<$($generic)*> Holds for $archived {
            #[inline]
            fn holds(&self) -> bool {
                let $it = self;
                $holds
            }
        }
    )+};
}

/// A number as it is, or as rkyv stores it.
trait Number {
    type Native;
    fn native(&self) -> Self::Native;
}

macro_rules! numbers {
    ($($native:ty, $archived:ty;)+) => {$(
        impl Number for $native {
            type Native = $native;
            #[inline]
            fn native(&self) -> $native {
                *self
            }
        }
        impl Number for $archived {
            type Native = $native;
            #[inline]
            fn native(&self) -> $native {
                self.to_native()
            }
        }
    )+};
}

numbers! {
    u32, rkyv::rend::u32_le;
    u64, rkyv::rend::u64_le;
    f32, rkyv::rend::f32_le;
}

holds! {
    [] u32, rkyv::rend::u32_le, |_it| true;
    [] Safe, ArchivedSafe, |it| it.0.native() <= MAX_SAFE_INTEGER;
    [] Finite, ArchivedFinite, |it| it.0.native().is_finite();
    [] Place, ArchivedPlace, |it| it.texture.holds() && it.aspect.holds();
    [] Color, ArchivedColor, |it| it.load_op.holds() && it.store_op.holds() && it.clear.holds();
    [] Depth, ArchivedDepth, |it| it.view.holds() && it.depth_load_op.holds() && it.depth_store_op.holds() && it.depth_clear.holds()
        && it.depth_read_only.holds() && it.stencil_load_op.holds() && it.stencil_store_op.holds() && it.stencil_read_only.holds();
}

impl<T: Holds, const N: usize> Holds for [T; N] {
    #[inline]
    fn holds(&self) -> bool {
        self.iter().all(Holds::holds)
    }
}

impl<T: Holds> Holds for Vec<T> {
    fn holds(&self) -> bool {
        self.iter().all(Holds::holds)
    }
}

impl<T: Holds> Holds for rkyv::vec::ArchivedVec<T> {
    fn holds(&self) -> bool {
        self.iter().all(Holds::holds)
    }
}

impl<T: Holds> Holds for Option<T> {
    fn holds(&self) -> bool {
        self.iter().all(Holds::holds)
    }
}

impl<T: Holds> Holds for rkyv::option::ArchivedOption<T> {
    fn holds(&self) -> bool {
        self.iter().all(Holds::holds)
    }
}

/// A struct that is its fields, one after the other.
macro_rules! fields {
    ($($type:ident { $($field:ident),+ })+) => {$(
        impl Field for $type {
            fn take(args: &mut &[u32]) -> Self {
                Self { $($field: Field::take(args)),+ }
            }
            fn put(&self, words: &mut Vec<u32>) {
                $(self.$field.put(words);)+
            }
        }
    )+};
}

fields! {
    Place { texture, at, aspect }
    Color { view, resolve_target, load_op, store_op, clear }
    Depth {
        view, depth_load_op, depth_store_op, depth_clear, depth_read_only, stencil_load_op, stencil_store_op, stencil_clear,
        stencil_read_only
    }
}

/// The table of wire.md section 2, as an enumeration: opcode, name, where it may stand, fields, and what else must hold of them.
macro_rules! commands {
    (@rules $type:ident, $data_len:ident, $($name:ident in $($context:ident)|+ { $($field:ident),* } $(if $also:expr)?;)+) => {
        impl Rules for $type {
            #[inline]
            fn next(&self, context: Context, $data_len: u32) -> Option<Context> {
                match self {
                    $(Self::$name { $($field),* } => {
                        let holds = matches!(context, $($context)|+) $(&& $field.holds())* $(&& $also)?;
                        holds.then_some(after(wire::Op::$name, context))
                    })+
                }
            }
        }
    };
    ($data_len:ident; $($name:ident in $($context:ident)|+ { $($field:ident: $type:ty),* } $(if $also:expr)?;)+) => {
        /// One command.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, Archive, Serialize, Deserialize)]
        pub enum Command { $($name { $($field: $type),* }),+ }

        impl Command {
            /// The same command of a stream that was decoded.
            pub fn of(cmd: wire::Cmd<'_>) -> Self {
                let mut args = cmd.args;
                let args = &mut args;
                match cmd.op {
                    $(wire::Op::$name => Self::$name { $($field: <$type as Field>::take(args)),* },)+
                }
            }

            /// Its words, opcode first, put at the end.
            pub fn put(&self, words: &mut Vec<u32>) {
                match self {
                    $(Self::$name { $($field),* } => {
                        words.push(wire::Op::$name.word());
                        $($field.put(words);)*
                    })+
                }
            }
        }

        commands!(@rules Command, $data_len, $($name in $($context)|+ { $($field),* } $(if $also)?;)+);
        commands!(@rules ArchivedCommand, $data_len, $($name in $($context)|+ { $($field),* } $(if $also)?;)+);
    };
}

/// Checks 2 and 4 to 10 of wire.md section 3 over a command.
pub trait Rules {
    /// The context after it, where it may stand in `context` and everything about it holds.
    fn next(&self, context: Context, data_len: u32) -> Option<Context>;
}

#[inline]
fn after(op: wire::Op, context: Context) -> Context {
    match op {
        wire::Op::BeginRenderPass => Render,
        wire::Op::BeginComputePass => Compute,
        wire::Op::EndPass => Outside,
        _ => context,
    }
}

#[inline]
fn inside(offset: u32, length: u32, limit: u32) -> bool {
    u64::from(offset) + u64::from(length) <= u64::from(limit)
}

commands! {
    data_len;
    SetPipeline in Render | Compute { pipeline: Id };
    SetBindGroup in Render | Compute { index: u32, bind_group: OptionalId, offsets: Vec<u32> }
        if offsets.len() <= MAX_DYNAMIC_OFFSETS as usize;
    Draw in Render { vertex_count: u32, instance_count: u32, first_vertex: u32, first_instance: u32 };
    DrawIndexed in Render { index_count: u32, instance_count: u32, first_index: u32, base_vertex: u32, first_instance: u32 };
    SetVertexBuffer in Render { slot: u32, buffer: OptionalId, offset: Safe, size: Safe };
    SetIndexBuffer in Render { buffer: Id, format: Of<1, 2>, offset: Safe, size: Safe };
    SetViewport in Render { values: [Finite; 6] };
    SetScissorRect in Render { values: [u32; 4] };
    SetBlendConstant in Render { color: [Finite; 4] };
    SetStencilReference in Render { reference: u32 };
    ExecuteBundles in Render { bundles: Vec<Id> } if bundles.len() <= MAX_BUNDLES as usize;
    DrawIndirect in Render { buffer: Id, offset: Safe };
    DrawIndexedIndirect in Render { buffer: Id, offset: Safe };
    BeginRenderPass in Outside { colors: Vec<Color>, depth: Option<Depth> }
        if colors.len() <= MAX_COLOR_ATTACHMENTS as usize;
    EndPass in Render | Compute {};
    BeginComputePass in Outside {};
    Dispatch in Compute { x: u32, y: u32, z: u32 };
    DispatchIndirect in Compute { buffer: Id, offset: Safe };
    WriteBuffer in Outside | Render | Compute { buffer: Id, offset: Safe, data_offset: u32, length: u32 }
        if inside(data_offset.native(), length.native(), data_len) && length.native().is_multiple_of(4);
    CopyBufferToBuffer in Outside { src: Id, src_offset: Safe, dst: Id, dst_offset: Safe, size: Safe };
    CopyTextureToTexture in Outside { src: Place, dst: Place, size: [u32; 3] };
    WriteTexture in Outside | Render | Compute {
        texture: Place, data_offset: u32, data_length: u32, layout_offset: Safe, bytes_per_row: u32, rows_per_image: u32, size: [u32; 3]
    } if inside(data_offset.native(), data_length.native(), data_len);
    ReadBuffer in Outside | Render | Compute { buffer: Id, offset: Safe, size: u32, window_offset: u32 }
        if offset.0.native().is_multiple_of(8) && size.native() != 0 && size.native().is_multiple_of(4)
            && inside(window_offset.native(), size.native(), MAX_READ_WINDOW);
    Submit in Outside {};
}
