//! What the shadow foretells, case by case, against values that were written out by hand from wire.md and from WebGPU.

use lockstep::case::Object;
use lockstep::gpu::kernels::Kernel;
use lockstep::gpu::shadow::{Shadow, WINDOW, foretell};
use wire::{Kind, Op, Read};

const CLEAR: u32 = 2;
const LOAD: u32 = 1;
const STORE: u32 = 1;
const DISCARD: u32 = 2;
const LEFT_OUT: u32 = u32::MAX;

/// Objects, a stream over them and its reads, as they are put together.
#[derive(Default)]
struct Scene {
    objects: Vec<Object>,
    words: Vec<u32>,
    data: Vec<u8>,
    reads: Vec<Read>,
    window: u32,
}

impl Scene {
    fn object(&mut self, id: u32, kind: Kind, refs: &[u32], body: impl Into<String>) -> &mut Self {
        self.objects.push(Object {
            id,
            kind,
            refs: refs.to_vec(),
            body: body.into(),
        });
        self
    }

    fn buffer(&mut self, id: u32, size: u64) -> &mut Self {
        self.object(id, Kind::Buffer, &[], format!(r#"{{"size":{size},"usage":4095}}"#))
    }

    /// `more` continues the body, from a comma on.
    fn texture(&mut self, id: u32, format: &str, [w, h, layers]: [u32; 3], more: &str) -> &mut Self {
        let size = format!(r#"{{"width":{w},"height":{h},"depthOrArrayLayers":{layers}}}"#);
        self.object(
            id,
            Kind::Texture,
            &[],
            format!(r#"{{"size":{size},"format":"{format}","usage":31{more}}}"#),
        )
    }

    fn view(&mut self, id: u32, texture: u32, body: &str) -> &mut Self {
        self.object(id, Kind::TextureView, &[texture], body)
    }

    fn module(&mut self, id: u32, kernel: Kernel) -> &mut Self {
        let code = serde_json::to_string(&kernel.wgsl()).unwrap();
        self.object(id, Kind::ShaderModule, &[], format!(r#"{{"code":{code}}}"#))
    }

    fn op(&mut self, op: Op, args: &[u32]) -> &mut Self {
        self.words.push(op.word());
        self.words.extend(args);
        self
    }

    fn write(&mut self, id: u32, offset: u32, words: &[u32]) -> &mut Self {
        let start = self.data.len() as u32;
        self.data.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        self.op(Op::WriteBuffer, &[id, offset, 0, start, 4 * words.len() as u32])
    }

    fn copy(&mut self, src: u32, src_offset: u32, dst: u32, dst_offset: u32, size: u32) -> &mut Self {
        self.op(
            Op::CopyBufferToBuffer,
            &[src, src_offset, 0, dst, dst_offset, 0, size, 0],
        )
    }

    /// A write of bytes that lie in the data as `[offset, bytesPerRow, rowsPerImage]` says.
    fn write_texture(&mut self, at: [u32; 5], bytes: &[u8], layout: [u32; 3], extent: [u32; 3]) -> &mut Self {
        let (start, [id, mip, x, y, z], [offset, row, rows], [w, h, d]) = (self.data.len() as u32, at, layout, extent);
        self.data.extend(bytes);
        let length = bytes.len() as u32;
        self.op(
            Op::WriteTexture,
            &[id, mip, x, y, z, 0, start, length, offset, 0, row, rows, w, h, d],
        )
    }

    /// `from` and `to` are texture, mip, x, y, z.
    fn copy_texture(&mut self, from: [u32; 5], to: [u32; 5], extent: [u32; 3]) -> &mut Self {
        let ([a, b, c, d, e], [f, g, h, i, j], [w, hi, de]) = (from, to, extent);
        self.op(
            Op::CopyTextureToTexture,
            &[a, b, c, d, e, 0, f, g, h, i, j, 0, w, hi, de],
        )
    }

    /// A pass over color attachments: view, load op, store op, clear value.
    fn begin(&mut self, colors: &[(u32, u32, u32, [f32; 4])]) -> &mut Self {
        let mut args = vec![colors.len() as u32];
        for (view, load, store, clear) in colors {
            args.extend([*view, 0, *load, *store]);
            args.extend(clear.map(f32::to_bits));
        }
        args.push(0);
        self.op(Op::BeginRenderPass, &args)
    }

    fn end(&mut self) -> &mut Self {
        self.op(Op::EndPass, &[])
    }

    fn submit(&mut self) -> &mut Self {
        self.op(Op::Submit, &[])
    }

    fn read(&mut self, id: u32, offset: u64, size: u32, window_offset: u32) -> &mut Self {
        self.reads.push(Read {
            id,
            offset,
            size,
            window_offset,
        });
        self.op(Op::ReadBuffer, &[id, offset as u32, 0, size, window_offset])
    }

    fn run(&self) -> Shadow {
        foretell(&self.objects, &self.words, &self.data, &self.reads, self.window)
    }

    fn words_of(&self, id: u32) -> Vec<u32> {
        let shadow = self.run();
        assert!(!shadow.not_foretold.contains(&id), "{id} is not foretold");
        to_words(shadow.buffers.get(&id).or(shadow.textures.get(&id)).unwrap())
    }

    fn foretells(&self, id: u32) -> bool {
        let shadow = self.run();
        let kept = shadow.buffers.contains_key(&id) || shadow.textures.contains_key(&id);
        assert_eq!(
            kept,
            !shadow.not_foretold.contains(&id),
            "{id} must be in one of the two"
        );
        kept
    }
}

fn to_words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
        .collect()
}

// --- buffers, writes, submits, reads ---

#[test]
fn everything_starts_as_zero() {
    let mut scene = Scene::default();
    scene.buffer(1, 8).texture(2, "rg8uint", [2, 1, 1], "");
    let shadow = scene.run();
    assert_eq!(shadow.buffers[&1], [0; 8]);
    assert_eq!(shadow.textures[&2], [0; 4]);
    assert!(shadow.not_foretold.is_empty());
}

#[test]
fn a_write_comes_before_a_copy_that_was_recorded_earlier() {
    let mut scene = Scene::default();
    scene
        .buffer(1, 4)
        .buffer(2, 4)
        .write(1, 0, &[5])
        .copy(1, 0, 2, 0, 4)
        .write(1, 0, &[6])
        .submit();
    assert_eq!(scene.words_of(2), [6]);
}

#[test]
fn a_write_after_submit_comes_after_its_copies() {
    let mut scene = Scene::default();
    scene
        .buffer(1, 4)
        .buffer(2, 4)
        .write(1, 0, &[5])
        .copy(1, 0, 2, 0, 4)
        .submit()
        .write(1, 0, &[6]);
    assert_eq!((scene.words_of(1), scene.words_of(2)), (vec![6], vec![5]));
}

#[test]
fn a_copy_undoes_a_write_that_the_stream_has_after_it() {
    let mut scene = Scene::default();
    scene
        .buffer(1, 4)
        .buffer(2, 4)
        .write(1, 0, &[5])
        .copy(1, 0, 2, 0, 4)
        .write(2, 0, &[9])
        .submit();
    assert_eq!(scene.words_of(2), [5]);
}

#[test]
fn nothing_recorded_after_the_last_submit_takes_effect_but_writes_do() {
    let mut scene = Scene::default();
    scene
        .buffer(1, 4)
        .buffer(2, 4)
        .write(1, 0, &[5])
        .submit()
        .copy(1, 0, 2, 0, 4)
        .write(1, 0, &[7]);
    assert_eq!((scene.words_of(1), scene.words_of(2)), (vec![7], vec![0]));
}

#[test]
fn submits_take_effect_one_after_the_other() {
    let mut scene = Scene::default();
    scene.buffer(1, 4).buffer(2, 4).buffer(3, 4);
    scene
        .write(1, 0, &[5])
        .copy(1, 0, 2, 0, 4)
        .submit()
        .write(1, 0, &[6])
        .copy(2, 0, 3, 0, 4)
        .submit();
    assert_eq!((scene.words_of(2), scene.words_of(3)), (vec![5], vec![5]));
}

#[test]
fn writes_in_a_pass_go_to_the_queue_at_once() {
    let mut scene = compute_scene(Kernel::Count, 4);
    scene
        .op(Op::BeginComputePass, &[])
        .op(Op::SetPipeline, &[20])
        .op(Op::SetBindGroup, &[0, 30, 0]);
    scene.op(Op::Dispatch, &[1, 1, 1]).write(1, 0, &[10]).end().submit();
    assert_eq!(scene.words_of(1), [11]);
}

#[test]
fn empty_writes_and_copies_are_fine_at_the_end() {
    let mut scene = Scene::default();
    scene
        .buffer(1, 16)
        .buffer(2, 16)
        .write(1, 0, &[1, 2, 3, 4])
        .write(1, 16, &[])
        .copy(1, 16, 2, 16, 0)
        .submit();
    assert_eq!((scene.words_of(1), scene.words_of(2)), (vec![1, 2, 3, 4], vec![0; 4]));
}

#[test]
fn copies_move_the_range_they_name() {
    let mut scene = Scene::default();
    scene
        .buffer(1, 16)
        .buffer(2, 16)
        .write(1, 4, &[7, 8])
        .copy(1, 4, 2, 8, 8)
        .submit();
    assert_eq!(scene.words_of(2), [0, 0, 7, 8]);
}

#[test]
fn reads_come_after_all_work_and_in_order() {
    let mut scene = Scene {
        window: 16,
        ..Scene::default()
    };
    scene
        .buffer(1, 16)
        .write(1, 0, &[1, 2])
        .read(1, 0, 8, 4)
        .write(1, 0, &[3, 4, 5])
        .read(1, 8, 4, 8)
        .submit();
    assert_eq!(to_words(&scene.run().window), [0, 3, 5, 0]);
}

#[test]
fn a_read_of_a_buffer_that_is_not_foretold_takes_the_window_along() {
    let mut scene = unknown_scene(8);
    scene.window = 8;
    scene.read(1, 0, 4, 0);
    assert!(scene.run().not_foretold.contains(&WINDOW));
}

// --- taint ---

/// Buffer 1 was open to a shader that nobody knows; buffers 2 and 3 of the same size were not.
fn unknown_scene(size: u64) -> Scene {
    let mut scene = Scene::default();
    scene.buffer(1, size).buffer(2, size).buffer(3, size);
    scene.object(
        10,
        Kind::ShaderModule,
        &[],
        r#"{"code":"@compute @workgroup_size(2) fn main() {}"}"#,
    );
    let entries = r#"{"entries":[{"binding":0,"visibility":4,"buffer":{"type":"storage"}},
        {"binding":1,"visibility":4,"buffer":{"type":"read-only-storage"}}]}"#;
    scene
        .object(11, Kind::BindGroupLayout, &[], entries)
        .object(12, Kind::PipelineLayout, &[11], "{}");
    scene.object(
        20,
        Kind::ComputePipeline,
        &[12, 10],
        r#"{"compute":{"entryPoint":"main"}}"#,
    );
    scene.object(
        30,
        Kind::BindGroup,
        &[11, 1, 2],
        r#"{"entries":[{"binding":0},{"binding":1}]}"#,
    );
    dispatch(&mut scene, &[], [1, 1, 1]);
    scene
}

#[test]
fn an_unknown_shader_taints_what_it_can_write_and_nothing_else() {
    let scene = unknown_scene(8);
    assert_eq!([1, 2, 3].map(|id| scene.foretells(id)), [false, true, true]);
}

#[test]
fn taint_spreads_through_copies() {
    let mut scene = unknown_scene(8);
    scene.copy(1, 0, 3, 4, 4).submit();
    assert_eq!([1, 2, 3].map(|id| scene.foretells(id)), [false, true, false]);
}

#[test]
fn a_part_overwritten_stays_unknown_and_the_whole_is_known_again() {
    let mut scene = unknown_scene(8);
    scene.write(1, 0, &[1]);
    assert!(!scene.foretells(1));
    scene.write(1, 0, &[1, 2]);
    assert_eq!(scene.words_of(1), [1, 2]);
}

#[test]
fn an_unknown_shader_that_nothing_runs_taints_nothing() {
    let mut scene = unknown_scene(8);
    scene.words.clear();
    dispatch(&mut scene, &[], [1, 0, 1]);
    assert!(scene.foretells(1));
}

#[test]
fn words_that_decode_refuses_leave_nothing_foretold() {
    let mut scene = Scene::default();
    scene.buffer(1, 4).buffer(2, 4).words.push(99);
    assert!(!scene.foretells(1) && !scene.foretells(2));
}

#[test]
fn a_body_that_is_not_understood_is_not_foretold() {
    let mut scene = Scene::default();
    scene
        .object(1, Kind::Buffer, &[], "{")
        .buffer(2, 4)
        .copy(1, 0, 2, 0, 4)
        .submit();
    assert!(!scene.foretells(1) && !scene.foretells(2));
}

#[test]
fn huge_resources_are_not_foretold_and_take_no_memory() {
    let mut scene = Scene::default();
    scene
        .buffer(1, 1 << 50)
        .texture(2, "rgba32float", [1 << 31, 1 << 31, 1 << 31], "")
        .buffer(3, 4);
    assert_eq!([1, 2, 3].map(|id| scene.foretells(id)), [false, false, true]);
}

// --- textures ---

#[test]
fn texture_writes_skip_what_their_strides_say() {
    let mut scene = Scene::default();
    scene.texture(1, "r8uint", [3, 2, 2], "");
    // Layer stride 3 rows of 4 bytes, from offset 1.
    let mut bytes = [0; 21];
    bytes[1..3].copy_from_slice(&[1, 2]);
    bytes[5..7].copy_from_slice(&[3, 4]);
    bytes[13..15].copy_from_slice(&[5, 6]);
    bytes[17..19].copy_from_slice(&[7, 8]);
    scene.write_texture([1, 0, 1, 0, 0], &bytes, [1, 4, 3], [2, 2, 2]);
    assert_eq!(scene.run().textures[&1], [0, 1, 2, 0, 3, 4, 0, 5, 6, 0, 7, 8]);
}

#[test]
fn a_texture_write_of_one_row_needs_no_strides() {
    let mut scene = Scene::default();
    scene.texture(1, "rg8unorm", [2, 2, 1], "");
    scene.write_texture([1, 0, 0, 1, 0], &[1, 2, 3, 4], [0, LEFT_OUT, LEFT_OUT], [2, 1, 1]);
    assert_eq!(scene.run().textures[&1], [0, 0, 0, 0, 1, 2, 3, 4]);
}

#[test]
fn the_last_row_needs_only_its_own_bytes() {
    // known-traps 25: rgba8, 4 x 2, bytesPerRow 256, 272 bytes.
    let mut scene = Scene::default();
    scene.texture(1, "rgba8unorm", [4, 2, 1], "");
    let bytes: Vec<u8> = (0..272).map(|i| i as u8).collect();
    scene.write_texture([1, 0, 0, 0, 0], &bytes, [0, 256, LEFT_OUT], [4, 2, 1]);
    assert_eq!(scene.run().textures[&1], [&bytes[..16], &bytes[256..272]].concat());
}

#[test]
fn a_texture_write_comes_before_a_copy_recorded_earlier() {
    let mut scene = Scene::default();
    scene
        .texture(1, "r32uint", [1, 1, 1], "")
        .texture(2, "r32uint", [1, 1, 1], "");
    scene.copy_texture([1, 0, 0, 0, 0], [2, 0, 0, 0, 0], [1, 1, 1]);
    scene
        .write_texture([1, 0, 0, 0, 0], &[9, 0, 0, 0], [0, 4, 1], [1, 1, 1])
        .submit();
    assert_eq!(scene.words_of(2), [9]);
}

#[test]
fn texture_copies_take_mips_origins_and_layers() {
    let mut scene = Scene::default();
    scene
        .texture(1, "r8uint", [4, 4, 2], r#","mipLevelCount":2"#)
        .texture(2, "r8uint", [2, 2, 3], "");
    // Mip 1 of both layers: 2 x 2 each.
    scene.write_texture([1, 1, 0, 0, 0], &[1, 2, 3, 4, 5, 6, 7, 8], [0, 2, 2], [2, 2, 2]);
    // Its right column of layers 0 and 1 goes to the left column of layers 1 and 2.
    scene.copy_texture([1, 1, 1, 0, 0], [2, 0, 0, 0, 1], [1, 2, 2]).submit();
    let shadow = scene.run();
    assert_eq!(shadow.textures[&2], [0, 0, 0, 0, 2, 0, 4, 0, 6, 0, 8, 0]);
    assert_eq!(shadow.textures[&1][..32], [0; 32]);
    assert_eq!(shadow.textures[&1][32..], [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn a_texture_may_be_copied_to_another_of_its_layers() {
    let mut scene = Scene::default();
    scene
        .texture(1, "r8uint", [2, 1, 2], "")
        .write_texture([1, 0, 0, 0, 0], &[1, 2], [0, 2, 1], [2, 1, 1]);
    scene.copy_texture([1, 0, 0, 0, 0], [1, 0, 0, 0, 1], [2, 1, 1]).submit();
    assert_eq!(scene.run().textures[&1], [1, 2, 1, 2]);
}

#[test]
fn slices_of_a_3d_texture_are_halved_with_each_mip() {
    let mut scene = Scene::default();
    scene.texture(1, "r8uint", [2, 2, 4], r#","mipLevelCount":2,"dimension":"3d""#);
    scene.write_texture([1, 1, 0, 0, 1], &[9], [0, 1, 1], [1, 1, 1]);
    // 2 x 2 x 4, then 1 x 1 x 2.
    assert_eq!(scene.run().textures[&1], [[0; 16].as_slice(), &[0, 9]].concat());
}

#[test]
fn srgb_and_plain_copy_to_each_other_bit_by_bit() {
    let mut scene = Scene::default();
    scene
        .texture(1, "rgba8unorm-srgb", [1, 1, 1], "")
        .texture(2, "rgba8unorm", [1, 1, 1], "");
    scene.write_texture([1, 0, 0, 0, 0], &[1, 2, 3, 4], [0, 4, 1], [1, 1, 1]);
    scene.copy_texture([1, 0, 0, 0, 0], [2, 0, 0, 0, 0], [1, 1, 1]).submit();
    assert_eq!(scene.run().textures[&2], [1, 2, 3, 4]);
}

#[test]
fn other_formats_and_samples_are_not_foretold() {
    let mut scene = Scene::default();
    scene
        .texture(1, "depth32float", [4, 4, 1], "")
        .texture(2, "bc1-rgba-unorm", [4, 4, 1], "");
    scene
        .texture(3, "r32uint", [4, 4, 1], r#","sampleCount":4"#)
        .texture(4, "stencil8", [4, 4, 1], "");
    scene.texture(5, "rg11b10ufloat", [4, 4, 1], "");
    assert_eq!(
        [1, 2, 3, 4, 5].map(|id| scene.foretells(id)),
        [false, false, false, false, true]
    );
}

#[test]
fn an_extent_may_be_a_list() {
    let mut scene = Scene::default();
    scene.object(1, Kind::Texture, &[], r#"{"size":[2,3],"format":"r8uint","usage":31}"#);
    assert_eq!(scene.run().textures[&1], [0; 6]);
}

// --- color attachments ---

/// What one texel of a format holds after a clear; `None` where it is not foretold.
fn cleared(format: &str, color: [f32; 4]) -> Option<Vec<u8>> {
    let mut scene = Scene::default();
    scene.texture(1, format, [1, 1, 1], "").view(2, 1, "{}");
    scene.begin(&[(2, CLEAR, STORE, color)]).end().submit();
    scene.run().textures.remove(&1)
}

#[test]
fn clears_of_unsigned_formats_drop_the_fraction() {
    assert_eq!(cleared("rgba8uint", [1.0, 2.9, 255.0, -0.5]), Some(vec![1, 2, 255, 0]));
    assert_eq!(
        cleared("r32uint", [4294967040.0, 0.0, 0.0, 0.0]),
        Some(vec![0, 255, 255, 255])
    );
    assert_eq!(cleared("rg16uint", [258.0, 1.5, 0.0, 0.0]), Some(vec![2, 1, 1, 0]));
}

#[test]
fn clears_that_enforce_range_refuses_are_not_foretold() {
    assert_eq!(cleared("r32uint", [-1.0, 0.0, 0.0, 0.0]), None);
    assert_eq!(cleared("r32uint", [4294967296.0, 0.0, 0.0, 0.0]), None);
    assert_eq!(cleared("r8uint", [256.0, 0.0, 0.0, 0.0]), None);
    assert_eq!(cleared("r8sint", [128.0, 0.0, 0.0, 0.0]), None);
}

#[test]
fn clears_of_signed_formats_are_twos_complement() {
    assert_eq!(cleared("rg8sint", [-1.9, -128.0, 0.0, 0.0]), Some(vec![0xFF, 0x80]));
    assert_eq!(
        cleared("r32sint", [-2.0, 0.0, 0.0, 0.0]),
        Some(vec![0xFE, 0xFF, 0xFF, 0xFF])
    );
}

#[test]
fn clears_of_other_formats_are_foretold_at_zero_and_one() {
    assert_eq!(cleared("rgba8unorm", [0.0, 1.0, 0.0, 1.0]), Some(vec![0, 255, 0, 255]));
    assert_eq!(cleared("bgra8unorm", [1.0, 0.0, 0.0, 1.0]), Some(vec![0, 0, 255, 255]));
    assert_eq!(cleared("rg16float", [1.0, 0.0, 0.0, 0.0]), Some(vec![0, 0x3C, 0, 0]));
    assert_eq!(cleared("r32float", [1.0, 0.0, 0.0, 0.0]), Some(vec![0, 0, 0x80, 0x3F]));
    assert_eq!(cleared("rgba8unorm", [0.5, 0.0, 0.0, 0.0]), None);
    assert_eq!(cleared("rgb10a2unorm", [0.0; 4]), None);
}

#[test]
fn a_clear_reaches_the_surface_of_its_view_alone() {
    let mut scene = Scene::default();
    scene.texture(1, "r8uint", [2, 2, 2], r#","mipLevelCount":2"#);
    scene.view(
        2,
        1,
        r#"{"dimension":"2d","baseMipLevel":1,"mipLevelCount":1,"baseArrayLayer":1,"arrayLayerCount":1}"#,
    );
    scene.begin(&[(2, CLEAR, STORE, [7.0, 0.0, 0.0, 0.0])]).end().submit();
    assert_eq!(scene.run().textures[&1], [0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
}

#[test]
fn load_keeps_and_discard_leaves_zero() {
    let mut scene = Scene::default();
    scene.texture(1, "r32uint", [1, 1, 1], "").view(2, 1, "{}");
    scene.write_texture([1, 0, 0, 0, 0], &[9, 0, 0, 0], [0, 4, 1], [1, 1, 1]);
    scene.begin(&[(2, LOAD, STORE, [5.0; 4])]).end().submit();
    assert_eq!(scene.words_of(1), [9]);
    scene.begin(&[(2, CLEAR, DISCARD, [5.0; 4])]).end().submit();
    assert_eq!(scene.words_of(1), [0]);
}

#[test]
fn holes_are_passed_over() {
    let mut scene = Scene::default();
    scene.texture(1, "r32uint", [1, 1, 1], "").view(2, 1, "{}");
    scene
        .begin(&[(0, CLEAR, STORE, [5.0; 4]), (2, CLEAR, STORE, [6.0; 4])])
        .end()
        .submit();
    assert_eq!(scene.words_of(1), [6]);
}

#[test]
fn a_clear_makes_a_surface_known_again() {
    let mut scene = Scene::default();
    scene.texture(1, "rgba8unorm", [2, 1, 1], "").view(2, 1, "{}");
    scene.begin(&[(2, CLEAR, STORE, [0.5; 4])]).end().submit();
    assert!(!scene.foretells(1));
    scene.begin(&[(2, CLEAR, STORE, [1.0; 4])]).end().submit();
    assert_eq!(scene.words_of(1), [u32::MAX; 2]);
}

#[test]
fn taint_goes_through_texture_copies_surface_by_surface() {
    let mut scene = Scene::default();
    scene
        .texture(1, "rgba8unorm", [1, 1, 2], "")
        .texture(3, "rgba8unorm", [1, 1, 1], "");
    scene
        .texture(4, "rgba8unorm", [1, 1, 1], "")
        .view(2, 1, r#"{"dimension":"2d","baseArrayLayer":1}"#);
    scene.begin(&[(2, CLEAR, STORE, [0.5; 4])]).end();
    scene.copy_texture([1, 0, 0, 0, 0], [3, 0, 0, 0, 0], [1, 1, 1]);
    scene.copy_texture([1, 0, 0, 0, 1], [4, 0, 0, 0, 0], [1, 1, 1]).submit();
    assert_eq!([1, 3, 4].map(|id| scene.foretells(id)), [false, true, false]);
}

#[test]
fn a_view_of_another_format_and_a_resolve_target_are_not_foretold() {
    let mut scene = Scene::default();
    scene
        .texture(1, "rgba8unorm", [1, 1, 1], "")
        .view(2, 1, r#"{"format":"rgba8unorm-srgb"}"#);
    scene.begin(&[(2, CLEAR, STORE, [1.0; 4])]).end().submit();
    assert!(!scene.foretells(1));

    let mut scene = Scene::default();
    scene
        .texture(1, "r8uint", [1, 1, 1], r#","sampleCount":4"#)
        .texture(2, "r8uint", [1, 1, 1], "");
    scene.view(3, 1, "{}").view(4, 2, "{}");
    scene
        .op(Op::BeginRenderPass, &[1, 3, 4, CLEAR, STORE, 0, 0, 0, 0, 0])
        .end()
        .submit();
    assert!(!scene.foretells(2));
}

// --- compute ---

/// Buffers 1 (which the kernel writes), 2 and 3 of `size` bytes, the kernel's pipeline 20 and its bind group 30. Layout is 11.
fn compute_scene(kernel: Kernel, size: u64) -> Scene {
    let mut scene = Scene::default();
    scene.buffer(1, size).buffer(2, size).buffer(3, size).module(10, kernel);
    let buffer = |kind, dynamic| format!(r#""buffer":{{"type":"{kind}","hasDynamicOffset":{dynamic}}}"#);
    let (first, second) = match kernel {
        Kernel::Count => (buffer("storage", false), None),
        Kernel::Step => (buffer("storage", false), Some(buffer("uniform", true))),
        Kernel::Xor => (buffer("read-only-storage", false), Some(buffer("storage", false))),
        _ => (r#""storageTexture":{"format":"r32uint"}"#.to_string(), None),
    };
    let second = second
        .map(|it| format!(r#",{{"binding":1,"visibility":4,{it}}}"#))
        .unwrap_or_default();
    let entries = format!(r#"{{"entries":[{{"binding":0,"visibility":4,{first}}}{second}]}}"#);
    scene
        .object(11, Kind::BindGroupLayout, &[], entries)
        .object(12, Kind::PipelineLayout, &[11], "{}");
    scene.object(
        20,
        Kind::ComputePipeline,
        &[12, 10],
        r#"{"compute":{"entryPoint":"main"}}"#,
    );
    match kernel {
        Kernel::Count => scene.object(30, Kind::BindGroup, &[11, 1], r#"{"entries":[{"binding":0}]}"#),
        Kernel::Step => scene.object(
            30,
            Kind::BindGroup,
            &[11, 1, 2],
            r#"{"entries":[{"binding":0},{"binding":1,"offset":0,"size":4}]}"#,
        ),
        Kernel::Xor => scene.object(
            30,
            Kind::BindGroup,
            &[11, 2, 1],
            r#"{"entries":[{"binding":0},{"binding":1}]}"#,
        ),
        _ => &mut scene,
    };
    scene
}

/// A compute pass of pipeline 20 and bind group 30, submitted.
fn dispatch(scene: &mut Scene, offsets: &[u32], counts: [u32; 3]) {
    scene.op(Op::BeginComputePass, &[]).op(Op::SetPipeline, &[20]);
    let group = [&[0, 30, offsets.len() as u32], offsets].concat();
    scene
        .op(Op::SetBindGroup, &group)
        .op(Op::Dispatch, &counts)
        .end()
        .submit();
}

#[test]
fn count_spreads_invocations_over_the_length() {
    // 7 x 2 x 3 invocations over 3 words: x of 0, 3, 6 | 1, 4 | 2, 5, each six times.
    let mut scene = compute_scene(Kernel::Count, 12);
    dispatch(&mut scene, &[], [7, 2, 3]);
    assert_eq!(scene.words_of(1), [18, 12, 12]);
}

#[test]
fn count_of_as_many_invocations_as_there_may_be_is_a_formula() {
    let mut scene = compute_scene(Kernel::Count, 4);
    scene.write(1, 0, &[1]);
    dispatch(&mut scene, &[], [65535, 65535, 65535]);
    // 65535^3 = (2^16 - 1)^3 = 2^48 - 3 * 2^32 + 3 * 2^16 - 1; modulo 2^32 that is 3 * 2^16 - 1.
    assert_eq!(scene.words_of(1), [3 * 65536]);
}

#[test]
fn the_length_of_an_array_is_that_of_its_binding() {
    let mut scene = compute_scene(Kernel::Count, 512);
    scene.object(
        31,
        Kind::BindGroup,
        &[11, 1],
        r#"{"entries":[{"binding":0,"offset":256,"size":8}]}"#,
    );
    scene
        .op(Op::BeginComputePass, &[])
        .op(Op::SetPipeline, &[20])
        .op(Op::SetBindGroup, &[0, 31, 0]);
    scene.op(Op::Dispatch, &[5, 1, 1]).end().submit();
    let words = scene.words_of(1);
    assert_eq!(words[64..66], [3, 2]);
    assert_eq!(words.iter().sum::<u32>(), 5);
}

#[test]
fn a_size_left_out_is_the_rest_of_the_buffer() {
    let mut scene = compute_scene(Kernel::Count, 264);
    scene.object(
        31,
        Kind::BindGroup,
        &[11, 1],
        r#"{"entries":[{"binding":0,"offset":256}]}"#,
    );
    scene
        .op(Op::BeginComputePass, &[])
        .op(Op::SetPipeline, &[20])
        .op(Op::SetBindGroup, &[0, 31, 0]);
    scene.op(Op::Dispatch, &[3, 1, 1]).end().submit();
    assert_eq!(scene.words_of(1)[62..], [0, 0, 2, 1]);
}

#[test]
fn step_wraps_and_stops_at_the_length() {
    let mut scene = compute_scene(Kernel::Step, 512);
    scene
        .write(1, 0, &[1, 2, u32::MAX, 0])
        .write(1, 16, &[5])
        .write(2, 0, &[10]);
    dispatch(&mut scene, &[0], [1, 3, 2]);
    // Four invocations of row 0; 2^32 - 1 times a is -a.
    let expected = [1_664_535, 3_329_060, 0u32.wrapping_sub(1_664_525) + 10, 10, 5];
    assert_eq!(scene.words_of(1)[..5], expected);
}

#[test]
fn dynamic_offsets_choose_the_uniform() {
    let mut scene = compute_scene(Kernel::Step, 512);
    scene.write(2, 0, &[1]).write(2, 256, &[100]);
    dispatch(&mut scene, &[256], [1, 1, 1]);
    assert_eq!(scene.words_of(1)[..5], [100, 100, 100, 100, 0]);
}

#[test]
fn dynamic_offsets_stand_in_the_order_of_bindings_not_of_the_layout() {
    let mut scene = compute_scene(Kernel::Step, 512);
    let entries = r#"{"entries":[
        {"binding":1,"visibility":4,"buffer":{"hasDynamicOffset":true}},
        {"binding":0,"visibility":4,"buffer":{"type":"storage","hasDynamicOffset":true}}]}"#;
    scene.object(13, Kind::BindGroupLayout, &[], entries);
    let group = r#"{"entries":[{"binding":1,"size":4},{"binding":0,"size":4}]}"#;
    scene.object(31, Kind::BindGroup, &[13, 2, 1], group).write(2, 0, &[7]);
    scene
        .op(Op::BeginComputePass, &[])
        .op(Op::SetPipeline, &[20])
        .op(Op::SetBindGroup, &[0, 31, 2, 256, 0]);
    scene.op(Op::Dispatch, &[1, 1, 1]).end().submit();
    let words = scene.words_of(1);
    assert_eq!((words[0], words[64], words[65]), (0, 7, 0));
}

#[test]
fn xor_stops_at_the_shorter_of_both() {
    let mut scene = compute_scene(Kernel::Xor, 16);
    scene.object(
        31,
        Kind::BindGroup,
        &[11, 2, 1],
        r#"{"entries":[{"binding":0,"size":12},{"binding":1}]}"#,
    );
    scene.write(1, 0, &[9, 9, 9, 9]).write(2, 0, &[5, 5, 5, 5]);
    scene
        .op(Op::BeginComputePass, &[])
        .op(Op::SetPipeline, &[20])
        .op(Op::SetBindGroup, &[0, 31, 0]);
    scene.op(Op::Dispatch, &[2, 1, 1]).end().submit();
    assert_eq!(scene.words_of(1), [5, 4, 7, 9]);
}

#[test]
fn xor_of_an_unknown_source_is_unknown() {
    let mut scene = unknown_scene(16);
    let xor = compute_scene(Kernel::Xor, 16);
    // The same table under other ids: 100 and up; source is the unknown buffer 1.
    let moved = xor.objects.into_iter().filter(|object| object.id >= 10);
    scene.objects.extend(moved.map(|object| {
        Object {
            id: object.id + 100,
            refs: object
                .refs
                .iter()
                .map(|&id| if id < 10 { 4 - id - 1 } else { id + 100 })
                .collect(),
            ..object
        }
    }));
    // Group 130 now names (layout 111, buffer 1, buffer 2).
    scene
        .op(Op::BeginComputePass, &[])
        .op(Op::SetPipeline, &[120])
        .op(Op::SetBindGroup, &[0, 130, 0]);
    scene.op(Op::Dispatch, &[1, 1, 1]).end().submit();
    assert_eq!([2, 3].map(|id| scene.foretells(id)), [false, true]);
}

#[test]
fn store_writes_the_mip_and_layer_of_its_view() {
    let mut scene = compute_scene(Kernel::Store, 4);
    scene.texture(5, "r32uint", [4, 4, 2], r#","mipLevelCount":2"#);
    scene.view(
        6,
        5,
        r#"{"dimension":"2d","baseMipLevel":1,"mipLevelCount":1,"baseArrayLayer":1,"arrayLayerCount":1}"#,
    );
    scene.object(30, Kind::BindGroup, &[11, 6], r#"{"entries":[{"binding":0}]}"#);
    dispatch(&mut scene, &[], [9, 1, 2]);
    // Mip 0: 2 layers of 16; mip 1: 2 layers of 4. Row 0 of the last one: 7, 10.
    let words = scene.words_of(5);
    assert_eq!(words[36..], [7, 10, 0, 0]);
    assert_eq!(words[..36], [0; 36]);
}

#[test]
fn store_counts_rows_and_columns() {
    let mut scene = compute_scene(Kernel::Store, 4);
    scene.texture(5, "r32uint", [3, 2, 1], "").view(6, 5, "{}");
    scene.object(30, Kind::BindGroup, &[11, 6], r#"{"entries":[{"binding":0}]}"#);
    dispatch(&mut scene, &[], [3, 2, 1]);
    assert_eq!(scene.words_of(5), [7, 10, 13, 12, 15, 18]);
}

#[test]
fn a_dispatch_of_zero_does_nothing() {
    for counts in [[0, 1, 1], [1, 0, 1], [1, 1, 0]] {
        let mut scene = compute_scene(Kernel::Count, 4);
        dispatch(&mut scene, &[], counts);
        assert_eq!(scene.words_of(1), [0]);
    }
}

#[test]
fn indirect_counts_are_read_when_the_dispatch_runs() {
    let mut scene = compute_scene(Kernel::Count, 4);
    scene
        .buffer(5, 16)
        .buffer(6, 16)
        .write(5, 0, &[0, 2, 3, 4])
        .copy(5, 0, 6, 0, 16);
    scene
        .op(Op::BeginComputePass, &[])
        .op(Op::SetPipeline, &[20])
        .op(Op::SetBindGroup, &[0, 30, 0]);
    scene
        .op(Op::DispatchIndirect, &[6, 4, 0])
        .end()
        .submit()
        .write(6, 0, &[0; 4]);
    assert_eq!(scene.words_of(1), [24]);
}

#[test]
fn an_indirect_count_over_the_limit_runs_nothing() {
    // known-traps 18.
    for (counts, expected) in [([65536, 1, 1], 0), ([65535, 1, 1], 65535), ([1, 1, 65536], 0)] {
        let mut scene = compute_scene(Kernel::Count, 4);
        scene.buffer(5, 12).write(5, 0, &counts);
        scene
            .op(Op::BeginComputePass, &[])
            .op(Op::SetPipeline, &[20])
            .op(Op::SetBindGroup, &[0, 30, 0]);
        scene.op(Op::DispatchIndirect, &[5, 0, 0]).end().submit();
        assert_eq!(scene.words_of(1), [expected]);
    }
}

#[test]
fn indirect_counts_that_are_unknown_taint_what_the_kernel_writes() {
    let mut scene = compute_scene(Kernel::Count, 4);
    scene.object(5, Kind::Buffer, &[], "no JSON");
    scene
        .op(Op::BeginComputePass, &[])
        .op(Op::SetPipeline, &[20])
        .op(Op::SetBindGroup, &[0, 30, 0]);
    scene.op(Op::DispatchIndirect, &[5, 0, 0]).end().submit();
    assert_eq!([1, 2].map(|id| scene.foretells(id)), [false, true]);
}

#[test]
fn dispatches_of_a_pass_see_each_other() {
    let mut scene = compute_scene(Kernel::Step, 512);
    scene.write(2, 0, &[1]).write(2, 256, &[2]);
    scene
        .op(Op::BeginComputePass, &[])
        .op(Op::SetPipeline, &[20])
        .op(Op::SetBindGroup, &[0, 30, 1, 0]);
    scene
        .op(Op::Dispatch, &[1, 1, 1])
        .op(Op::SetBindGroup, &[0, 30, 1, 256])
        .op(Op::Dispatch, &[1, 1, 1]);
    scene.end().submit();
    assert_eq!(scene.words_of(1)[0], 1_664_527);
}

#[test]
fn a_bind_group_outlives_a_change_of_pipeline_but_not_its_pass() {
    let mut scene = compute_scene(Kernel::Count, 4);
    scene.object(21, Kind::ComputePipeline, &[12, 10], r#"{"compute":{}}"#);
    scene
        .op(Op::BeginComputePass, &[])
        .op(Op::SetBindGroup, &[0, 30, 0])
        .op(Op::SetPipeline, &[20]);
    scene
        .op(Op::Dispatch, &[1, 1, 1])
        .op(Op::SetPipeline, &[21])
        .op(Op::Dispatch, &[1, 1, 1])
        .end()
        .submit();
    assert_eq!(scene.words_of(1), [2]);
    // A pass with nothing set: a device refuses the dispatch, and the shadow knows nothing of it.
    scene
        .op(Op::BeginComputePass, &[])
        .op(Op::Dispatch, &[1, 1, 1])
        .end()
        .submit();
    assert_eq!(scene.words_of(1), [2]);
}

#[test]
fn a_group_of_another_index_does_not_stand_in_for_the_first() {
    let mut scene = compute_scene(Kernel::Count, 4);
    scene.object(31, Kind::BindGroup, &[11, 2], r#"{"entries":[{"binding":0}]}"#);
    scene
        .op(Op::BeginComputePass, &[])
        .op(Op::SetPipeline, &[20])
        .op(Op::SetBindGroup, &[0, 30, 0]);
    scene.op(Op::SetBindGroup, &[1, 31, 0]).op(Op::Dispatch, &[1, 1, 1]);
    scene
        .op(Op::SetBindGroup, &[1, 0, 0])
        .op(Op::SetBindGroup, &[0, 31, 0])
        .op(Op::Dispatch, &[2, 1, 1]);
    scene.end().submit();
    assert_eq!((scene.words_of(1), scene.words_of(2)), (vec![1], vec![2]));
}

#[test]
fn constants_and_other_entry_points_are_not_known() {
    let mut scene = compute_scene(Kernel::Count, 4);
    scene.objects.retain(|object| object.id != 20);
    scene.object(
        20,
        Kind::ComputePipeline,
        &[12, 10],
        r#"{"compute":{"entryPoint":"main","constants":{"n":1}}}"#,
    );
    dispatch(&mut scene, &[], [1, 1, 1]);
    assert!(!scene.foretells(1));
}

// --- draws ---

const PLAIN: &str = "";
const NO_CLEAR: [f32; 4] = [0.0; 4];

/// Texture 1, r32uint, 4 x 2, view 2; instance buffer 3 and index buffer 4 of 64 bytes; uniforms 5 of 512 bytes in bind group 30;
/// pipelines 20 (instance) and 21 (uniform), whose bodies `more` continues.
fn draw_scene(more: &str) -> Scene {
    let mut scene = Scene::default();
    scene.texture(1, "r32uint", [4, 2, 1], "").view(2, 1, "{}");
    scene.buffer(3, 64).buffer(4, 64).buffer(5, 512).buffer(6, 64);
    scene.module(10, Kernel::Instance).module(11, Kernel::Uniform);
    let entries = r#"{"entries":[{"binding":0,"visibility":3,"buffer":{"hasDynamicOffset":true}}]}"#;
    scene
        .object(12, Kind::BindGroupLayout, &[], entries)
        .object(13, Kind::PipelineLayout, &[12], "{}");
    let fragment = r#""fragment":{"entryPoint":"fs","targets":[{"format":"r32uint"}]}"#;
    let attribute = r#"{"format":"uint32","offset":0,"shaderLocation":0}"#;
    let buffers = format!(r#"[{{"arrayStride":4,"stepMode":"instance","attributes":[{attribute}]}}]"#);
    let instance = format!(r#"{{"vertex":{{"entryPoint":"vs","buffers":{buffers}}},{fragment}{more}}}"#);
    scene.object(20, Kind::RenderPipeline, &[0, 10, 10], instance);
    let uniform = format!(r#"{{"vertex":{{"entryPoint":"vs"}},{fragment}{more}}}"#);
    scene.object(21, Kind::RenderPipeline, &[13, 11, 11], uniform);
    scene.object(30, Kind::BindGroup, &[12, 5], r#"{"entries":[{"binding":0,"size":4}]}"#);
    scene
        .write(3, 0, &[100, 101, 102, 103, 104])
        .write(5, 0, &[50])
        .write(5, 256, &[60]);
    scene
}

/// An open pass with instance pipeline and buffer set, cleared to 1.
fn instance_pass(more: &str) -> Scene {
    let mut scene = draw_scene(more);
    scene.begin(&[(2, CLEAR, STORE, [1.0; 4])]);
    scene
        .op(Op::SetPipeline, &[20])
        .op(Op::SetVertexBuffer, &[0, 3, 0, 0, 0, 0]);
    scene
}

fn floats(values: [f32; 6]) -> [u32; 6] {
    values.map(f32::to_bits)
}

#[test]
fn a_draw_fills_the_attachment_with_the_last_instance() {
    let mut scene = instance_pass(PLAIN);
    scene.op(Op::Draw, &[3, 3, 0, 0]).end().submit();
    assert_eq!(scene.words_of(1), [102; 8]);
}

#[test]
fn the_first_instance_counts() {
    let mut scene = instance_pass(PLAIN);
    scene.op(Op::Draw, &[3, 2, 0, 3]).end().submit();
    assert_eq!(scene.words_of(1), [104; 8]);
}

#[test]
fn the_offset_of_a_vertex_buffer_counts() {
    let mut scene = instance_pass(PLAIN);
    scene
        .op(Op::SetVertexBuffer, &[0, 3, 8, 0, 8, 0])
        .op(Op::Draw, &[3, 2, 0, 0])
        .end()
        .submit();
    assert_eq!(scene.words_of(1), [103; 8]);
}

#[test]
fn instances_past_their_buffer_are_not_foretold() {
    let mut scene = instance_pass(PLAIN);
    scene
        .op(Op::SetVertexBuffer, &[0, 3, 0, 0, 8, 0])
        .op(Op::Draw, &[3, 3, 0, 0])
        .end()
        .submit();
    assert!(!scene.foretells(1));
}

#[test]
fn fewer_than_three_vertices_or_no_instances_draw_nothing() {
    for args in [[2, 1, 0, 0], [0, 1, 0, 0], [3, 0, 0, 0]] {
        let mut scene = instance_pass(PLAIN);
        scene.op(Op::Draw, &args).end().submit();
        assert_eq!(scene.words_of(1), [1; 8]);
    }
}

#[test]
fn any_first_vertex_will_do_as_long_as_indices_do_not_wrap() {
    let mut scene = instance_pass(PLAIN);
    scene.op(Op::Draw, &[3, 1, u32::MAX - 2, 0]).end().submit();
    assert_eq!(scene.words_of(1), [100; 8]);
    let mut scene = instance_pass(PLAIN);
    scene.op(Op::Draw, &[3, 1, u32::MAX - 1, 0]).end().submit();
    assert!(!scene.foretells(1));
}

#[test]
fn as_many_vertices_and_instances_as_there_may_be_take_no_time() {
    let mut scene = draw_scene(PLAIN);
    scene
        .begin(&[(2, LOAD, STORE, NO_CLEAR)])
        .op(Op::SetPipeline, &[21])
        .op(Op::SetBindGroup, &[0, 30, 1, 256]);
    for _ in 0..1000 {
        scene.op(Op::Draw, &[u32::MAX, u32::MAX, 0, 0]);
    }
    scene.end().submit();
    assert_eq!(scene.words_of(1), [60; 8]);
}

#[test]
fn the_viewport_bounds_a_draw() {
    let mut scene = instance_pass(PLAIN);
    scene
        .op(Op::SetViewport, &floats([1.0, 0.0, 2.0, 1.0, 0.0, 1.0]))
        .op(Op::Draw, &[3, 1, 0, 0])
        .end()
        .submit();
    assert_eq!(scene.words_of(1), [1, 100, 100, 1, 1, 1, 1, 1]);
}

#[test]
fn a_viewport_that_ends_within_a_texel_is_not_foretold_where_that_shows() {
    let viewport = floats([0.0, 0.0, 2.5, 2.0, 0.0, 1.0]);
    let mut scene = instance_pass(PLAIN);
    scene
        .op(Op::SetViewport, &viewport)
        .op(Op::Draw, &[3, 1, 0, 0])
        .end()
        .submit();
    assert!(!scene.foretells(1));
    let mut scene = instance_pass(PLAIN);
    scene
        .op(Op::SetViewport, &viewport)
        .op(Op::SetScissorRect, &[0, 1, 2, 1]);
    scene.op(Op::Draw, &[3, 1, 0, 0]).end().submit();
    assert_eq!(scene.words_of(1), [1, 1, 1, 1, 100, 100, 1, 1]);
}

#[test]
fn the_scissor_bounds_a_draw_and_an_empty_one_leaves_nothing() {
    let mut scene = instance_pass(PLAIN);
    scene.op(Op::SetScissorRect, &[3, 0, 1, 2]).op(Op::Draw, &[3, 1, 0, 0]);
    scene
        .op(Op::SetScissorRect, &[0, 0, 0, 2])
        .op(Op::Draw, &[3, 2, 0, 0])
        .end()
        .submit();
    assert_eq!(scene.words_of(1), [1, 1, 1, 100, 1, 1, 1, 100]);
}

#[test]
fn viewport_and_scissor_end_with_their_pass() {
    let mut scene = instance_pass(PLAIN);
    scene.op(Op::SetScissorRect, &[0, 0, 1, 1]).end();
    scene.begin(&[(2, LOAD, STORE, NO_CLEAR)]).op(Op::SetPipeline, &[20]);
    scene
        .op(Op::SetVertexBuffer, &[0, 3, 4, 0, 0, 0])
        .op(Op::Draw, &[3, 1, 0, 0])
        .end()
        .submit();
    assert_eq!(scene.words_of(1), [101; 8]);
}

#[test]
fn uniforms_take_the_dynamic_offset_of_the_last_set_bind_group() {
    let mut scene = draw_scene(PLAIN);
    scene.begin(&[(2, LOAD, STORE, NO_CLEAR)]).op(Op::SetPipeline, &[21]);
    scene
        .op(Op::SetBindGroup, &[0, 30, 1, 256])
        .op(Op::SetScissorRect, &[0, 0, 2, 2])
        .op(Op::Draw, &[3, 1, 0, 0]);
    scene
        .op(Op::SetBindGroup, &[0, 30, 1, 0])
        .op(Op::SetScissorRect, &[0, 1, 4, 1])
        .op(Op::Draw, &[3, 1, 0, 0]);
    scene.end().submit();
    assert_eq!(scene.words_of(1), [60, 60, 0, 0, 50, 50, 50, 50]);
}

/// What an indexed draw of 32-bit indices leaves; `None` where it is not foretold.
fn indexed(indices: &[u32], format: u32, draw: [u32; 5], more: &str) -> Option<u32> {
    let mut scene = instance_pass(more);
    scene
        .write(4, 0, indices)
        .op(Op::SetIndexBuffer, &[4, format, 0, 0, 0, 0])
        .op(Op::DrawIndexed, &draw);
    scene.end().submit();
    let bytes = scene.run().textures.remove(&1)?;
    let words = to_words(&bytes);
    assert_eq!(words, [words[0]; 8]);
    Some(words[0])
}

#[test]
fn indexed_draws_need_three_different_corners() {
    assert_eq!(indexed(&[0, 1, 2], 2, [3, 1, 0, 0, 0], PLAIN), Some(100));
    assert_eq!(indexed(&[5, 0, 7], 2, [3, 2, 0, 0, 0], PLAIN), Some(101));
    assert_eq!(indexed(&[0, 1, 3], 2, [3, 1, 0, 0, 0], PLAIN), Some(1));
    assert_eq!(indexed(&[0, 0, 0, 0, 1, 2], 2, [6, 1, 0, 0, 0], PLAIN), Some(100));
}

#[test]
fn first_index_and_base_vertex_count() {
    assert_eq!(indexed(&[0, 0, 0, 1, 2], 2, [3, 1, 2, 0, 0], PLAIN), Some(100));
    assert_eq!(indexed(&[7, 8, 9], 2, [3, 1, 0, -7i32 as u32, 0], PLAIN), Some(100));
    assert_eq!(indexed(&[0, 1, 2], 2, [3, 1, 0, 0, 2], PLAIN), Some(102));
}

#[test]
fn a_vertex_index_that_leaves_32_bits_is_not_foretold() {
    assert_eq!(indexed(&[0, 1, 2], 2, [3, 1, 0, -1i32 as u32, 0], PLAIN), None);
    assert_eq!(indexed(&[u32::MAX, 1, 2], 2, [3, 1, 0, 1, 0], PLAIN), None);
    // 2^32 - 1 itself is an index, of corner 0.
    assert_eq!(indexed(&[u32::MAX, 1, 2], 2, [3, 1, 0, 0, 0], PLAIN), Some(100));
}

#[test]
fn indices_of_16_bits_are_read_as_such() {
    assert_eq!(
        indexed(&[0x0001_0000, 0x0000_0002], 1, [3, 1, 0, 0, 0], PLAIN),
        Some(100)
    );
    assert_eq!(
        indexed(&[0x0001_0000, 0x0000_0002], 1, [3, 1, 1, 0, 0], PLAIN),
        Some(100)
    );
    assert_eq!(indexed(&[0x0001_0000, 0x0000_0002], 1, [3, 1, 2, 0, 0], PLAIN), Some(1));
}

#[test]
fn indices_past_their_buffer_are_not_foretold() {
    assert_eq!(indexed(&[0, 0, 0], 2, [3, 1, 14, 0, 0], PLAIN), None);
}

#[test]
fn culling_looks_at_the_order_of_corners() {
    let (back, front) = (
        r#","primitive":{"cullMode":"back"}"#,
        r#","primitive":{"cullMode":"front"}"#,
    );
    assert_eq!(indexed(&[1, 2, 0], 2, [3, 1, 0, 0, 0], back), Some(100));
    assert_eq!(indexed(&[0, 2, 1], 2, [3, 1, 0, 0, 0], back), Some(1));
    assert_eq!(indexed(&[0, 2, 1], 2, [3, 1, 0, 0, 0], front), Some(100));
    let clockwise = r#","primitive":{"cullMode":"back","frontFace":"cw"}"#;
    assert_eq!(indexed(&[0, 1, 2], 2, [3, 1, 0, 0, 0], clockwise), Some(1));
}

#[test]
fn indirect_draws_read_their_numbers_when_they_run() {
    let mut scene = instance_pass(PLAIN);
    scene
        .write(6, 4, &[3, 2, 0, 0])
        .op(Op::DrawIndirect, &[6, 4, 0])
        .end()
        .submit()
        .write(6, 4, &[0; 4]);
    assert_eq!(scene.words_of(1), [101; 8]);

    let mut scene = instance_pass(PLAIN);
    scene
        .write(4, 0, &[9, 7, 8, 9])
        .op(Op::SetIndexBuffer, &[4, 2, 0, 0, 0, 0]);
    scene
        .write(6, 0, &[3, 4, 1, -7i32 as u32, 0])
        .op(Op::DrawIndexedIndirect, &[6, 0, 0])
        .end()
        .submit();
    assert_eq!(scene.words_of(1), [103; 8]);
}

#[test]
fn an_indirect_draw_with_a_first_instance_is_not_foretold() {
    let mut scene = instance_pass(PLAIN);
    scene
        .write(6, 0, &[3, 1, 0, 1])
        .op(Op::DrawIndirect, &[6, 0, 0])
        .end()
        .submit();
    assert!(!scene.foretells(1));
}

#[test]
fn states_that_the_shadow_does_not_model_taint_the_target() {
    for more in [
        r#","primitive":{"topology":"triangle-strip"}"#,
        r#","depthStencil":{"format":"depth32float","depthWriteEnabled":false,"depthCompare":"less"}"#,
        r#","depthStencil":{"format":"stencil8","stencilFront":{"compare":"never"}}"#,
        r#","multisample":{"count":4}"#,
        r#","multisample":{"mask":2}"#,
    ] {
        let mut scene = instance_pass(more);
        scene.op(Op::Draw, &[3, 1, 0, 0]).end().submit();
        assert!(!scene.foretells(1), "{more}");
    }
    let always = r#","depthStencil":{"format":"depth32float","depthWriteEnabled":true,"depthCompare":"always"}"#;
    let mut scene = instance_pass(always);
    scene.op(Op::Draw, &[3, 1, 0, 0]).end().submit();
    assert_eq!(scene.words_of(1), [100; 8]);
}

#[test]
fn a_pipeline_without_fragment_stage_paints_nothing() {
    let mut scene = instance_pass(PLAIN);
    scene.object(22, Kind::RenderPipeline, &[0, 11, 0], r#"{"vertex":{}}"#);
    scene
        .op(Op::SetPipeline, &[22])
        .op(Op::Draw, &[3, 1, 0, 0])
        .end()
        .submit();
    assert_eq!(scene.words_of(1), [1; 8]);
}

#[test]
fn a_draw_whose_target_is_discarded_leaves_zero() {
    let mut scene = draw_scene(PLAIN);
    scene.begin(&[(2, CLEAR, DISCARD, [1.0; 4])]).op(Op::SetPipeline, &[20]);
    scene
        .op(Op::SetVertexBuffer, &[0, 3, 0, 0, 0, 0])
        .op(Op::Draw, &[3, 1, 0, 0])
        .end()
        .submit();
    assert_eq!(scene.words_of(1), [0; 8]);
}

// --- bundles ---

/// Adds bundle 40: the instance pipeline over buffer 3 from `offset` on, one instance.
fn add_bundle(scene: &mut Scene, offset: u32) {
    let words = format!("[1,1,5,0,2,{offset},0,0,0,3,3,1,0,0]");
    let body = format!(r#"{{"colorFormats":["r32uint"],"words":{words}}}"#);
    scene.object(40, Kind::RenderBundle, &[20, 3], body);
}

#[test]
fn bundles_draw_with_their_own_state_in_the_viewport_of_the_pass() {
    let mut scene = draw_scene(PLAIN);
    add_bundle(&mut scene, 12);
    scene
        .begin(&[(2, CLEAR, STORE, [1.0; 4])])
        .op(Op::SetScissorRect, &[0, 0, 2, 1]);
    scene.op(Op::ExecuteBundles, &[1, 40]).end().submit();
    assert_eq!(scene.words_of(1), [103, 103, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn bundles_reset_the_state_of_the_pass() {
    let mut scene = instance_pass(PLAIN);
    add_bundle(&mut scene, 12);
    scene.op(Op::ExecuteBundles, &[1, 40]);
    // Nothing is set now: a device refuses a draw here, and the shadow does not say what one that does not would do.
    let mut unset = Scene {
        objects: scene.objects.clone(),
        words: scene.words.clone(),
        ..Scene::default()
    };
    unset.data = scene.data.clone();
    unset.op(Op::Draw, &[3, 1, 0, 0]).end().submit();
    assert!(!unset.foretells(1));
    // Set anew, it draws; the scissor was never reset.
    scene.op(Op::SetScissorRect, &[0, 0, 1, 1]).op(Op::ExecuteBundles, &[0]);
    scene
        .op(Op::SetPipeline, &[20])
        .op(Op::SetVertexBuffer, &[0, 3, 0, 0, 0, 0])
        .op(Op::Draw, &[3, 1, 0, 0]);
    scene.end().submit();
    assert_eq!(scene.words_of(1), [100, 103, 103, 103, 103, 103, 103, 103]);
}

#[test]
fn a_bundle_does_not_see_what_the_pass_or_another_bundle_set() {
    let mut scene = instance_pass(PLAIN);
    add_bundle(&mut scene, 0);
    // Draws with nothing set.
    scene.object(
        41,
        Kind::RenderBundle,
        &[],
        r#"{"colorFormats":["r32uint"],"words":[3,3,1,0,0]}"#,
    );
    scene.op(Op::ExecuteBundles, &[2, 40, 41]).end().submit();
    assert!(!scene.foretells(1));
}

#[test]
fn a_bundle_may_be_executed_many_times_and_not_too_many() {
    let mut scene = draw_scene(PLAIN);
    add_bundle(&mut scene, 4);
    let list = [vec![65536], vec![40; 65536]].concat();
    scene
        .begin(&[(2, CLEAR, STORE, [1.0; 4])])
        .op(Op::ExecuteBundles, &list)
        .end()
        .submit();
    assert_eq!(scene.words_of(1), [101; 8]);
    scene.begin(&[(2, LOAD, STORE, NO_CLEAR)]);
    for _ in 0..1000 {
        scene.op(Op::ExecuteBundles, &list);
    }
    scene.end().submit();
    assert!(!scene.foretells(1));
}

#[test]
fn dynamic_offsets_work_in_bundles_too() {
    let mut scene = draw_scene(PLAIN);
    let body = r#"{"colorFormats":["r32uint"],"words":[1,2,2,0,1,1,256,3,3,1,0,0]}"#;
    scene.object(40, Kind::RenderBundle, &[30, 21], body);
    scene
        .begin(&[(2, CLEAR, STORE, [1.0; 4])])
        .op(Op::ExecuteBundles, &[1, 40])
        .end()
        .submit();
    assert_eq!(scene.words_of(1), [60; 8]);
}

// --- what nobody should send ---

/// Streams as they come, with words, bodies and references changed at random: nothing panics, and every buffer and
/// texture of the table is either foretold or said not to be.
#[test]
fn nothing_panics() {
    let mut scenes = vec![unknown_scene(8), draw_scene(PLAIN), compute_scene(Kernel::Xor, 64)];
    scenes.extend([Kernel::Count, Kernel::Step, Kernel::Store].map(|kernel| compute_scene(kernel, 32)));
    for scene in &mut scenes[2..] {
        dispatch(scene, &[0], [2, 1, 1]);
    }
    add_bundle(&mut scenes[1], 4);
    scenes[1]
        .op(Op::BeginRenderPass, &[1, 2, 2, CLEAR, STORE, 0, 0, 0, 0, 0])
        .op(Op::ExecuteBundles, &[1, 40]);
    scenes[1]
        .op(Op::SetViewport, &floats([0.0, 0.0, 2.0, 2.0, 0.0, 1.0]))
        .op(Op::SetScissorRect, &[0, 0, 2, 2]);
    scenes[1]
        .op(Op::SetPipeline, &[20])
        .op(Op::SetVertexBuffer, &[0, 3, 0, 0, 0, 0])
        .op(Op::Draw, &[3, 1, 0, 0]);
    scenes[1]
        .op(Op::SetIndexBuffer, &[4, 1, 0, 0, 0, 0])
        .op(Op::DrawIndexed, &[3, 1, 0, 0, 0])
        .end()
        .submit();
    scenes[1]
        .copy_texture([1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 1, 1])
        .read(3, 0, 8, 0)
        .submit();
    scenes[1].write_texture([1, 0, 0, 0, 0], &[1; 32], [0, 16, 2], [4, 2, 1]);
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for round in 0..20_000 {
        let scene = &scenes[round % scenes.len()];
        let mut mangled = Scene {
            objects: scene.objects.clone(),
            words: scene.words.clone(),
            ..Scene::default()
        };
        (mangled.data, mangled.reads, mangled.window) = (scene.data.clone(), scene.reads.clone(), 8);
        let odd = [0, 1, 2, 3, 4, 30, 255, 65536, 1 << 21, 1 << 31, u32::MAX - 3, u32::MAX];
        for _ in 0..=random(2) {
            let at = random(mangled.words.len());
            mangled.words[at] = odd[random(odd.len())];
        }
        if random(3) == 0 {
            let at = random(mangled.objects.len());
            let object = &mut mangled.objects[at];
            match random(3) {
                0 => {
                    object.body =
                        object
                            .body
                            .replacen(|c: char| c.is_ascii_digit(), &odd[random(odd.len())].to_string(), 2)
                }
                1 => object.body.truncate(random(object.body.len())),
                _ => object.refs.iter_mut().for_each(|id| *id = random(42) as u32),
            }
        }
        let shadow = mangled.run();
        for object in &mangled.objects {
            let kept = match object.kind {
                Kind::Buffer => shadow.buffers.contains_key(&object.id),
                Kind::Texture => shadow.textures.contains_key(&object.id),
                _ => continue,
            };
            assert_eq!(kept, !shadow.not_foretold.contains(&object.id));
        }
    }
}
