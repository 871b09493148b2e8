//! `lockstep power`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};

use super::run::{commit, duration};
use super::{BAD, CLEAN, FOUND, stop_on_signals};
use crate::campaign::Budget;
use crate::power::{
    self, Fault, Hunt, NotBuilt, Outcome, POWER_FORMAT, Power, References, Row, Set, Workshop, faults, table,
};
use crate::report::results::Shards;
use crate::{files, input, say, setup};

const HELP: &str = "Examples:
  cargo lockstep power --only faults       the faults modelled on public bugs
  cargo lockstep power range-rest-wraps    one of them
  cargo lockstep power --resume            all, but what reports/out/power.json has already
  cargo lockstep power --shard 0/2 --out part-0
  cargo lockstep power --merge part-0 part-1 --out whole

Exit status: 0 every one found, 1 one missed, 2 bad use, one that does not apply or build, or a missing shard.";

/// `lockstep power`'s arguments.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// These alone; without a name all
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// One of the two sets
    #[arg(long, value_enum)]
    only: Option<Set>,
    /// The most that one campaign takes
    #[arg(long, default_value = "10s", value_parser = duration)]
    time: Duration,
    /// Instead of a time this many cases, as `run --cases` counts them: the same on a machine with other work
    #[arg(long, conflicts_with = "time")]
    cases: Option<u64>,
    /// Every case follows from it
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Campaigns at a time; a build beside them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    jobs: u8,
    /// Part I of N of the faults, I from 0
    #[arg(long, value_name = "I/N", value_parser = super::run::shard, default_value = "0/1")]
    shard: (u64, u64),
    /// Make the case of each first finding smaller, for so long at most
    #[arg(long, value_name = "TIME", value_parser = duration)]
    minimize: Option<Duration>,
    /// Take over what the folder's power.json found of the same changes, and measure the rest
    #[arg(long)]
    resume: bool,
    /// Measure nothing, and add what the shards measured: their power.json, or the folders in which it is
    #[arg(long, value_name = "RESULTS", num_args = 1.., conflicts_with_all = ["names", "only", "time", "cases", "seed", "jobs", "shard", "minimize", "resume", "list"])]
    merge: Vec<PathBuf>,
    /// List the faults and run nothing
    #[arg(long)]
    list: bool,
    /// Print power.json in place of the table
    #[arg(long)]
    json: bool,
    /// Where power.json and the cases that show the faults go
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Measures, and writes `power.json`.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    if !args.merge.is_empty() {
        return merge(args);
    }
    let root = setup::repository_root()?;
    let reasons = faults::reasons(&root)?;
    let (all, stale) = wanted(args, &root, &reasons)?;
    if args.list {
        let list: String = all.iter().map(listed).collect();
        say::out(say::printable(&list).as_bytes())?;
        return Ok(CLEAN);
    }
    let out = args.out.clone().unwrap_or_else(|| root.join("reports/out"));
    let path = out.join(power::NAME);
    let mut power = Power {
        format: POWER_FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        commits: commit().into_iter().collect(),
        shards: Shards {
            of: args.shard.1,
            ran: vec![args.shard.0],
        },
        seed: args.seed,
        seconds_each: args.cases.is_none().then_some(args.time.as_secs_f64()),
        cases_each: args.cases,
        interrupted: false,
        selected: !args.names.is_empty(),
        rows: Vec::new(),
        stale,
    };
    let (before, others) = take_over(args, &mut power, &path, &all)?;
    let before = |fault: &Fault| before.iter().find(|row| is_of(row, fault)).cloned();
    let parts = setup::bring(&mut |line| say::line(line));
    let deno = parts.deno.map_err(|missing| anyhow!("{missing}"))?;
    let to_do = all.iter().enumerate().filter(|(_, fault)| before(fault).is_none());
    let measure = Measure {
        queue: Mutex::new(to_do.collect()),
        rows: Mutex::new(all.iter().map(before).collect()),
        stop: stop_on_signals("lockstep: ending; what was measured follows. Once more ends at once."),
        reasons: &reasons,
        power,
        others,
        path,
    };
    let folder = root.join(".lockstep/power");
    let references = References::new(&root, &deno);
    let job = &|job: u8| {
        let folder = folder.join(format!("job-{job}"));
        let hunt = Hunt {
            references: references.clone(),
            engine: "wgpu:noop".into(),
            seed: args.seed,
            budget: args.cases.map_or(Budget::Time(args.time), Budget::Cases),
            minimize: args.minimize,
            findings: folder.join("findings"),
        };
        if !folder.exists() {
            say::line("building what the faults go into; the first time that takes a minute or two");
        }
        let workshop = Workshop::new(&root, &folder)?;
        measure.work(&workshop, &hunt, &out.join("power"))
    };
    let done: anyhow::Result<Vec<()>> = std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..args.jobs).map(|number| scope.spawn(move || job(number))).collect();
        let panicked = || Err(anyhow!("a job panicked; its message is above"));
        jobs.into_iter()
            .map(|job| job.join().unwrap_or_else(|_| panicked()))
            .collect()
    });
    let (measured, whole) = measure.write()?;
    done?;
    show(args, if args.json { &whole } else { &measured })?;
    Ok(status(&measured))
}

fn show(args: &Args, power: &Power) -> anyhow::Result<()> {
    match args.json {
        true => say::out((serde_json::to_string_pretty(power)? + "\n").as_bytes()),
        false => say::out(say::printable(&table::text(power, width())).as_bytes()),
    }
}

/// The terminal's columns; of a pipe or a file what a wide one has.
fn width() -> u16 {
    console::Term::stdout()
        .size_checked()
        .map_or(160, |(_, columns)| columns)
}

/// `--merge`.
fn merge(args: &Args) -> anyhow::Result<u8> {
    let part = |path: &PathBuf| {
        let path = if path.is_dir() {
            path.join(power::NAME)
        } else {
            path.clone()
        };
        let name = path.display().to_string();
        let power = power::read(&path)?.with_context(|| format!("{name}: no such file"))?;
        Ok((name, power))
    };
    let parts: anyhow::Result<Vec<_>> = args.merge.iter().map(part).collect();
    let power = power::merge(parts?)?;
    if let Some(out) = &args.out {
        write(&out.join(power::NAME), &power)?;
    }
    show(args, &power)?;
    Ok(match power.lacks_shards() {
        false => status(&power),
        true => BAD,
    })
}

fn write(path: &Path, power: &Power) -> anyhow::Result<()> {
    files::write(path, &(serde_json::to_string_pretty(power)? + "\n"))
}

/// Of the folder's `power.json`, the rows that `--resume` need not measure again, and apart from those what it holds of others than `all`,
/// which are asked for: that is not lost.
///
/// # Errors
///
/// What is to be kept cannot be read, or was measured otherwise: one table would say of both what is so of one.
fn take_over(args: &Args, power: &mut Power, path: &Path, all: &[Fault]) -> anyhow::Result<(Vec<Row>, Option<Power>)> {
    let name = path.display();
    let before = power::read(path).map_err(|error| anyhow!("{error:#}; move it away, or give another --out"))?;
    let Some(mut before) = before else {
        return Ok((Vec::new(), None));
    };
    let has = |fault: &Fault| before.rows.iter().any(|row| row.name == fault.name);
    before.selected |= power.selected && !all.iter().all(has);
    let is_measured = |name: &str| all.iter().any(|fault| fault.name == name);
    let is_other =
        |row: &Row| args.only.is_some_and(|only| row.set != only) || power.selected && !is_measured(&row.name);
    let stands = |row: &Row| args.resume && matches!(row.outcome, Outcome::Found(_) | Outcome::Unviable);
    let rows = std::mem::take(&mut before.rows);
    let (others, rows): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(is_other);
    let standing: Vec<Row> = rows.into_iter().filter(stands).collect();
    if others.is_empty() && standing.is_empty() {
        return Ok((standing, None));
    }
    let how = |power: &Power| (power.shards.clone(), power.seed, power.seconds_each, power.cases_each);
    ensure!(
        how(&before) == how(power),
        "{name}: it was measured with another --seed, --time, --cases or --shard; give the same, or another --out"
    );
    let here = std::mem::take(&mut power.commits);
    power.commits.clone_from(&before.commits);
    power.commits.retain(|commit| !here.contains(commit));
    power.commits.extend(here);
    // Who measures mutants alone says anew which entries are stale.
    let keeps_stale = power.selected || args.only == Some(Set::Faults);
    let is_new = |stale: &str| all.iter().any(|fault| stale.starts_with(&format!("{}: ", fault.name)));
    before.stale.retain(|stale| keeps_stale && !is_new(stale));
    before.rows = others;
    let others = (!before.rows.is_empty()).then_some(before);
    Ok((standing, others))
}

/// Whether a row is of this very change.
fn is_of(row: &Row, fault: &Fault) -> bool {
    row.name == fault.name && row.change == fault.change()
}

fn listed(fault: &Fault) -> String {
    match fault.set {
        Set::Faults => format!(
            "{}\n    {}: {} ({})\n",
            fault.name, fault.area, fault.what, fault.source
        ),
        Set::Mutants => format!("{}\n", fault.name),
    }
}

fn status(power: &Power) -> u8 {
    let any = |is: fn(&Outcome) -> bool| power.rows.iter().any(|row| is(&row.outcome));
    if any(|outcome| matches!(outcome, Outcome::Broken { .. })) || power.rows.is_empty() || power.interrupted {
        BAD
    } else if any(|outcome| matches!(outcome, Outcome::Missed)) || !power.stale.is_empty() {
        FOUND
    } else {
        CLEAN
    }
}

/// The faults that the arguments ask for, and the stale names of a whole list, of which a shard measures a part.
fn wanted(args: &Args, root: &Path, reasons: &BTreeMap<String, String>) -> anyhow::Result<(Vec<Fault>, Vec<String>)> {
    let mut all = Vec::new();
    if args.only != Some(Set::Mutants) {
        all.extend(faults::patches(root)?);
    }
    let known: BTreeSet<&String> = all.iter().map(|fault| &fault.name).collect();
    let has_all = !args.names.is_empty() && args.names.iter().all(|name| known.contains(name));
    if args.only != Some(Set::Faults) && !has_all {
        all.extend(faults::mutants(root, reasons)?);
    }
    if let Some(name) = args
        .names
        .iter()
        .find(|name| all.iter().all(|fault| fault.name != **name))
    {
        anyhow::bail!("there is no fault `{name}`; `cargo lockstep power --list` lists them");
    }
    let has_mutants = args.names.is_empty() && args.only != Some(Set::Faults);
    let stale = if has_mutants {
        stale_names(&all, reasons)
    } else {
        Vec::new()
    };
    all.retain(|fault| args.names.is_empty() || args.names.contains(&fault.name));
    let (part, of) = args.shard;
    let of_shard = (0u64..).zip(all).filter(|(at, _)| at % of.max(1) == part);
    Ok((of_shard.map(|(_, fault)| fault).collect(), stale))
}

/// The reasons that are about none of all mutants.
fn stale_names(all: &[Fault], reasons: &BTreeMap<String, String>) -> Vec<String> {
    let gone = reasons
        .keys()
        .filter(|name| all.iter().all(|fault| fault.name != **name));
    gone.map(|name| format!("{name}: {} lists it, and there is no such mutant", faults::UNCHANGED))
        .collect()
}

/// What the jobs share.
struct Measure<'a> {
    queue: Mutex<VecDeque<(usize, &'a Fault)>>,
    rows: Mutex<Vec<Option<Row>>>,
    stop: std::sync::Arc<AtomicBool>,
    path: PathBuf,
    reasons: &'a BTreeMap<String, String>,
    /// What is measured, but for the rows.
    power: Power,
    /// What the file has beside that.
    others: Option<Power>,
}

impl Measure<'_> {
    /// Takes faults until there is none left.
    fn work(&self, workshop: &Workshop, hunt: &Hunt, cases: &Path) -> anyhow::Result<()> {
        loop {
            let next = lock(&self.queue).pop_front();
            let Some((at, fault)) = next.filter(|_| !self.stop.load(Ordering::Relaxed)) else {
                return Ok(());
            };
            let outcome = measure(workshop, hunt, fault, &self.stop);
            // What was ended by a signal was not measured.
            if self.stop.load(Ordering::Relaxed) && !matches!(outcome, Outcome::Found(_)) {
                return Ok(());
            }
            keep_case(
                hunt,
                &outcome,
                &cases.join(format!("{}.json", files::slug(&fault.name))),
            )?;
            let row = Row::of(fault, outcome);
            say::line(line(&row));
            lock(&self.rows)[at] = Some(row);
            self.write()?;
        }
    }

    /// Writes what there is so far. Gives what was measured, and all that the file has.
    fn write(&self) -> anyhow::Result<(Power, Power)> {
        let held = lock(&self.rows);
        let rows: Vec<Row> = held.iter().flatten().cloned().collect();
        let found = rows.iter().filter(|row| matches!(row.outcome, Outcome::Found(_)));
        let stale = found.filter(|row| self.reasons.contains_key(&row.name));
        let stale = stale.map(|row| format!("{}: {} lists it, and it was found", row.name, faults::UNCHANGED));
        let measured = Power {
            interrupted: self.stop.load(Ordering::Relaxed),
            stale: self.power.stale.iter().cloned().chain(stale).collect(),
            rows,
            ..self.power.clone()
        };
        let mut whole = measured.clone();
        if let Some(others) = self.others.clone() {
            whole.interrupted |= others.interrupted;
            whole.selected = others.selected;
            whole.stale.extend(others.stale);
            whole.rows.splice(..0, others.rows);
        }
        write(&self.path, &whole)?;
        Ok((measured, whole))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the faulty program and hunts it.
fn measure(workshop: &Workshop, hunt: &Hunt, fault: &Fault, stop: &AtomicBool) -> Outcome {
    let program = match workshop.build_with(fault) {
        Ok(program) => program,
        Err(NotBuilt::Builds(_)) if fault.set == Set::Mutants => return Outcome::Unviable,
        Err(NotBuilt::Applies(why) | NotBuilt::Builds(why)) => return Outcome::Broken { why },
    };
    match (hunt.run(&program, stop), &fault.reason) {
        (Outcome::Missed, Some(why)) => Outcome::Listed { why: why.clone() },
        (outcome, _) => outcome,
    }
}

/// The case of the first finding, by the fault's name.
fn keep_case(hunt: &Hunt, outcome: &Outcome, to: &Path) -> anyhow::Result<()> {
    let Outcome::Found(found) = outcome else { return Ok(()) };
    for path in files::find(&hunt.findings, "json")? {
        let text = input::text(&path, crate::findings::MAX_CASE_FILE)?;
        let case = crate::findings::parse_case(&path.display().to_string(), text.as_bytes())?;
        if case.signature.as_ref() == Some(&found.signature) {
            files::write(to, &text)?;
        }
    }
    Ok(())
}

fn line(row: &Row) -> String {
    let after = row
        .seconds()
        .map(|seconds| format!(" after {}", table::milliseconds(seconds)));
    say::one_line(&format!(
        "{}{}: {}",
        row.name,
        after.unwrap_or_default(),
        table::said(&row.outcome)
    ))
    .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_is_about_no_mutant_is_stale() {
        let reasons = BTreeMap::from(["gone", "there"].map(|name| (name.to_owned(), "why".to_owned())));
        let there = Fault {
            name: "there".into(),
            set: Set::Mutants,
            area: String::new(),
            source: String::new(),
            what: String::new(),
            patch: String::new(),
            reason: None,
        };
        assert_eq!(
            stale_names(&[there], &reasons),
            ["gone: harness/power/unchanged.json lists it, and there is no such mutant"]
        );
    }
}
