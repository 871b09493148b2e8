//! The results as SARIF 2.1.0, for code scanning.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use serde_sarif::sarif::{
    ArtifactLocation, Invocation, Location, Message, MultiformatMessageString, Notification, PhysicalLocation,
    PropertyBag, ReportingDescriptor, Result as SarifResult, ResultLevel, Run, SCHEMA_URL, Sarif, Tool, ToolComponent,
    Version,
};

use super::figures::plain;
use super::results::{FindingRow, NotRun, Results};

/// The JSON. Each finding is a result: its rule is the aspect that its signature begins with, its fingerprint the signature, its place the
/// case file. What did not run stands under the tool's notifications.
///
/// # Panics
///
/// Not by its input.
pub fn json(results: &Results) -> String {
    let rules: BTreeSet<&str> = results.findings.iter().map(rule).collect();
    let driver = ToolComponent::builder()
        .name("lockstep")
        .version(results.version.clone())
        .rules(rules.into_iter().map(descriptor).collect::<Vec<_>>())
        .build();
    let invocation = Invocation::builder()
        .execution_successful(!results.interrupted && results.not_run.is_empty())
        .command_line(results.command.clone())
        .tool_execution_notifications(results.not_run.iter().map(notification).collect::<Vec<_>>())
        .build();
    let run = Run::builder()
        .tool(Tool::builder().driver(driver).build())
        .invocations(vec![invocation])
        .results(results.findings.iter().map(finding).collect::<Vec<_>>())
        .build();
    let sarif = Sarif::builder()
        .version(Version::V2_1_0.to_string())
        .schema(SCHEMA_URL)
        .runs(vec![run])
        .build();
    serde_json::to_string_pretty(&sarif).expect("texts and numbers") + "\n"
}

/// What a signature begins with.
fn rule(row: &FindingRow) -> &str {
    row.signature.split([':', '/']).next().unwrap_or_default()
}

fn text(text: &str) -> Message {
    Message::builder().text(plain(text)).build()
}

fn descriptor(rule: &str) -> ReportingDescriptor {
    let what = format!("Two readers, or a reader and a GPU, part at {}", plain(rule));
    let what: MultiformatMessageString = MultiformatMessageString::builder().text(what).build();
    ReportingDescriptor::builder().id(rule).short_description(what).build()
}

fn notification(row: &NotRun) -> Notification {
    let message = format!("{} did not run: {}; {}", row.what, row.why, row.mend);
    Notification::builder()
        .message(text(&message))
        .level(json!("error"))
        .build()
}

fn finding(row: &FindingRow) -> SarifResult {
    let message = Message::builder().text(format!("{}\n{}", plain(&row.summary), plain(&row.repro)));
    let place = PhysicalLocation::builder().artifact_location(ArtifactLocation::builder().uri(uri(&row.file)).build());
    // Code scanning takes no result without one, so that it is there also where the file is not.
    let locations = vec![Location::builder().physical_location(place.build()).build()];
    let seen = BTreeMap::from([("seen".to_owned(), json!(row.seen))]);
    SarifResult::builder()
        .rule_id(rule(row))
        .level(ResultLevel::Error)
        .message(message.build())
        .locations(locations)
        .partial_fingerprints(BTreeMap::from([("signature/v1".to_owned(), row.signature.clone())]))
        .properties(PropertyBag::builder().additional_properties(seen).build())
        .build()
}

/// A path as a URI reference: forward slashes, and `%` before what may not stand in one.
fn uri(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut uri = if is_absolute {
        "file://".to_owned()
    } else {
        String::new()
    };
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => uri.push(byte.into()),
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}
