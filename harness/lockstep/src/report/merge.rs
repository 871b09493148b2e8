//! Results of parts of one campaign, added: a part that went on after a part ([`Results::then`]), and shards side by side ([`merge`]).

use anyhow::ensure;

use super::figures::count;
use super::results::{Comparison, Coverage, EngineRow, FindingRow, Grid, Lane, NotRun, Results, repeated};
use crate::ledger::LedgerRow;
use crate::oracles::aspect_order;
use crate::power;

impl Results {
    /// These results, and what the same campaign did after it went on. `later.seconds` is that of both.
    pub fn then(self, later: Results) -> Results {
        Results {
            started: self.started,
            seconds: later.seconds,
            workers: later.workers,
            interrupted: later.interrupted,
            ..self.and(later)
        }
    }

    /// Both counted together. Shards ran at the same time: the seconds are those of the longer one, so that a rate is the rate of all.
    fn and(self, other: Results) -> Results {
        let findings = findings(self.findings, other.findings);
        let mut shards = self.shards;
        shards.ran.extend(other.shards.ran);
        shards.ran.sort_unstable();
        shards.ran.dedup();
        let mut msl = self.msl;
        msl.add(&other.msl);
        Results {
            format: self.format,
            version: self.version,
            commit: self.commit,
            command: self.command,
            seed: self.seed,
            shards,
            started: self.started.min(other.started),
            seconds: self.seconds.max(other.seconds),
            workers: self.workers + other.workers,
            interrupted: self.interrupted || other.interrupted,
            lanes: united(self.lanes, other.lanes, |a, b| a.name == b.name, add_lane),
            comparisons: comparisons(self.comparisons, other.comparisons),
            ledger: united(self.ledger, other.ledger, |a, b| a.name == b.name, add_line),
            msl,
            engines: engines(self.engines, other.engines),
            recordings: [self.recordings, other.recordings].concat(),
            coverage: Coverage {
                grids: grids(self.coverage.grids, other.coverage.grids),
            },
            repeated_findings: repeated(&findings),
            findings,
            not_run: united(self.not_run, other.not_run, |a, b| a == b, |_, _| {}),
            power: self.power.or(other.power),
            bench: self.bench.or(other.bench),
        }
    }
}

/// The results of a campaign's shards as those of the whole campaign; each with the name that an error calls it by. A shard that is not
/// among them stands under what did not run.
///
/// # Errors
///
/// There are none, they are not of one campaign (another version, commit, seed or command line), a shard is there twice, or their
/// detection power is not of one measuring. One line that names the file.
pub fn merge(mut parts: Vec<(String, Results)>) -> anyhow::Result<Results> {
    let powers = parts
        .iter_mut()
        .filter_map(|(name, part)| Some((format!("the detection power of {name}"), part.power.take()?)));
    let powers: Vec<_> = powers.collect();
    let mut parts = parts.into_iter();
    let Some((first, mut whole)) = parts.next() else {
        anyhow::bail!("there are no results to merge");
    };
    whole.command = whole_command(&whole);
    for (name, mut part) in parts {
        part.command = whole_command(&part);
        let same = [
            ("version", whole.version.clone(), part.version.clone()),
            ("commit", commit(&whole), commit(&part)),
            ("seed", whole.seed.to_string(), part.seed.to_string()),
            ("command", whole.command.clone(), part.command.clone()),
            (
                "number of shards",
                whole.shards.of.to_string(),
                part.shards.of.to_string(),
            ),
        ];
        for (what, one, other) in same {
            ensure!(
                one == other,
                "{name}: not of one campaign with {first}: its {what} is `{other}`, and there it is `{one}`"
            );
        }
        let twice = part.shards.ran.iter().find(|shard| whole.shards.ran.contains(shard));
        if let Some(shard) = twice {
            anyhow::bail!("{name}: shard {shard}/{} is there twice", whole.shards.of);
        }
        whole = whole.and(part);
    }
    if !powers.is_empty() {
        whole.power = Some(power::merge(powers)?);
    }
    // Of a part that was merged before.
    let of = whole.shards.of;
    whole.not_run.retain(|row| row.why != NOT_AMONG_THEM);
    let missing = (0..of).filter(|shard| !whole.shards.ran.contains(shard));
    let further = of.saturating_sub((whole.shards.ran.len() + LISTED) as u64);
    whole.not_run.extend(missing.take(LISTED).map(|shard| NotRun {
        what: format!("shard {shard}/{of}"),
        why: NOT_AMONG_THEM.into(),
        mend: format!(
            "give its results.json too; `{} --shard {shard}/{of}` makes it",
            whole.command
        ),
    }));
    if further > 0 {
        whole.not_run.push(NotRun {
            what: format!("{} of {of}", count(further, "further shard", "further shards")),
            why: NOT_AMONG_THEM.into(),
            mend: "give their results.json too".into(),
        });
    }
    Ok(whole)
}

/// Missing shards that are named one by one.
const LISTED: usize = 16;
const NOT_AMONG_THEM: &str = "its results are not among those that were merged";

/// The command line without its shard.
fn whole_command(results: &Results) -> String {
    match results.shards.ran[..] {
        [shard] => results
            .command
            .replacen(&format!(" --shard {shard}/{}", results.shards.of), "", 1),
        _ => results.command.clone(),
    }
}

fn commit(results: &Results) -> String {
    results.commit.clone().unwrap_or_else(|| "none".into())
}

/// The rows of both. Of two that are the same, the second is added to the first.
fn united<T>(rows: Vec<T>, more: Vec<T>, same: impl Fn(&T, &T) -> bool, add: impl Fn(&mut T, T)) -> Vec<T> {
    let mut rows = rows;
    for row in more {
        match rows.iter_mut().find(|known| same(known, &row)) {
            Some(known) => add(known, row),
            None => rows.push(row),
        }
    }
    rows
}

fn add_lane(lane: &mut Lane, other: Lane) {
    lane.cases += other.cases;
    lane.worker_seconds += other.worker_seconds;
}

fn add_line(line: &mut LedgerRow, other: LedgerRow) {
    line.could += other.could;
    line.occurred += other.occurred;
}

/// In the order in which a campaign lists them.
fn comparisons(rows: Vec<Comparison>, more: Vec<Comparison>) -> Vec<Comparison> {
    fn key(row: &Comparison) -> (usize, &str, &str, &str) {
        (aspect_order(&row.aspect), &row.aspect, &row.subject, &row.reference)
    }
    let mut rows = united(
        rows,
        more,
        |a, b| key(a) == key(b),
        |row, other| {
            row.compared += other.compared;
            row.both_accept += other.both_accept;
            row.both_refuse += other.both_refuse;
        },
    );
    rows.sort_by(|a, b| key(a).cmp(&key(b)));
    rows
}

/// By name, as a campaign lists them. Two drivers of one name, of shards on two machines, stay apart.
fn engines(rows: Vec<EngineRow>, more: Vec<EngineRow>) -> Vec<EngineRow> {
    let same = |a: &EngineRow, b: &EngineRow| a.engine == b.engine && a.driver == b.driver;
    let mut rows = united(rows, more, same, |row, other| row.add(&other));
    rows.sort_by(|a, b| (&a.engine, &a.driver).cmp(&(&b.engine, &b.driver)));
    rows
}

/// One row a signature, in the order in which they were found; the file is that of the one found first.
fn findings(rows: Vec<FindingRow>, more: Vec<FindingRow>) -> Vec<FindingRow> {
    let add = |row: &mut FindingRow, other: FindingRow| {
        let seen = row.seen + other.seen;
        // What is there to be looked at comes before what was found first and is not.
        if (other.not_written.is_some(), other.at) < (row.not_written.is_some(), row.at) {
            *row = other;
        }
        row.seen = seen;
    };
    let mut rows = united(rows, more, |a, b| a.signature == b.signature, add);
    rows.sort_by(|a, b| a.at.total_cmp(&b.at));
    rows
}

/// A part that ran no case may have a table without rows, which says nothing.
fn grids(grids: Vec<Grid>, more: Vec<Grid>) -> Vec<Grid> {
    let mut all = united(grids, more, |a, b| a.name == b.name, add_grid);
    all.retain(|grid| !grid.rows.is_empty());
    all
}

/// By the names of rows and columns: faults that no case was given may be no row.
fn add_grid(grid: &mut Grid, other: Grid) {
    let rows: Vec<usize> = other.rows.into_iter().map(|name| place(&mut grid.rows, name)).collect();
    let columns: Vec<usize> = other
        .columns
        .into_iter()
        .map(|name| place(&mut grid.columns, name))
        .collect();
    grid.cells.resize(grid.rows.len(), Vec::new());
    grid.cells
        .iter_mut()
        .for_each(|row| row.resize(grid.columns.len(), None));
    for (row, cells) in rows.iter().zip(other.cells) {
        for (column, count) in columns.iter().zip(cells) {
            if let Some(count) = count {
                *grid.cells[*row][*column].get_or_insert(0) += count;
            }
        }
    }
}

/// Where a name stands; one that is new stands last.
fn place(names: &mut Vec<String>, name: String) -> usize {
    names.iter().position(|known| *known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}
