//! Every row of `lockstep bench`: a group is a kind of input, a benchmark in it a function, its parameter the nominal length in bytes.

use std::cell::RefCell;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use lockstep_bench::hot::{self, Map};
use lockstep_bench::objects::{Anything, pipeline_layout};
use lockstep_bench::peers::PEERS;
use lockstep_bench::peers::command::Command as Typed;
use lockstep_bench::streams::{DATA_LEN, Stream, generated, recorded};
use mslmap::{Extension, STAGES, StageLayout};

const SIZES: [usize; 3] = [64 << 10, 1 << 20, 16 << 20];
/// Peers are measured up to this: their bytes are several times as many.
const PEERS_UP_TO: usize = 1 << 20;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    for size in SIZES {
        for kind in ["render", "compute", "upload", "refused"] {
            stream(&mut criterion, &generated(kind, size), size);
        }
        if let Some(recorded) = recorded(size) {
            stream(&mut criterion, &recorded, size);
        }
    }
    descriptors(&mut criterion);
    layouts(&mut criterion);
    criterion.final_summary();
}

/// The rows of one stream.
fn stream(criterion: &mut Criterion, stream: &Stream, size: usize) {
    let mut group = criterion.benchmark_group(stream.kind);
    group.throughput(Throughput::ElementsAndBytes {
        elements: stream.commands as u64,
        bytes: size_of_val(&stream.words[..]) as u64,
    });
    let words = &stream.words[..];
    let id = |name: &str| BenchmarkId::new(name, size);
    let map = Map::of(stream);
    // A stream that is refused is refused in each round, since ids are translated there and back.
    let mut changed = words.to_vec();

    group.bench_function(id("sum"), |bench| bench.iter(|| hot::sum(black_box(words))));
    group.bench_function(id("copy"), |bench| {
        bench.iter(|| hot::copy(black_box(&mut changed), black_box(words)))
    });
    group.bench_function(id("decode"), |bench| bench.iter(|| hot::decode(black_box(words))));
    group.bench_function(id("decode to a vector"), |bench| {
        bench.iter(|| wire::decode(black_box(words), DATA_LEN))
    });
    group.bench_function(id("remap"), |bench| {
        bench.iter(|| hot::remap(black_box(&mut changed), &map))
    });
    group.bench_function(id("remap_reads"), |bench| {
        bench.iter(|| hot::remap_reads(black_box(&mut changed), &map))
    });
    let Ok(cmds) = wire::decode(words, DATA_LEN) else {
        return;
    };
    group.bench_function(id("check_ranges"), |bench| {
        bench.iter(|| hot::check_ranges(black_box(&cmds), &map))
    });
    let objects = Anything::default();
    if hot::check_strict(&cmds, &objects) {
        group.bench_function(id("check_strict"), |bench| {
            bench.iter(|| hot::check_strict(black_box(&cmds), &objects))
        });
    }
    if size <= PEERS_UP_TO {
        peers(&mut group, &cmds, size);
        replay_js(&mut group, words, size);
    }
}

/// The same commands in other forms.
fn peers(group: &mut BenchmarkGroup<'_, WallTime>, cmds: &[wire::Cmd<'_>], size: usize) {
    let commands: Vec<Typed> = cmds.iter().copied().map(Typed::of).collect();
    for peer in PEERS {
        let bytes = (peer.encode)(&commands);
        let id = BenchmarkId::new(peer.name, size);
        group.bench_function(id, |bench| bench.iter(|| (peer.read)(black_box(&bytes), DATA_LEN)));
    }
}

/// A process that decodes a stream as often as it is asked to.
struct Script {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Script {
    fn start(deno: &Path, blob: &Path) -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("replay_js.js");
        let mut child = Command::new(deno)
            .args(["run", "--quiet", "--allow-read"])
            .args([&script, blob])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let (asks, answers) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        Some(Self { child, asks, answers })
    }

    fn decode(&mut self, times: u64) -> Option<Duration> {
        writeln!(self.asks, "{times}").ok()?;
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        line.trim().parse().ok().map(Duration::from_nanos)
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// replay.js's decode under deno, which `LOCKSTEP_DENO` names; without it there is no such row, and `lockstep bench` says so.
fn replay_js(group: &mut BenchmarkGroup<'_, WallTime>, words: &[u32], size: usize) {
    let Some(deno) = std::env::var_os("LOCKSTEP_DENO").map(PathBuf::from) else {
        return;
    };
    let blob = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stream.wire");
    let written = std::fs::write(&blob, wire::encode_blob(words, &vec![0; DATA_LEN as usize]));
    written.unwrap_or_else(|error| panic!("cannot write {}: {error}", blob.display()));
    let Some(script) = Script::start(&deno, &blob) else {
        return eprintln!("{} does not start", deno.display());
    };
    let script = RefCell::new(script);
    group.bench_function(BenchmarkId::new("replay.js", size), |bench| {
        bench.iter_custom(|times| script.borrow_mut().decode(times).expect("replay_js.js answers"));
    });
}

/// Descriptors as a guest makes them: two references, a body of 200 bytes.
fn descriptors(criterion: &mut Criterion) {
    const COUNT: usize = 1000;
    let mut one = Vec::new();
    wire::append_descriptor(&mut one, &[1, 2], &[b' '; 200]).expect("two references are few");
    let mut all = vec![one; COUNT];
    let bytes = all.iter().map(Vec::len).sum::<usize>();
    let mut group = criterion.benchmark_group("descriptors");
    group.throughput(Throughput::ElementsAndBytes {
        elements: COUNT as u64,
        bytes: bytes as u64,
    });
    group.bench_function(BenchmarkId::new("split_descriptor", bytes), |bench| {
        bench.iter(|| {
            black_box(&all)
                .iter()
                .filter(|bytes| wire::split_descriptor(bytes).is_ok())
                .count()
        });
    });
    group.bench_function(BenchmarkId::new("remap_descriptor", bytes), |bench| {
        bench.iter(|| {
            all.iter_mut()
                .try_for_each(|bytes| wire::remap_descriptor(black_box(bytes), |id| Some(3 - id)))
        });
    });
}

/// Pipeline layouts: one of a material, and a large one.
fn layouts(criterion: &mut Criterion) {
    for (name, groups, entries) in [("layout of 2 groups", 2, 3), ("layout of 4 groups", 4, 16)] {
        let layout = pipeline_layout(groups, entries);
        let layout: Vec<_> = layout.iter().map(|entries| Some(&entries[..])).collect();
        let layout = &layout[..];
        let extension = Extension {
            immediate_size: 0,
            vertex_pulling: true,
        };
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(1));
        group.bench_function("create_pipeline_layout", |bench| {
            bench.iter(|| slot_upstream::layout(black_box(layout), 0))
        });
        group.bench_function("StageLayout, all stages", |bench| {
            bench.iter(|| StageLayout::all_stages(black_box(layout), extension));
        });
        group.bench_function("StageLayout, one stage", |bench| {
            bench.iter(|| StageLayout::extended(black_box(layout), STAGES[0], extension));
        });
        let stage = StageLayout::extended(layout, STAGES[0], extension).expect("the layout is a good one");
        group.bench_function("options", |bench| bench.iter(|| stage.options(black_box("main"))));
    }
}
