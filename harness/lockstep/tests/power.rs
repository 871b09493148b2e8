//! Faulty implementations are built and found, and one without a fault is not.
//!
//! What every patch and mutant comes to is measured by `cargo lockstep power`; here are one of each area.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use lockstep::campaign::Budget;
use lockstep::power::{self, Fault, Found, Hunt, Outcome, POWER_FORMAT, Power, References, Row, Set, Workshop, faults};
use lockstep::report::results::Shards;
use lockstep::setup;

/// One of each area, with what its first finding begins with.
const HANDFUL: [(&str, &str); 7] = [
    ("data-sum-in-32-bits", "decode: faulty vs replay-js"),
    ("replaced-by-zero", "remap: faulty vs replay-js"),
    ("dispatch-indirect-8-bytes", "ranges: faulty vs replay-js"),
    ("descriptor-limit-by-one", "descriptor"),
    ("group-index-in-8-bits", "strict: wgpu:noop"),
    ("group-base-forgotten", "bases: faulty vs slot-"),
    ("options-without-sizes", "options: faulty vs slot-model"),
];

/// One for each test: what it compiles is kept from one run to the next.
fn workshop(root: &Path, test: &str) -> Workshop {
    Workshop::new(root, &root.join(".lockstep/power").join(test)).expect("a copy")
}

fn fault(all: &[Fault], name: &str) -> Fault {
    all.iter().find(|fault| fault.name == name).expect(name).clone()
}

#[test]
fn every_patch_applies_and_says_what_it_is() {
    let root = setup::repository_root().expect("the repository");
    let workshop = workshop(&root, "applies");
    let all = faults::patches(&root).expect("the patches");
    assert!(all.len() >= 40, "{} faults", all.len());
    for fault in &all {
        let changed = workshop
            .patched(fault)
            .unwrap_or_else(|error| panic!("{}: {error:#}", fault.name));
        assert_eq!(fault.set, Set::Faults);
        assert!(!fault.source.is_empty() && !fault.what.is_empty(), "{}", fault.name);
        assert!(
            changed.iter().all(|(_, [old, new])| old != new),
            "{} changes nothing",
            fault.name
        );
    }
}

#[test]
fn a_handful_is_found_and_nothing_where_there_is_no_fault() {
    let parts = setup::look();
    let deno = parts.deno.expect("deno, which `cargo lockstep test` brings");
    let folder = tempfile::tempdir().expect("a folder");
    let workshop = workshop(&parts.root, "handful");
    let hunt = |cases| Hunt {
        references: References::new(&parts.root, &deno),
        engine: "wgpu:noop".into(),
        seed: 1,
        budget: Budget::Cases(cases),
        minimize: None,
        findings: folder.path().join("findings"),
    };
    let sound = workshop.build().expect("a subject");
    let outcome = hunt(4096).run(&sound, &AtomicBool::new(false));
    assert_eq!(outcome, Outcome::Missed, "there is nothing to find");
    let all = faults::patches(&parts.root).expect("the patches");
    for (name, begins) in HANDFUL {
        let program = workshop
            .build_with(&fault(&all, name))
            .unwrap_or_else(|why| panic!("{name}: {why:?}"));
        match hunt(65536).run(&program, &AtomicBool::new(false)) {
            Outcome::Found(Found { signature, .. }) => assert!(signature.starts_with(begins), "{name}: {signature}"),
            outcome => panic!("{name}: {outcome:?}"),
        }
    }
}

/// A `power.json` of these rows.
fn measured(rows: &[&Row]) -> Power {
    Power {
        format: POWER_FORMAT,
        version: "0.1.0".into(),
        commits: vec!["fedc".into()],
        shards: Shards { of: 1, ran: vec![0] },
        seed: 1,
        seconds_each: None,
        cases_each: Some(65536),
        interrupted: false,
        selected: false,
        rows: rows.iter().map(|row| (*row).clone()).collect(),
        stale: Vec::new(),
    }
}

/// `power NAME --resume` in the folder of an earlier run: what it prints, and its `power.json`.
fn resumed(name: &str, before: &Power) -> (String, Power) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("power.json");
    std::fs::write(&path, serde_json::to_string(before).expect("JSON")).expect("written");
    let power = |cases: &str| {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("lockstep"));
        command
            .args(["power", name, "--resume", "--cases", cases, "--out"])
            .arg(folder.path());
        command.output().expect("it runs")
    };
    let other = power("64");
    let said = String::from_utf8_lossy(&other.stderr).into_owned();
    assert_eq!(other.status.code(), Some(2), "{said}");
    assert!(
        said.contains("power.json: it was measured with another --seed, --time, --cases or --shard"),
        "{said}"
    );
    let output = power("65536");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let written = power::read(&path).expect("it is read").expect("it is there");
    (String::from_utf8_lossy(&output.stdout).into_owned(), written)
}

/// A result that is taken over.
fn kept(fault: &Fault) -> Row {
    Row::of(
        fault,
        Outcome::Found(Found {
            signature: "kept".into(),
            lane: "streams".into(),
            cases: 1,
            seconds: 0.5,
            size: None,
        }),
    )
}

/// The status is that of what was named, and so is what is printed.
#[test]
fn what_a_file_says_of_other_faults_stays() {
    let root = setup::repository_root().expect("the repository");
    let fault = fault(&faults::patches(&root).expect("the patches"), "data-sum-in-32-bits");
    let row = kept(&fault);
    let other = Row {
        name: "data-sum-in-32-bits: another".into(),
        ..row.clone()
    };
    let before = Power {
        interrupted: true,
        stale: vec![
            "data-sum-in-32-bits: listed, and found".into(),
            "gone: listed, and no mutant".into(),
        ],
        ..measured(&[&other, &row])
    };
    let (said, power) = resumed(&fault.name, &before);
    assert_eq!(power.rows, [other, row]);
    assert_eq!(power.stale, ["gone: listed, and no mutant"]);
    assert!(
        power.interrupted && !power.selected,
        "all is there but for what the first left"
    );
    assert!(said.contains("1 of 1 hand-made faults found"), "{said}");
    assert!(
        said.ends_with("These are faults that were named, and not all.\n"),
        "{said}"
    );
}

#[test]
fn a_result_is_taken_over_while_the_patch_is_the_same() {
    let root = setup::repository_root().expect("the repository");
    let fault = fault(&faults::patches(&root).expect("the patches"), "data-sum-in-32-bits");
    let kept = kept(&fault);
    let (_, power) = resumed(&fault.name, &measured(&[&kept]));
    assert_eq!(power.rows, std::slice::from_ref(&kept));
    assert!(power.selected, "it is all that the file has");
    assert_eq!(power.commits[0], "fedc", "where it was measured");
    let changed = Row {
        change: "another".into(),
        ..kept
    };
    let (_, power) = resumed(&fault.name, &measured(&[&changed]));
    assert_eq!(power.rows[0].change, fault.change());
    let Outcome::Found(found) = &power.rows[0].outcome else {
        panic!("{:?}", power.rows)
    };
    assert!(
        found.signature.starts_with("decode: faulty vs replay-js"),
        "{}",
        found.signature
    );
}

#[test]
fn a_patch_for_another_text_is_said_by_its_file() {
    let root = setup::repository_root().expect("the repository");
    let workshop = workshop(&root, "another-text");
    let mut fault = fault(&faults::patches(&root).expect("the patches"), "data-sum-in-32-bits");
    fault.patch = fault
        .patch
        .replace("u64::from(words[offset].get()) +", "u64::from(words[offset].put()) +");
    let error = workshop.patched(&fault).expect_err("no such line");
    let due = "harness/wire/src/arguments.rs is another than the patch was made for";
    assert!(format!("{error:#}").starts_with(due), "{error:#}");
    for name in [
        "../victim.txt",
        "/etc/hosts",
        "harness/wire/../../victim.txt",
        "harness/bench/Cargo.toml",
    ] {
        fault.patch = format!("--- {name}\n+++ {name}\n@@ -1 +1 @@\n-old\n+new\n");
        let error = workshop
            .patched(&fault)
            .expect_err("it is no file of the copy")
            .to_string();
        assert_eq!(
            error,
            format!("{name}: it is in none of harness/wire, harness/mslmap, harness/subject")
        );
    }
}
