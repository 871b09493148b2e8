//! Faulty implementations are built and found, and one without a fault is not.
//!
//! What every patch and mutant comes to is measured by `cargo lockstep power`; here are one of each area.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use lockstep::campaign::Budget;
use lockstep::power::{Fault, Found, Hunt, Outcome, References, Set, Workshop, faults};
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
}
