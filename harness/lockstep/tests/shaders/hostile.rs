//! Shaders made to break the reader: each comes to a report, and nothing ends the program.

use lockstep::shaders::{FaultKind, MAX_ENTRY_POINTS, Options};

use crate::layouts::check;

#[test]
fn too_long() {
    let report = check(&" ".repeat(10 << 20), &Options::default());
    let fault = report.fault.expect("too long");
    assert_eq!(fault.kind, FaultKind::TooMuch);
    assert_eq!(fault.message, "10485760 bytes of WGSL; at most 2097152 are read");
}

#[test]
fn deep() {
    let nested = [("(", "1", ")"), ("- ", "1", ""), ("vec2(", "1", ").x")];
    for (open, middle, close) in nested {
        let expression = format!("{}{middle}{}", open.repeat(20_000), close.repeat(20_000));
        let report = check(
            &format!("@compute @workgroup_size(1) fn f() {{ let x = {expression}; }}"),
            &Options::default(),
        );
        assert!(report.fault.is_some() || report.entry_points.len() == 1, "{open}");
        if let Some(fault) = report.fault {
            assert!(
                fault.message.lines().count() == 1 && fault.message.len() < 200,
                "{}",
                fault.message
            );
        }
    }
}

#[test]
fn ten_thousand_entry_points() {
    let entry = |n: usize| format!("@compute @workgroup_size(1) fn entry{n}() {{}}\n");
    let wgsl: String = (0..10_000).map(entry).collect();
    let fault = check(&wgsl, &Options::default()).fault.expect("too many");
    assert_eq!(fault.kind, FaultKind::TooMuch);
    let due = format!("10000 entry points; at most {MAX_ENTRY_POINTS} are checked, --entry-point chooses");
    assert_eq!(fault.message, due);
}

#[test]
fn names_of_types_and_of_msl() {
    for name in [
        "f32_",
        "u32_",
        "kernel",
        "metal",
        "device",
        "constant",
        "main",
        "buffer",
        "_buffer_sizes",
        "size0",
        "naga",
        "é",
    ] {
        let wgsl = format!(
            "@group(0) @binding(0) var<storage> {name}: array<u32>;
             @compute @workgroup_size(1) fn f() {{ _ = {name}[arrayLength(&{name}) - 1]; }}"
        );
        let report = check(&wgsl, &Options::default());
        assert_eq!((&report.fault, report.problems()), (&None, 0), "{report:?}");
    }
    // Names of predeclared types may be declared again.
    let report = check(
        "struct f32 { a: u32 } fn f(x: f32) -> u32 { return x.a; }",
        &Options::default(),
    );
    assert_eq!(report.fault, None);
}

#[test]
fn far_bindings() {
    let wgsl = "@group(4294967295) @binding(4294967295) var<uniform> far: vec4f; @fragment fn f() { _ = far; }";
    let report = check(wgsl, &Options::default());
    let said = report.entry_points.first().and_then(|entry| entry.refused.as_deref());
    assert!(
        report.fault.is_some() || said.is_some_and(|said| said.contains("bind groups")),
        "{report:?}"
    );
    let wgsl = "@group(0) @binding(4294967294) var<uniform> far: vec4f; @fragment fn f() -> @location(0) vec4f { return far; }";
    assert_eq!(check(wgsl, &Options::default()).problems(), 0);
}

#[test]
fn nothing_at_all() {
    for text in ["", "\0", "\u{feff}", ";", "@", "/*", "fn", "\u{202e}"] {
        let report = check(text, &Options::default());
        assert_eq!(report.entry_points, [], "{text:?}");
    }
}
