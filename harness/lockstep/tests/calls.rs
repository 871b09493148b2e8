//! The calls.

use std::time::Instant;

use lockstep::case::{Case, Origin, StreamCase};
use lockstep::generators;
use lockstep::readers::native::Native;
use lockstep::readers::replay_js::replay_js;
use lockstep::readers::{Batch, CallsQuery, StreamReader};
use lockstep::setup;

fn generated(lane: &str, seed: u64, index: u64) -> Option<StreamCase> {
    let origin = Origin {
        lane: lane.into(),
        seed,
        index,
    };
    match generators::case(&origin)?.case {
        Case::Stream(case) => Some(case),
        Case::Layout(_) => None,
    }
}

/// Prints how many traces a second each replayer makes.
#[test]
#[ignore = "a measurement"]
fn rates() {
    let parts = setup::look();
    let deno = parts.deno.expect("deno");
    let queries: Vec<_> = (0..2000)
        .filter_map(|index| CallsQuery::of(&generated("streams", 1, index)?))
        .take(512)
        .collect();
    let batch = Batch {
        calls: queries,
        ..Batch::default()
    };
    let mut readers: [Box<dyn StreamReader>; 2] =
        [Box::new(Native::default()), Box::new(replay_js(&parts.root, &deno))];
    for reader in &mut readers {
        // The best of many, since other work on the machine only ever slows one down.
        let seconds = (0..40).map(|_| {
            let start = Instant::now();
            reader.ask(&batch).expect("asked");
            reader.hear().expect("heard");
            start.elapsed().as_secs_f64()
        });
        let rate = batch.calls.len() as f64 / seconds.fold(f64::INFINITY, f64::min);
        println!("{}: {rate:.0} traces a second", reader.name());
    }
}

#[test]
#[ignore = "dump"]
fn dump() {
    let queries: Vec<_> = (0..2000)
        .filter_map(|index| CallsQuery::of(&generated("streams", 1, index)?))
        .take(512)
        .collect();
    let batch = Batch {
        calls: queries,
        ..Batch::default()
    };
    std::fs::write("/tmp/calls.frame", lockstep::readers::protocol::calls(&batch)).unwrap();
    let mut native = Native::default();
    native.ask(&batch).unwrap();
    let heard = native.hear().unwrap();
    let total: usize = heard.calls.iter().map(Vec::len).sum();
    println!(
        "{} bytes a trace, {} rows",
        total / 512,
        batch.calls.iter().map(|q| q.rows.len()).sum::<usize>() / 512
    );
    std::fs::write("/tmp/calls.text", heard.calls[3].clone()).unwrap();
}

#[test]
#[ignore = "split"]
fn split() {
    use lockstep::gpu::calls::calls_of_bytes;
    let queries: Vec<_> = (0..2000)
        .filter_map(|index| CallsQuery::of(&generated("streams", 1, index)?))
        .take(512)
        .collect();
    let best = |f: &dyn Fn(&CallsQuery) -> usize| {
        (0..60)
            .map(|_| {
                let s = Instant::now();
                let n: usize = queries.iter().map(f).sum();
                std::hint::black_box(n);
                s.elapsed().as_secs_f64() * 1e6 / queries.len() as f64
            })
            .fold(f64::INFINITY, f64::min)
    };
    println!(
        "parse {:.1}",
        best(&|q| q
            .rows
            .iter()
            .map(|r| {
                let (_, b) = wire::split_descriptor(&r.descriptor).unwrap();
                let v: serde_json::Value = serde_json::from_slice(b).unwrap_or_default();
                v.is_object() as usize
            })
            .sum())
    );
    println!("trace {:.1}", best(&|q| calls_of_bytes(&q.rows, &q.blob).rows.len()));
    println!("text {:.1}", best(&|q| calls_of_bytes(&q.rows, &q.blob).text().len()));
}
