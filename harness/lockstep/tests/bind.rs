//! What stands in the argument tables at a draw: values worked by hand, and encoders that are wrong on purpose.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::atomic::AtomicBool;

use lockstep::bind::native::{Native, Numbers};
use lockstep::bind::{BindPlayer, Bound, BufferSlot, Reads, bound_words};
use lockstep::campaign::{self, Budget, Cast, Plan};
use lockstep::case::{
    BindCase, BindCommand, BindGroup, BufferBinding, Pipeline, PipelineLayout, PipelineStage, Resource, Stage,
};
use lockstep::generators::Lane;
use lockstep::ledger::{LedgerRow, Line};
use lockstep::oracles::bind::check;
use lockstep::report::results::Results;
use mslmap::Counts;
use rstest::rstest;
use wgpu_types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, SamplerBindingType, ShaderStages, TextureSampleType,
    TextureViewDimension,
};

const COMPUTE: ShaderStages = ShaderStages::COMPUTE;
const VERTEX: ShaderStages = ShaderStages::VERTEX;
const FRAGMENT: ShaderStages = ShaderStages::FRAGMENT;

const SAMPLER: BindingType = BindingType::Sampler(SamplerBindingType::Filtering);
const TEXTURE: BindingType = BindingType::Texture {
    sample_type: TextureSampleType::Float { filterable: true },
    view_dimension: TextureViewDimension::D2,
    multisampled: false,
};

fn buffer(ty: BufferBindingType, has_dynamic_offset: bool) -> BindingType {
    BindingType::Buffer {
        ty,
        has_dynamic_offset,
        min_binding_size: None,
    }
}

fn uniform(dynamic: bool) -> BindingType {
    buffer(BufferBindingType::Uniform, dynamic)
}

fn storage(dynamic: bool) -> BindingType {
    buffer(BufferBindingType::Storage { read_only: false }, dynamic)
}

fn entry(binding: u32, visibility: ShaderStages, ty: BindingType) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry {
        binding,
        visibility,
        ty,
        count: None,
    }
}

fn part(id: u32, buffer_size: u64, offset: u64, size: Option<u64>) -> BufferBinding {
    BufferBinding {
        id,
        buffer_size,
        offset,
        size,
    }
}

fn bound(buffer: BufferBinding) -> Vec<Resource> {
    vec![Resource::Buffer(buffer)]
}

fn layout(groups: &[Option<usize>], immediate_size: u32) -> PipelineLayout {
    PipelineLayout {
        groups: groups.to_vec(),
        immediate_size,
    }
}

fn stage(stage: Stage, runtime_arrays: &[(u32, u32)], vertex_buffers: &[u32]) -> PipelineStage {
    PipelineStage {
        stage,
        runtime_arrays: runtime_arrays.to_vec(),
        vertex_buffers: vertex_buffers.to_vec(),
    }
}

fn compute(layout: usize, runtime_arrays: &[(u32, u32)]) -> Pipeline {
    Pipeline {
        layout,
        stages: vec![stage(Stage::Compute, runtime_arrays, &[])],
    }
}

fn set_group(index: u32, group: usize, dynamic_offsets: &[u32]) -> BindCommand {
    BindCommand::SetBindGroup {
        index,
        group: Some(group),
        dynamic_offsets: dynamic_offsets.to_vec(),
    }
}

/// What stands in each slot, by stage.
type StageWords = BTreeMap<Stage, BTreeMap<String, String>>;

/// The case's draws in words; and wgpu-hal has the same but for these lines of the ledger.
fn draws(case: &BindCase, lines: &[Line]) -> Vec<(usize, StageWords)> {
    assert_eq!(case.check(), Ok(()));
    let (compared, played) = check(case, &mut Native::default());
    assert_eq!(compared.parted, [], "{played:#?}");
    for line in Line::ALL {
        let [could, occurred] = compared.ledger.of(line);
        assert_eq!((could > 0, could), (lines.contains(&line), occurred), "{}", line.name());
    }
    let subject = played.subject.expect("no refusal");
    subject
        .iter()
        .map(|bound| (bound.command, bound_words(bound)))
        .collect()
}

fn words(slots: &[(&str, &str)]) -> BTreeMap<String, String> {
    slots
        .iter()
        .map(|(slot, held)| ((*slot).into(), (*held).into()))
        .collect()
}

/// Compute passes: two group layouts, listed out of order, and three pipeline layouts.
fn passes() -> BindCase {
    BindCase {
        group_layouts: vec![
            vec![
                entry(7, COMPUTE, storage(true)),
                entry(2, COMPUTE, uniform(true)),
                entry(5, COMPUTE, TEXTURE),
                entry(3, FRAGMENT, uniform(true)),
            ],
            vec![entry(1, COMPUTE, SAMPLER), entry(0, COMPUTE, storage(false))],
        ],
        layouts: vec![
            layout(&[Some(0), None, Some(1)], 0),
            layout(&[Some(0), Some(1)], 0),
            layout(&[Some(1), Some(0)], 8),
        ],
        groups: vec![
            BindGroup {
                layout: 0,
                resources: vec![
                    bound(part(10, 4096, 256, Some(64))),
                    bound(part(11, 4096, 0, Some(16))),
                    vec![Resource::Texture(12)],
                    bound(part(13, 4096, 0, Some(16))),
                ],
            },
            BindGroup {
                layout: 1,
                resources: vec![vec![Resource::Sampler(21)], bound(part(20, 48, 16, None))],
            },
        ],
        pipelines: vec![
            compute(0, &[(2, 0), (0, 7)]),
            compute(1, &[(0, 7), (1, 0)]),
            compute(2, &[(0, 0)]),
        ],
        commands: Vec::new(),
    }
}

#[test]
fn a_dispatch_finds_each_group_at_its_base_and_offsets_in_binding_order() {
    let mut case = passes();
    case.commands = vec![
        BindCommand::BeginComputePass,
        // The last group first, before there is a pipeline.
        set_group(2, 1, &[]),
        set_group(0, 0, &[256, 512, 1024]),
        BindCommand::SetPipeline(0),
        BindCommand::Dispatch,
        // Group 0 stays; the sampler and the storage buffer come as group 1 and stand where they stood.
        set_group(1, 1, &[]),
        BindCommand::SetPipeline(1),
        BindCommand::Dispatch,
        // Only the offsets change, in binding order: 2, 3 (that compute does not see), 7.
        set_group(0, 0, &[0, 768, 512]),
        BindCommand::Dispatch,
    ];
    let first = words(&[
        ("buffer 0", "buffer 11 at 256"),
        ("buffer 1", "buffer 10 at 1280"),
        ("buffer 2", "buffer 20 at 16"),
        // 48 bytes from 16 on, then 64.
        ("buffer 3", "bytes 2000000040000000"),
        ("sampler 0", "sampler 21"),
        ("texture 0", "texture 12"),
    ]);
    let mut second = first.clone();
    second.insert("buffer 3".into(), "bytes 4000000020000000".into());
    let mut third = second.clone();
    third.insert("buffer 0".into(), "buffer 11 at 0".into());
    third.insert("buffer 1".into(), "buffer 10 at 768".into());
    let due = [(4, first), (7, second), (9, third)];
    let due = due.map(|(at, words)| (at, BTreeMap::from([(Stage::Compute, words)])));
    assert_eq!(draws(&case, &[]), due);
}

#[test]
fn a_pipeline_of_another_layout_moves_the_groups_and_clears_the_immediates() {
    let mut case = passes();
    case.commands = vec![
        BindCommand::BeginComputePass,
        BindCommand::SetPipeline(2),
        BindCommand::SetImmediates {
            offset: 4,
            data: vec![7],
        },
        set_group(0, 1, &[]),
        set_group(1, 0, &[0, 0, 0]),
        BindCommand::Dispatch,
        set_group(0, 0, &[0, 0, 0]),
        set_group(1, 1, &[]),
        BindCommand::SetPipeline(1),
        BindCommand::Dispatch,
        set_group(0, 1, &[]),
        set_group(1, 0, &[0, 0, 0]),
        BindCommand::SetPipeline(2),
        BindCommand::Dispatch,
    ];
    let swapped = |immediates| {
        words(&[
            ("buffer 0", immediates),
            ("buffer 1", "buffer 20 at 16"),
            ("buffer 2", "buffer 11 at 0"),
            ("buffer 3", "buffer 10 at 256"),
            ("buffer 4", "bytes 20000000"),
            ("sampler 0", "sampler 21"),
            ("texture 0", "texture 12"),
        ])
    };
    let straight = words(&[
        ("buffer 0", "buffer 11 at 0"),
        ("buffer 1", "buffer 10 at 256"),
        ("buffer 2", "buffer 20 at 16"),
        ("buffer 3", "bytes 4000000020000000"),
        ("sampler 0", "sampler 21"),
        ("texture 0", "texture 12"),
    ]);
    let due = [
        (5, swapped("bytes 0000000007000000")),
        (9, straight),
        (13, swapped("bytes 0000000000000000")),
    ];
    let due = due.map(|(at, words)| (at, BTreeMap::from([(Stage::Compute, words)])));
    assert_eq!(draws(&case, &[Line::ImmediatesLength]), due);
}

/// Where a layout has no group 1, group 2 moves up, though nothing was set anew.
#[test]
fn a_group_after_one_that_the_new_layout_lacks_moves_up() {
    let mut case = passes();
    case.layouts = vec![
        layout(&[Some(1), Some(1), Some(0)], 0),
        layout(&[Some(1), None, Some(0)], 0),
    ];
    case.pipelines = vec![compute(0, &[]), compute(1, &[])];
    case.commands = vec![
        BindCommand::BeginComputePass,
        set_group(0, 1, &[]),
        set_group(1, 1, &[]),
        set_group(2, 0, &[0, 0, 0]),
        BindCommand::SetPipeline(0),
        BindCommand::Dispatch,
        BindCommand::SetPipeline(1),
        BindCommand::Dispatch,
    ];
    let draws = draws(&case, &[]);
    let at = |draw: usize, slot: &str| draws[draw].1[&Stage::Compute].get(slot).cloned();
    assert_eq!(at(0, "buffer 2").as_deref(), Some("buffer 11 at 0"));
    assert_eq!(at(1, "buffer 1").as_deref(), Some("buffer 11 at 0"));
    assert_eq!(at(1, "buffer 2").as_deref(), Some("buffer 10 at 256"));
    assert_eq!(at(1, "buffer 3"), None);
}

/// Stages of one draw have tables and sizes of their own.
#[test]
fn a_draw_has_arrays_external_textures_and_vertex_buffers() {
    let all = VERTEX | FRAGMENT;
    let array = BindGroupLayoutEntry {
        count: NonZeroU32::new(2),
        ..entry(4, all, storage(false))
    };
    let group_layout = vec![
        entry(9, VERTEX, storage(false)),
        array,
        entry(0, FRAGMENT, BindingType::ExternalTexture),
        entry(1, FRAGMENT, TEXTURE),
    ];
    let group = BindGroup {
        layout: 0,
        resources: vec![
            bound(part(9, 100, 0, None)),
            [part(40, 64, 16, Some(32)), part(41, 20, 0, None)]
                .map(Resource::Buffer)
                .to_vec(),
            vec![Resource::ExternalTexture {
                planes: [1, 2, 3],
                parameters: part(4, 256, 64, Some(96)),
            }],
            vec![Resource::Texture(5)],
        ],
    };
    let vertex_buffer = |slot, buffer| BindCommand::SetVertexBuffer { slot, buffer };
    let case = BindCase {
        group_layouts: vec![group_layout],
        layouts: vec![layout(&[Some(0)], 0)],
        groups: vec![group],
        pipelines: vec![Pipeline {
            layout: 0,
            stages: vec![
                stage(Stage::Vertex, &[(0, 9), (0, 4)], &[2, 0]),
                stage(Stage::Fragment, &[(0, 4)], &[]),
            ],
        }],
        commands: vec![
            BindCommand::BeginRenderPass,
            vertex_buffer(0, part(60, 1000, 8, None)),
            vertex_buffer(2, part(62, 1000, 100, Some(64))),
            set_group(0, 0, &[]),
            BindCommand::SetPipeline(0),
            BindCommand::Draw,
        ],
    };
    let vertex = words(&[
        ("buffer 0", "array of 40 at 16, 41 at 0"),
        ("buffer 1", "buffer 9 at 0"),
        // 100; the array's 32 and 20; the vertex buffers' 64 and 992.
        ("buffer 2", "bytes 64000000200000001400000040000000e0030000"),
        ("buffer 28", "buffer 62 at 100"),
        ("buffer 30", "buffer 60 at 8"),
    ]);
    let fragment = words(&[
        ("buffer 0", "buffer 4 at 64"),
        ("buffer 1", "array of 40 at 16, 41 at 0"),
        ("buffer 2", "bytes 2000000014000000"),
        ("texture 0", "texture 1"),
        ("texture 1", "texture 2"),
        ("texture 2", "texture 3"),
        ("texture 3", "texture 5"),
    ]);
    let due = BTreeMap::from([(Stage::Vertex, vertex), (Stage::Fragment, fragment)]);
    assert_eq!(draws(&case, &[]), [(5, due)]);
}

/// The right tables, where wgpu-hal 30.0.2 has the fragment stage's buffer in the task stage and the other way round.
#[test]
fn the_task_stage_has_its_own_buffer() {
    let case = BindCase {
        group_layouts: vec![vec![
            entry(0, ShaderStages::TASK, uniform(false)),
            entry(1, FRAGMENT, uniform(false)),
        ]],
        layouts: vec![layout(&[Some(0)], 0)],
        groups: vec![BindGroup {
            layout: 0,
            resources: vec![bound(part(1, 16, 0, None)), bound(part(2, 16, 0, None))],
        }],
        pipelines: vec![Pipeline {
            layout: 0,
            stages: [Stage::Task, Stage::Mesh, Stage::Fragment]
                .map(|at| stage(at, &[], &[]))
                .to_vec(),
        }],
        commands: vec![
            BindCommand::BeginRenderPass,
            BindCommand::SetPipeline(0),
            set_group(0, 0, &[]),
            BindCommand::Draw,
        ],
    };
    let task = (Stage::Task, words(&[("buffer 0", "buffer 1 at 0")]));
    let fragment = (Stage::Fragment, words(&[("buffer 0", "buffer 2 at 0")]));
    let due = BTreeMap::from([task, fragment]);
    assert_eq!(draws(&case, &[Line::TaskMeshMisread]), [(3, due)]);
}

/// The fragment stage has the buffer that it is due, but by the compute stage's entry, and so without its size in wgpu-hal 30.0.2.
#[test]
fn a_buffer_that_two_entries_share_is_misread_too() {
    let shared = || bound(part(1, 516, 512, None));
    let case = BindCase {
        group_layouts: vec![vec![
            entry(0, COMPUTE, uniform(false)),
            entry(1, FRAGMENT | ShaderStages::MESH, storage(false)),
        ]],
        layouts: vec![layout(&[Some(0)], 0)],
        groups: vec![BindGroup {
            layout: 0,
            resources: vec![shared(), shared()],
        }],
        pipelines: vec![Pipeline {
            layout: 0,
            stages: vec![stage(Stage::Fragment, &[(0, 1)], &[])],
        }],
        commands: vec![
            BindCommand::BeginRenderPass,
            BindCommand::SetPipeline(0),
            set_group(0, 0, &[]),
            BindCommand::Draw,
        ],
    };
    let fragment = words(&[("buffer 0", "buffer 1 at 512"), ("buffer 1", "bytes 04000000")]);
    let due = BTreeMap::from([(Stage::Fragment, fragment)]);
    assert_eq!(draws(&case, &[Line::TaskMeshMisread]), [(3, due)]);
}

// Encoders that are wrong on purpose.

/// The right encoder over a case that is spoiled before, or with its answer spoiled after.
struct Spoiled {
    before: fn(&mut BindCase),
    after: fn(&mut Bound),
}

impl BindPlayer for Spoiled {
    fn name(&self) -> &str {
        "wrong"
    }

    fn play(&mut self, case: &BindCase, reads: Reads) -> Result<Vec<Bound>, String> {
        let mut case = case.clone();
        (self.before)(&mut case);
        let mut bound = Native::default().play(&case, reads)?;
        bound.iter_mut().for_each(self.after);
        Ok(bound)
    }
}

fn forgets_the_base() -> Box<dyn BindPlayer> {
    let base = |layout: &mslmap::StageLayout, group: usize| layout.group_base[group].map(|_| Counts::default());
    let dynamic_offsets = mslmap::dynamic_offsets;
    Box::new(Native::with_numbers("wrong", Numbers { base, dynamic_offsets }))
}

fn offsets_as_listed() -> Box<dyn BindPlayer> {
    fn dynamic_offsets(entries: &[BindGroupLayoutEntry]) -> Vec<Option<u32>> {
        let mut next = 0..;
        let dynamic = |entry: &BindGroupLayoutEntry| entry.count.is_none() && entry.ty.has_dynamic_offset();
        entries
            .iter()
            .map(|entry| dynamic(entry).then(|| next.next())?)
            .collect()
    }
    let base = |layout: &mslmap::StageLayout, group: usize| layout.group_base[group];
    Box::new(Native::with_numbers("wrong", Numbers { base, dynamic_offsets }))
}

/// A place keeps the group that it has when one of another layout is set.
fn keeps_a_group() -> Box<dyn BindPlayer> {
    fn before(case: &mut BindCase) {
        let mut set: BTreeMap<u32, (usize, BindCommand)> = BTreeMap::new();
        for command in &mut case.commands {
            match command {
                BindCommand::BeginRenderPass | BindCommand::BeginComputePass => set.clear(),
                BindCommand::SetBindGroup { index, group: None, .. } => drop(set.remove(index)),
                BindCommand::SetBindGroup {
                    index,
                    group: Some(group),
                    ..
                } => {
                    let layout = case.groups[*group].layout;
                    match set.get(index) {
                        Some((before, kept)) if *before != layout => *command = kept.clone(),
                        _ => drop(set.insert(*index, (layout, command.clone()))),
                    }
                }
                _ => {}
            }
        }
    }
    Box::new(Spoiled { before, after: |_| {} })
}

fn sizes_in_reverse() -> Box<dyn BindPlayer> {
    fn before(case: &mut BindCase) {
        let stages = case.pipelines.iter_mut().flat_map(|pipeline| &mut pipeline.stages);
        stages.for_each(|stage| stage.runtime_arrays.reverse());
    }
    Box::new(Spoiled { before, after: |_| {} })
}

/// Every array of bytes has a word too many at its front.
fn bytes_shifted() -> Box<dyn BindPlayer> {
    fn after(bound: &mut Bound) {
        for held in bound.stages.iter_mut().flat_map(|tables| tables.buffers.values_mut()) {
            if let BufferSlot::Bytes(bytes) = held {
                bytes.splice(0..0, [1, 0, 0, 0]);
            }
        }
    }
    Box::new(Spoiled { before: |_| {}, after })
}

fn binds_no_texture() -> Box<dyn BindPlayer> {
    fn after(bound: &mut Bound) {
        bound.stages.iter_mut().for_each(|tables| tables.textures.clear());
    }
    Box::new(Spoiled { before: |_| {}, after })
}

/// `_buffer_sizes` and immediates are left out.
fn gives_no_bytes() -> Box<dyn BindPlayer> {
    fn after(bound: &mut Bound) {
        let is_bytes = |held: &BufferSlot| matches!(held, BufferSlot::Bytes(_));
        let stages = bound.stages.iter_mut();
        stages.for_each(|tables| tables.buffers.retain(|_, held| !is_bytes(held)));
    }
    Box::new(Spoiled { before: |_| {}, after })
}

/// A thousand binds: some hundredths of a second.
fn campaign(subject: fn() -> Box<dyn BindPlayer>) -> Results {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = Plan {
        seed: 1,
        budget: Budget::Cases(8192),
        workers: 1,
        lanes: vec![Lane::Binds],
        shard: (0, 1),
        findings: folder.path().to_path_buf(),
    };
    let cast = Cast {
        outside: false,
        subject: Box::new(|| Box::new(lockstep::readers::native::Native::default())),
        references: Vec::new(),
        layout_subject: Box::new(|| Box::new(lockstep::readers::native::Native::default())),
        layout_references: Vec::new(),
        bind_subject: Box::new(subject),
        apple: None,
        engines: Vec::new(),
        not_run: Vec::new(),
    };
    campaign::run(&plan, &cast, &AtomicBool::new(false), &mut |_| {})
}

#[rstest]
#[case(forgets_the_base, "bind: wrong vs slot-upstream: a buffer")]
#[case(offsets_as_listed, "bind: wrong vs slot-upstream: a buffer")]
#[case(keeps_a_group, "bind: wrong vs slot-upstream: a texture")]
#[case(sizes_in_reverse, "bind: wrong vs slot-upstream: _buffer_sizes")]
#[case(
    bytes_shifted,
    "bind: wrong vs slot-upstream: the ledger's `immediates-length` did not occur"
)]
#[case(binds_no_texture, "bind: wrong vs slot-upstream: an empty texture slot")]
#[case(gives_no_bytes, "bind: wrong vs slot-upstream: an empty buffer slot")]
fn a_wrong_encoder_is_found_out(#[case] subject: fn() -> Box<dyn BindPlayer>, #[case] due: &str) {
    let results = campaign(subject);
    let found: Vec<&str> = results.findings.iter().map(|row| row.signature.as_str()).collect();
    assert!(found.contains(&due), "{found:#?}");
}

#[test]
fn the_right_encoder_is_not_and_every_line_of_the_bind_occurs() {
    let results = campaign(|| Box::new(Native::default()));
    assert_eq!(results.findings, []);
    let row = &results.comparisons[..];
    assert!(
        row.len() == 1 && row[0].aspect == "bind" && row[0].both_accept == row[0].compared,
        "{row:?}"
    );
    assert!(row[0].compared > 2000, "{row:?}");
    for line in [Line::TaskMeshMisread, Line::ImmediatesLength] {
        let of_it = |row: &&LedgerRow| row.name == line.name();
        let row = results.ledger.iter().find(of_it).expect("a row");
        assert!(row.could > 100 && row.occurred == row.could, "{row:?}");
    }
}

// Cases that are refused.

#[rstest]
#[case(vec![BindCommand::Dispatch], "command 0: not in a pass")]
#[case(vec![BindCommand::BeginComputePass, BindCommand::Dispatch], "command 1: no pipeline")]
#[case(vec![BindCommand::BeginComputePass, BindCommand::Draw], "command 1: in a pass of the other kind")]
#[case(vec![BindCommand::BeginRenderPass, BindCommand::SetPipeline(0)], "command 1: no pipeline of the pass's kind")]
#[case(vec![BindCommand::BeginComputePass, set_group(0, 9, &[])], "command 1: a group that there is not")]
#[case(vec![BindCommand::BeginComputePass, set_group(8, 0, &[])], "command 1: a group past the eighth")]
#[case(vec![BindCommand::BeginComputePass, set_group(0, 0, &[0])], "command 1: 3 dynamic offsets are due")]
#[case(
    vec![BindCommand::BeginComputePass, BindCommand::SetPipeline(0), set_group(0, 0, &[0, 0, 0]), BindCommand::Dispatch],
    "command 3: a group is missing, or of another layout"
)]
fn what_webgpu_refuses_is_no_case(#[case] commands: Vec<BindCommand>, #[case] due: &str) {
    let case = BindCase { commands, ..passes() };
    assert_eq!(case.check().expect_err("refused"), due);
}

#[test]
fn parts_that_do_not_fit_are_no_case() {
    let broken = |spoil: fn(&mut BindCase)| {
        let mut case = passes();
        spoil(&mut case);
        case.check().expect_err("refused")
    };
    assert_eq!(
        broken(|case| case.group_layouts[1][0].binding = 0),
        "group layout 1: a binding number twice"
    );
    assert_eq!(
        broken(|case| case.groups[0].resources.swap(0, 2)),
        "group 0: its resources are not those of its layout"
    );
    assert_eq!(
        broken(|case| case.pipelines[1].stages[0].runtime_arrays[0] = (0, 2)),
        "pipeline 1: a runtime-sized array in (0, 2), which is no storage buffer"
    );
    assert_eq!(
        broken(|case| case.layouts[0].groups[1] = Some(2)),
        "layout 0: a group layout that there is not"
    );
    assert_eq!(
        broken(|case| case.layouts[0].immediate_size = 6),
        "layout 0: immediates of 6 bytes; a multiple of 4 up to 4096 may be"
    );
    assert_eq!(
        broken(|case| case.layouts[0].groups = vec![None; 9]),
        "layout 0: the pipeline layout has 9 bind groups, but at most 8 are allowed"
    );
}
