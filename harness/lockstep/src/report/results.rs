//! What a campaign found, as data: the JSON report is this, and the terminal's summary and the HTML page are made of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ledger::LedgerRow;
use crate::power::Power;
use crate::report::bench::Bench;
use crate::report::figures::thousands;

/// The version of the JSON report.
pub const RESULTS_FORMAT: u32 = 3;

/// A whole campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// [`RESULTS_FORMAT`].
    pub format: u32,
    /// The program's version.
    pub version: String,
    /// The commit of the repository that it ran in, with `-dirty` behind it where files differ from it; none outside of a repository.
    pub commit: Option<String>,
    /// The parts of the campaign that these results are of.
    pub shards: Shards,
    /// The command line that makes the same cases again.
    pub command: String,
    /// The seed of every case.
    pub seed: u64,
    /// Seconds since the Unix epoch at the start.
    pub started: u64,
    /// How long it ran, in seconds.
    pub seconds: f64,
    /// Worker threads.
    pub workers: usize,
    /// Whether Ctrl-C or a signal ended it before its budget did.
    pub interrupted: bool,
    /// What ran of each kind of case.
    pub lanes: Vec<Lane>,
    /// Who was compared with whom, aspect by aspect.
    pub comparisons: Vec<Comparison>,
    /// The lines of `reference/LEDGER.md`.
    pub ledger: Vec<LedgerRow>,
    /// Translations by naga, checked.
    pub msl: Msl,
    /// One row an engine.
    pub engines: Vec<EngineRow>,
    /// Recordings of programs, replayed.
    #[serde(default)]
    pub recordings: Vec<RecordingRow>,
    /// What the cases covered.
    pub coverage: Coverage,
    /// What was found.
    pub findings: Vec<FindingRow>,
    /// Findings of a signature that was already written, which were only counted.
    pub repeated_findings: u64,
    /// What could not run, and what to do about it.
    pub not_run: Vec<NotRun>,
    /// The detection power as it was measured last, where `lockstep power` left its `power.json` in the report's folder.
    #[serde(default)]
    pub power: Option<Power>,
    /// What `lockstep bench` measured last on this machine, where it ran.
    #[serde(default)]
    pub bench: Option<Bench>,
}

/// Parts of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shards {
    /// Into how many the campaign is split.
    pub of: u64,
    /// Those that ran, ascending.
    pub ran: Vec<u64>,
}

/// Cases of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// Such as `streams`.
    pub name: String,
    /// How many ran.
    pub cases: u64,
    /// Seconds of all the workers together that went into them.
    pub worker_seconds: f64,
}

/// Two readers over one aspect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Such as `decode`, `ranges` or `slots`.
    pub aspect: String,
    /// The reader under test.
    pub subject: String,
    /// The reader that it is held against.
    pub reference: String,
    /// Answers compared.
    pub compared: u64,
    /// Of these, both accept and agree.
    pub both_accept: u64,
    /// Of these, both refuse alike.
    pub both_refuse: u64,
}

impl Comparison {
    /// Answers that differ.
    pub fn differ(&self) -> u64 {
        self.compared
            .saturating_sub(self.both_accept)
            .saturating_sub(self.both_refuse)
    }
}

/// What came of the translations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Msl {
    /// Entry points that naga wrote and whose arguments were read back.
    pub translated: u64,
    /// Arguments held against their slots.
    pub arguments: u64,
    /// Translations that were refused, as they should be, by reason.
    pub refused: BTreeMap<String, u64>,
    /// How often each property of slots.md section 4 was checked, by its number and a few words.
    pub checks: BTreeMap<String, u64>,
}

impl Msl {
    /// Adds another worker's, or another shader's, counts.
    pub fn add(&mut self, other: &Msl) {
        self.translated += other.translated;
        self.arguments += other.arguments;
        add_counts(&mut self.refused, &other.refused);
        add_counts(&mut self.checks, &other.checks);
    }
}

/// Adds counts by name.
pub fn add_counts<K: Clone + Ord>(to: &mut BTreeMap<K, u64>, more: &BTreeMap<K, u64>) {
    for (key, count) in more {
        *to.entry(key.clone()).or_default() += count;
    }
}

/// One engine's replays, and the two-by-two of CheckRanges and GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EngineRow {
    /// Such as `wgpu:vulkan:llvmpipe`.
    pub engine: String,
    /// The driver, in its own words.
    pub driver: String,
    /// Whether it executes, so that its bytes are compared with the shadow's.
    pub executes: bool,
    /// Streams replayed.
    pub replays: u64,
    /// Commands in them.
    pub commands: u64,
    /// Bytes read back and compared with the shadow.
    pub bytes_compared: u64,
    /// Resources that the shadow could not foretell, and that were not compared.
    pub not_foretold: u64,
    /// Devices that were lost and made anew.
    pub devices_lost: u64,
    /// The table.
    pub table: GpuTable,
    /// What the table's `tolerated` counts, by line of the ledger.
    pub tolerated: BTreeMap<String, u64>,
    /// Over accepted streams: the GPU's refusals that section 5 of wire.md leaves to the device, by what they were about.
    pub left_to_device: BTreeMap<String, u64>,
    /// The strict check.
    pub strict: StrictRow,
}

impl EngineRow {
    /// Adds another worker's, or another shard's, row of the same engine.
    pub fn add(&mut self, other: &EngineRow) {
        self.replays += other.replays;
        self.commands += other.commands;
        self.bytes_compared += other.bytes_compared;
        self.not_foretold += other.not_foretold;
        self.devices_lost += other.devices_lost;
        self.table.add(&other.table);
        add_counts(&mut self.tolerated, &other.tolerated);
        add_counts(&mut self.left_to_device, &other.left_to_device);
        self.strict.add(&other.strict);
    }
}

/// What `check_strict` (wire.md section 8) said against what the GPU did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StrictRow {
    /// Accepted; no error.
    pub sound: u64,
    /// Accepted; an error that only a device gives.
    pub device_only: u64,
    /// Accepted; an error over memory. A finding.
    pub missed: u64,
    /// Refused; an error at that command.
    pub right: u64,
    /// Refused; no error. A finding.
    pub over_refusal: u64,
    /// The two part, and a line of the ledger says why.
    pub ledger: u64,
    /// Nothing is shown.
    pub not_shown: u64,
    /// What a host still has to check: over streams that CheckRanges accepts, the GPU's refusals by WebGPU rule.
    pub open: BTreeMap<String, Open>,
}

/// The GPU's refusals by one rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// All of them: CheckRanges leaves them open.
    pub left_open: u64,
    /// Of these, in streams that `check_strict` refuses there or before.
    pub closed: u64,
    /// Of these, those that only a device (or wgpu's noop backend) says.
    pub device_only: u64,
}

impl StrictRow {
    /// Adds another worker's counts.
    pub fn add(&mut self, other: &StrictRow) {
        self.sound += other.sound;
        self.device_only += other.device_only;
        self.missed += other.missed;
        self.right += other.right;
        self.over_refusal += other.over_refusal;
        self.ledger += other.ledger;
        self.not_shown += other.not_shown;
        for (name, open) in &other.open {
            self.open.entry(name.clone()).or_default().add(*open);
        }
    }
}

impl Open {
    /// Adds other counts.
    pub fn add(&mut self, other: Open) {
        self.left_open += other.left_open;
        self.closed += other.closed;
        self.device_only += other.device_only;
    }
}

/// The table: what CheckRanges said against what the GPU did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuTable {
    /// Accepted; no error, and the bytes match the shadow.
    pub sound: u64,
    /// Accepted; an error over a range that section 5 covers, a lost device or other bytes. A finding.
    pub got_through: u64,
    /// Accepted; an error over something that section 5 leaves to the device.
    pub left_to_device: u64,
    /// Refused; an error at that command.
    pub right: u64,
    /// Refused; no error. A finding.
    pub over_refusal: u64,
    /// Refused; the device already refused an earlier command, so nothing is shown.
    pub masked: u64,
    /// Refused; the device was lost over it. A finding.
    pub lost: u64,
    /// Differences that a line of the ledger explains.
    pub tolerated: u64,
}

impl GpuTable {
    /// Adds other counts.
    pub fn add(&mut self, other: &GpuTable) {
        self.sound += other.sound;
        self.got_through += other.got_through;
        self.left_to_device += other.left_to_device;
        self.right += other.right;
        self.over_refusal += other.over_refusal;
        self.masked += other.masked;
        self.lost += other.lost;
        self.tolerated += other.tolerated;
    }
}

/// A recording of a program, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordingRow {
    /// The folder.
    pub folder: String,
    /// The program and its arguments.
    pub program: String,
    /// The adapter that recorded; empty where nobody knows.
    pub adapter: String,
    /// Streams.
    pub streams: u64,
    /// Calls of `queue.submit`.
    pub submits: u64,
    /// Commands of all streams.
    pub commands: u64,
    /// Words of all streams.
    pub words: u64,
    /// Bytes of data of all streams.
    pub data: u64,
    /// Bytes that the program read back.
    pub read: u64,
    /// What the streams do not carry, and how often the program did it.
    pub not_carried: BTreeMap<String, u64>,
    /// Streams that the reader under test refuses.
    pub refused: u64,
    /// Streams that the strict check refuses.
    pub strictly_refused: u64,
    /// One row an engine.
    pub engines: Vec<RecordedRow>,
}

/// Calls that no stream carries, and that a recording has beside its streams (`reference/RECORDING.md`), so that they are replayed.
const BESIDE: [&str; 3] = ["clearBuffer", "copyBufferToTexture", "copyTextureToBuffer"];

impl RecordingRow {
    /// What the streams do not carry, each in words.
    pub fn not_carried_in_words(&self) -> Vec<String> {
        let words = self
            .not_carried
            .iter()
            .map(|(name, number)| match BESIDE.contains(&name.as_str()) {
                true => format!("{name} ({}, replayed from beside them)", thousands(*number)),
                false => format!("{name} ({})", thousands(*number)),
            });
        words.collect()
    }

    /// Whether what an engine refuses is a fault. Where the reader under test refuses a stream, or the engine lacks what the program asked
    /// for, a refusal and what follows from it are none.
    pub fn refusals_count(&self, engine: &RecordedRow) -> bool {
        self.refused == 0 && engine.lacking.is_empty()
    }

    /// Whether bytes that differ are a fault: another driver rounds otherwise, and after a refusal they may be any.
    pub fn differences_count(&self, engine: &RecordedRow) -> bool {
        self.refusals_count(engine) && engine.same_driver && engine.refused.is_empty()
    }
}

/// A recording's replay on an engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedRow {
    /// Such as `wgpu:vulkan:llvmpipe`.
    pub engine: String,
    /// The driver, in its own words.
    pub driver: String,
    /// Whether it executes, so that what is read back is compared.
    pub executes: bool,
    /// Whether it drives what recorded, so that a difference is a finding.
    pub same_driver: bool,
    /// What the program asked of its device and this one lacks.
    pub lacking: Vec<String>,
    /// Streams replayed.
    pub streams: u64,
    /// Commands in them.
    pub commands: u64,
    /// What the engine refused, a line each.
    pub refused: Vec<String>,
    /// Bytes compared with what the program read.
    pub compared: u64,
    /// Reads that differ, a line each.
    pub differences: Vec<String>,
    /// Why the replay ended before the last stream.
    pub ended: Option<String>,
}

/// What a campaign's cases covered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// Named tables.
    pub grids: Vec<Grid>,
}

/// One table of counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// Such as `opcode by reason`.
    pub name: String,
    /// What the rows are.
    pub rows: Vec<String>,
    /// What the columns are.
    pub columns: Vec<String>,
    /// Counts, row by row; `None` where the pair cannot occur.
    pub cells: Vec<Vec<Option<u64>>>,
}

impl Grid {
    /// Cells that can occur.
    pub fn possible(&self) -> usize {
        self.cells.iter().flatten().flatten().count()
    }

    /// Cells that occurred.
    pub fn reached(&self) -> usize {
        self.cells
            .iter()
            .flatten()
            .flatten()
            .filter(|&&count| count > 0)
            .count()
    }

    /// The pairs that can occur and did not, as (row, column).
    pub fn missed(&self) -> Vec<(&str, &str)> {
        let mut missed = Vec::new();
        for (row, cells) in self.rows.iter().zip(&self.cells) {
            for (column, cell) in self.columns.iter().zip(cells) {
                if *cell == Some(0) {
                    missed.push((row.as_str(), column.as_str()));
                }
            }
        }
        missed
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingRow {
    /// What makes two findings one: readers, aspect, opcode or property, reasons.
    pub signature: String,
    /// One line for a person.
    pub summary: String,
    /// The case file.
    pub file: String,
    /// Why there is no case file: the case itself was printed when it was found.
    pub not_written: Option<String>,
    /// The command that shows it again.
    pub repro: String,
    /// Seconds after the campaign's start.
    pub at: f64,
    /// How often it was seen.
    pub seen: u64,
    /// What the case shows when it is run again; of the first findings of a campaign.
    pub evidence: Option<Evidence>,
}

/// A case and what readers answer to it, as `lockstep repro` shows them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The case as text. A line that begins with `>` is what was refused, or where the readers part; one that ends with
    /// `<-` is the word in it.
    pub text: String,
    /// The objects of a stream's case, one a line.
    #[serde(default)]
    pub objects: String,
    /// The readers that were asked, the one under test first; none where the text holds their answers.
    pub readers: Vec<String>,
    /// Their answers, part by part.
    pub answers: Vec<Answers>,
}

/// What each reader says of a part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// Such as `decode`.
    pub part: String,
    /// In the order of the readers.
    pub says: Vec<String>,
}

/// Of findings, how often they were seen after the first time.
pub fn repeated(findings: &[FindingRow]) -> u64 {
    findings.iter().map(|row| row.seen.saturating_sub(1)).sum()
}

/// A part that could not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotRun {
    /// Such as `replay-js`.
    pub what: String,
    /// Why not.
    pub why: String,
    /// What brings it.
    pub mend: String,
}
