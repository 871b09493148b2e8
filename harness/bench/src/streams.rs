//! Streams of a given length: what a program's frames look like, with the ids of one small object table.

use std::fs;
use std::path::{Path, PathBuf};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use wire::Op;

/// The bytes of data that every stream goes with. Nothing here reads them.
pub const DATA_LEN: u32 = 1 << 20;
/// Ids run from 1 to this; each names a buffer of [`BUFFER_SIZE`] bytes, or whatever the command takes.
pub const IDS: u32 = 256;
/// The bytes of each buffer.
pub const BUFFER_SIZE: u64 = 1 << 30;

/// One stream, and what it is like.
#[derive(Clone, Debug)]
pub struct Stream {
    /// `render`, `compute`, `upload`, `recorded`, or `refused`, which is refused at its last command.
    pub kind: &'static str,
    /// The words.
    pub words: Vec<u32>,
    /// How many commands they are.
    pub commands: usize,
}

/// A stream of at least `bytes` bytes, whole frames with every pass closed, of one of the generated kinds.
///
/// The frames of a stream are of one scene, as a program's are: the same commands in the same order, with other ids and offsets.
pub fn generated(kind: &'static str, bytes: usize) -> Stream {
    let frame = match kind {
        "render" | "refused" => render_frame,
        "compute" => compute_frame,
        "upload" => upload_frame,
        _ => panic!("there are no generated streams called {kind}"),
    };
    let mut maker = Maker {
        words: Vec::new(),
        commands: 0,
        scene: ChaCha8Rng::seed_from_u64(1),
        values: ChaCha8Rng::seed_from_u64(2),
    };
    while size_of_val(&maker.words[..]) < bytes {
        maker.scene = ChaCha8Rng::seed_from_u64(1);
        frame(&mut maker);
    }
    if kind == "refused" {
        // Refused at its last argument, once everything before it was accepted.
        maker.push(Op::WriteBuffer, &[1, 0, 0, 0, 3]);
    }
    Stream {
        kind,
        words: maker.words,
        commands: maker.commands,
    }
}

/// The streams of the recordings in `corpus/recordings`, one after the other and again until there are as many bytes; `None` where there
/// are none. Ids are kept. Streams whose data is longer than [`DATA_LEN`] are left out.
pub fn recorded(bytes: usize) -> Option<Stream> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/recordings");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .flatten()
        .flat_map(|recording| fs::read_dir(recording.path()).into_iter().flatten().flatten())
        .map(|file| file.path())
        .filter(|file| file.extension().is_some_and(|ending| ending == "wire"))
        .collect();
    files.sort();
    let mut once = Vec::new();
    for file in files {
        let blob = fs::read(file).ok()?;
        let stream = wire::Blob::parse(&blob)
            .ok()
            .filter(|stream| stream.data.len() <= DATA_LEN as usize);
        once.extend(stream.into_iter().flat_map(|stream| stream.words));
    }
    let times = bytes.div_ceil(size_of_val(&once[..]).max(1));
    let words = once.repeat(times);
    let commands = wire::commands(&words, DATA_LEN).map_while(Result::ok).count();
    (commands > 0).then_some(Stream {
        kind: "recorded",
        words,
        commands,
    })
}

struct Maker {
    words: Vec<u32>,
    commands: usize,
    /// What a frame consists of.
    scene: ChaCha8Rng,
    /// Ids and offsets.
    values: ChaCha8Rng,
}

impl Maker {
    fn push(&mut self, op: Op, args: &[u32]) {
        self.words.push(op.word());
        self.words.extend(args);
        self.commands += 1;
    }

    /// A number below `limit`, the same in every frame.
    fn below(&mut self, limit: u32) -> u32 {
        self.scene.next_u32() % limit
    }

    fn id(&mut self) -> u32 {
        1 + self.values.next_u32() % IDS
    }

    /// Two ids that differ: a copy's ends.
    fn two_ids(&mut self) -> (u32, u32) {
        let id = self.id();
        (id, id % IDS + 1)
    }

    /// An offset of a buffer, in the first MiB.
    fn offset(&mut self) -> u32 {
        self.values.next_u32() % (1 << 12) * 256
    }

    fn write_buffer(&mut self, length: u32) {
        let (buffer, offset, from) = (self.id(), self.offset(), self.offset());
        self.push(Op::WriteBuffer, &[buffer, offset, 0, from / 2, length]);
    }

    fn set_pipeline(&mut self) {
        let pipeline = self.id();
        self.push(Op::SetPipeline, &[pipeline]);
    }

    fn set_bind_group(&mut self, index: u32) {
        let bind_group = self.id();
        self.push(Op::SetBindGroup, &[index, bind_group, 0]);
    }

    fn set_vertex_buffer(&mut self, slot: u32) {
        let (buffer, offset) = (self.id(), self.offset());
        self.push(Op::SetVertexBuffer, &[slot, buffer, offset, 0, 65536, 0]);
    }
}

/// What three.js does of a lit scene: it writes the uniforms of each object, then draws them in one pass, objects that share a material
/// and a mesh one after the other.
fn render_frame(maker: &mut Maker) {
    const ONE: u32 = 0x3F80_0000;
    for _ in 0..64 {
        maker.write_buffer(256);
    }
    let (view, depth) = (maker.id(), maker.id());
    maker.push(
        Op::BeginRenderPass,
        &[1, view, 0, 2, 1, 0, 0, 0, ONE, 1, depth, 2, 1, ONE, 0, 0, 0, 0, 0],
    );
    maker.push(Op::SetViewport, &[0, 0, 0x4480_0000, 0x4440_0000, 0, ONE]);
    for _ in 0..64 {
        maker.set_pipeline();
        maker.set_bind_group(0);
        maker.set_vertex_buffer(0);
        maker.set_vertex_buffer(1);
        if maker.below(8) == 0 {
            let indices = maker.id();
            maker.push(Op::SetIndexBuffer, &[indices, 1, 0, 0, 65536, 0]);
        }
        maker.push(Op::DrawIndexed, &[1536, 1, 0, 0, 0]);
        for _ in 0..maker.below(4) {
            maker.set_bind_group(1);
            maker.push(Op::DrawIndexed, &[1536, 1, 0, 0, 0]);
        }
    }
    maker.push(Op::EndPass, &[]);
    maker.push(Op::Submit, &[]);
}

/// What TensorFlow.js does to run a network: passes of a few dispatches, with copies between them, and a read at the end.
fn compute_frame(maker: &mut Maker) {
    for _ in 0..16 {
        maker.write_buffer(64);
    }
    for _ in 0..32 {
        maker.push(Op::BeginComputePass, &[]);
        for _ in 0..1 + maker.below(4) {
            maker.set_pipeline();
            maker.set_bind_group(0);
            let (x, y) = (maker.below(1000), 1 + maker.below(16));
            maker.push(Op::Dispatch, &[x, y, 1]);
        }
        maker.push(Op::EndPass, &[]);
        let (from, to) = maker.two_ids();
        maker.push(Op::CopyBufferToBuffer, &[from, 0, 0, to, 0, 0, 4096, 0]);
    }
    maker.push(Op::Submit, &[]);
    let result = maker.id();
    maker.push(Op::ReadBuffer, &[result, 0, 0, 4096, 0]);
}

/// What streaming does: buffers and textures written, and copied on.
fn upload_frame(maker: &mut Maker) {
    for _ in 0..16 {
        for _ in 0..1 + maker.below(8) {
            maker.write_buffer(4096);
        }
        let ((from, to), offset) = (maker.two_ids(), maker.offset());
        maker.push(Op::CopyBufferToBuffer, &[from, 0, 0, to, offset, 0, 65536, 0]);
        for _ in 0..1 + maker.below(4) {
            let texture = maker.id();
            let place = [texture, 0, 0, 0, 0, 1];
            maker.push(
                Op::WriteTexture,
                &[&place[..], &[0, 16384, 0, 0, 256, 64, 64, 64, 1]].concat(),
            );
        }
        let (from, to) = (maker.id(), maker.id());
        let ends = [from, 0, 0, 0, 0, 1, to, 1, 0, 0, 0, 1];
        maker.push(Op::CopyTextureToTexture, &[&ends[..], &[64, 64, 1]].concat());
    }
    maker.push(Op::Submit, &[]);
}
