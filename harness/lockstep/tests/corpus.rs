//! Every case of `corpus/`, one test a file, and that the check of a case would see a wrong one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Failed, Trial};
use lockstep::case::{CaseFile, Expect};
use lockstep::corpus::{Judge, files, recordings};
use lockstep::files::slug;
use lockstep::findings::{case_text, read_case};
use lockstep::recording::Recording;
use lockstep::setup;

fn main() {
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, tests()).exit();
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

fn tests() -> Vec<Trial> {
    let judge = Arc::new(Mutex::new(Judge::new(&setup::look())));
    let missing = judge.lock().unwrap_or_else(PoisonError::into_inner).missing.clone();
    let test = |name: &str, body: fn(&mut Judge) -> Result<(), Failed>| {
        let judge = Arc::clone(&judge);
        Trial::test(name, move || {
            body(&mut judge.lock().unwrap_or_else(PoisonError::into_inner))
        })
    };
    let mut tests = vec![
        Trial::test("nothing is missing", move || {
            expect(missing.is_empty(), missing.join("; "))
        }),
        test("a wrong expectation of a stream fails", wrong_stream),
        test("a wrong expectation of a layout fails", wrong_layout),
        test("a file that is written otherwise fails", written_otherwise),
        test("a text that says another stream than the blob fails", other_text),
        Trial::test("check goes on after a file that is none", goes_on),
        Trial::test("an unknown field is refused with file and place", unknown_field),
        Trial::test("an empty folder is bad input", empty_folder),
        test("add files a case once, and only with an expectation that holds", add),
        Trial::test("every case has a source and the name of what it shows", names),
    ];
    for path in files(&[corpus()]).unwrap_or_default() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let judge = Arc::clone(&judge);
        tests.push(Trial::test(name, move || {
            let mut judge = judge.lock().unwrap_or_else(PoisonError::into_inner);
            let wrong = judge.check_file(&path).map_err(|error| format!("{error:#}"))?;
            expect(wrong.is_empty(), wrong.join("\n"))
        }));
    }
    let folders = recordings(&[corpus()]).expect("the folder of recordings");
    assert!(!folders.is_empty(), "corpus/ holds recordings");
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let judge = Arc::clone(&judge);
        tests.push(Trial::test(format!("recording {name}"), move || {
            let mut judge = judge.lock().unwrap_or_else(PoisonError::into_inner);
            let recording = Recording::open(&folder).map_err(|error| format!("{error:#}"))?;
            let wrong = judge.check_recording(&recording);
            expect(wrong.is_empty(), wrong.join("\n"))
        }));
    }
    tests
}

fn expect(holds: bool, why: impl Into<String>) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(why.into().into()) }
}

fn same(found: &[String], due: &[&str]) -> Result<(), Failed> {
    expect(found == due, format!("found {found:#?}, expected {due:#?}"))
}

fn case(path: &str) -> Result<CaseFile, Failed> {
    read_case(&corpus().join(path)).map_err(|error| format!("{error:#}").into())
}

const READ: &str = "streams/a-read-of-4-bytes-at-8-is-fine.json";
const LOOP: &str = "layouts/a-loop-whose-only-exit-stands-by-a-guarded-store-is-bounded-and-its-index-restricted.json";

fn wrong_stream(judge: &mut Judge) -> Result<(), Failed> {
    let mut file = case(READ)?;
    let Some(Expect::Stream(due)) = &mut file.expect else {
        return Err("no stream".into());
    };
    due.decode = Some("bad-enum at word 3, SetIndexBuffer".into());
    due.reads = None;
    due.window = Some("08090a0c".into());
    due.buffers.insert(1, "00".into());
    let wrong = judge.check(&file);
    let memory = wrong.iter().filter(|line| line.contains("wgpu:")).count();
    expect(memory == 2, format!("{wrong:#?}"))?;
    let words: Vec<String> = wrong.into_iter().filter(|line| !line.contains("wgpu:")).collect();
    same(
        &words,
        &[
            "decode: expected `bad-enum at word 3, SetIndexBuffer`, is `accept`",
            "reads: expected nothing, is `accept`",
        ],
    )
}

fn wrong_layout(judge: &mut Judge) -> Result<(), Failed> {
    let mut file = case(LOOP)?;
    let Some(Expect::Layout(due)) = &mut file.expect else {
        return Err("no layout".into());
    };
    let compute = due.slots.values_mut().next().ok_or("no stage")?;
    compute.insert("g0b0".into(), "buffer 1, mutable".into());
    compute.remove("_buffer_sizes");
    due.shader.values_mut().next().ok_or("no entry point")?.loops = 2;
    let wrong = judge.check(&file);
    same(
        &wrong[..2],
        &[
            "compute g0b0: expected `buffer 1, mutable`, is `buffer 0, mutable`",
            "compute _buffer_sizes: expected nothing, is `buffer 1`",
        ],
    )?;
    let entry = wrong.len() == 3 && wrong[2].starts_with("entry point main: expected {");
    expect(entry, format!("{wrong:#?}"))?;
    file.expect = Some(Expect::Stream(Default::default()));
    same(&judge.check(&file), &["`expect` is for a case of the other kind"])?;
    file.expect = None;
    same(&judge.check(&file), &["no `expect`: nothing to hold it to"])
}

fn written_otherwise(judge: &mut Judge) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("case.json");
    // The same case, and a field that wgpu's own types let pass.
    let text = case_text(&case(LOOP)?).map_err(|error| error.to_string())?;
    std::fs::write(&path, text.replace("\"count\": null", "\"counts\": null"))?;
    let wrong = judge.check_file(&path).map_err(|error| format!("{error:#}"))?;
    same(
        &wrong,
        &["the file is not what it is written back as; `corpus format` writes that"],
    )
}

fn other_text(judge: &mut Judge) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("case.json");
    let text = case_text(&case(READ)?).map_err(|error| error.to_string())?;
    expect(text.contains("ReadBuffer #1 offset=8"), &text)?;
    std::fs::write(&path, text.replace("ReadBuffer #1 offset=8", "ReadBuffer #1 offset=4"))?;
    let wrong = judge.check_file(&path).map_err(|error| format!("{error:#}"))?;
    let [due, _] = wrong.as_slice() else {
        return Err(wrong.join("; ").into());
    };
    expect(
        due.starts_with("`text` does not say what the blob does, from line "),
        due,
    )
}

fn goes_on() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    for name in ["a.json", "b.json"] {
        std::fs::write(folder.path().join(name), "{}")?;
    }
    let (status, text) = lockstep(&["corpus", "check", &folder.path().display().to_string()])?;
    let lines: Vec<&str> = text.lines().collect();
    let named = lines.len() == 3 && lines[0].starts_with("a: ") && lines[1].starts_with("b: ");
    expect(status == Some(2) && named && lines[2] == "0 passed, 2 failed", &text)
}

fn unknown_field() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let text = case_text(&case(READ)?).map_err(|error| error.to_string())?;
    for (field, line) in [("\"shows\"", 3), ("\"decode\"", 7), ("\"blob\"", 0), ("\"kind\"", 0)] {
        let path = folder.path().join("case.json");
        std::fs::write(&path, text.replacen(field, "\"other\"", 1))?;
        let error = match read_case(&path) {
            Ok(_) => return Err(format!("{field} is not refused").into()),
            Err(error) => format!("{error:#}"),
        };
        let says = |part: &str| error.contains(part);
        let placed = says("case.json") && says("unknown field `other`") && says(" column ");
        expect(placed && (line == 0 || says(&format!("line {line} "))), error)?;
    }
    Ok(())
}

/// The program's status and what it prints on both streams.
fn lockstep(arguments: &[&str]) -> Result<(Option<i32>, String), Failed> {
    let output = assert_cmd::Command::cargo_bin("lockstep")?.args(arguments).output()?;
    let text = [output.stdout, output.stderr].concat();
    Ok((output.status.code(), String::from_utf8_lossy(&text).into_owned()))
}

fn empty_folder() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().display().to_string();
    for (path, due) in [
        (path.clone(), "no case in this folder"),
        (path + "/none", "cannot look for cases"),
    ] {
        let (status, text) = lockstep(&["corpus", "check", &path])?;
        expect(
            status == Some(2) && text.contains(due) && text.lines().count() == 1,
            text,
        )?;
    }
    Ok(())
}

fn add(judge: &mut Judge) -> Result<(), Failed> {
    let root = tempfile::tempdir()?;
    let (from, to) = (root.path().join("finding.json"), root.path().join("layouts/slots.json"));
    let mut file = case(LOOP)?;
    let due = file.expect.clone();
    let mut add = |file: &CaseFile| -> Result<String, Failed> {
        let added = judge.add(file.clone(), &from, root.path());
        Ok(added.map_or_else(|error| format!("{error:#}"), |path| path.display().to_string()))
    };
    let says = |said: String, part: &str| expect(said.contains(part), said);
    file.shows = None;
    says(add(&file)?, "no `shows`")?;
    file.shows = Some("Slots!".into());
    file.expect = Some(Expect::Layout(Default::default()));
    says(add(&file)?, "not filed: compute ")?;
    expect(!to.exists(), "filed all the same")?;
    file.expect = None;
    says(add(&file)?, "slots.json")?;
    let filed = read_case(&to).map_err(|error| format!("{error:#}"))?;
    expect(filed.expect == due, format!("{:?}", filed.expect))?;
    says(add(&file)?, "there is such a case already")?;
    judge.missing.push("the reader of a test".into());
    file.shows = Some("Others".into());
    let refused = judge.add(file, &from, root.path());
    judge.missing.pop();
    expect(
        refused.is_err_and(|error| error.to_string().contains("the reader of a test")),
        "filed all the same",
    )
}

fn names() -> Result<(), Failed> {
    let all = files(&[corpus()]).map_err(|error| format!("{error:#}"))?;
    expect(all.len() > 60, format!("{} cases are too few", all.len()))?;
    for path in all {
        let file = read_case(&path).map_err(|error| format!("{error:#}"))?;
        let named = file.shows.as_deref().map(slug);
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        expect(named == stem && file.source.is_some(), path.display().to_string())?;
    }
    Ok(())
}
