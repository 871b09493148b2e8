//! `lockstep power`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::anyhow;

use super::run::duration;
use super::{BAD, CLEAN, FOUND, stop_on_signals};
use crate::campaign::Budget;
use crate::power::{
    self, Fault, Hunt, NotBuilt, Outcome, POWER_FORMAT, Power, References, Row, Set, Workshop, faults, table,
};
use crate::{files, input, say, setup};

const HELP: &str = "Examples:
  cargo lockstep power --only faults       the faults modelled on public bugs
  cargo lockstep power range-rest-wraps    one of them
  cargo lockstep power --resume            all, but what reports/out/power.json has already

Exit status: 0 every one found, 1 one missed, 2 bad use, or one that does not apply or build.";

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
    /// Take over what the folder's power.json found, and measure the rest
    #[arg(long)]
    resume: bool,
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
    let root = setup::repository_root()?;
    let reasons = faults::reasons(&root)?;
    let all = wanted(args, &root, &reasons)?;
    if args.list {
        say::out(all.iter().map(listed).collect::<String>().as_bytes())?;
        return Ok(CLEAN);
    }
    let parts = setup::bring(&mut |line| say::line(line));
    let deno = parts.deno.map_err(|missing| anyhow!("{missing}"))?;
    let out = args.out.clone().unwrap_or_else(|| root.join("reports/out"));
    let path = out.join("power.json");
    let before = if args.resume {
        found_before(&path)?
    } else {
        BTreeMap::new()
    };
    let is_measured = |row: &Row| all.iter().any(|fault| fault.name == row.name);
    // What was measured before of others than those that are asked for is not lost.
    let is_other =
        |row: &Row| args.only.is_some_and(|only| row.set != only) || !args.names.is_empty() && !is_measured(row);
    let others = power::read(&path)?.map_or(Vec::new(), |before| before.rows);
    let to_do = all
        .iter()
        .enumerate()
        .filter(|(_, fault)| !before.contains_key(&fault.name));
    let measure = Measure {
        queue: Mutex::new(to_do.collect()),
        rows: Mutex::new(all.iter().map(|fault| before.get(&fault.name).cloned()).collect()),
        stop: stop_on_signals("lockstep: ending; what was measured follows. Once more ends at once."),
        reasons: &reasons,
        power: Power {
            format: POWER_FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            seed: args.seed,
            seconds_each: args.cases.is_none().then_some(args.time.as_secs_f64()),
            cases_each: args.cases,
            interrupted: false,
            rows: others.into_iter().filter(is_other).collect(),
            stale: stale_names(args, &all, &reasons),
        },
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
    let power = measure.write()?;
    done?;
    let rows = power.rows.iter().filter(|row| is_measured(row)).cloned().collect();
    let measured = Power { rows, ..power.clone() };
    match args.json {
        true => say::out((serde_json::to_string_pretty(&power)? + "\n").as_bytes())?,
        false => say::out(table::text(&measured).as_bytes())?,
    }
    Ok(status(&measured))
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

/// The faults that the arguments ask for.
fn wanted(args: &Args, root: &Path, reasons: &BTreeMap<String, String>) -> anyhow::Result<Vec<Fault>> {
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
    all.retain(|fault| args.names.is_empty() || args.names.contains(&fault.name));
    let (part, of) = args.shard;
    let of_shard = (0u64..).zip(all).filter(|(at, _)| at % of.max(1) == part);
    Ok(of_shard.map(|(_, fault)| fault).collect())
}

/// Of a whole list, the reasons that are about no mutant.
fn stale_names(args: &Args, all: &[Fault], reasons: &BTreeMap<String, String>) -> Vec<String> {
    let whole = args.names.is_empty() && args.only != Some(Set::Faults) && args.shard.1 == 1;
    let gone = reasons
        .keys()
        .filter(|name| whole && all.iter().all(|fault| fault.name != **name));
    gone.map(|name| format!("{name}: {} lists it, and there is no such mutant", faults::UNCHANGED))
        .collect()
}

/// The rows of an earlier run that stand.
fn found_before(path: &Path) -> anyhow::Result<BTreeMap<String, Row>> {
    let before = power::read(path)?.map_or(Vec::new(), |before| before.rows);
    let stands = |row: &Row| matches!(row.outcome, Outcome::Found(_) | Outcome::Unviable);
    let standing = before.into_iter().filter(stands);
    Ok(standing.map(|row| (row.name.clone(), row)).collect())
}

/// What the jobs share.
struct Measure<'a> {
    queue: Mutex<VecDeque<(usize, &'a Fault)>>,
    rows: Mutex<Vec<Option<Row>>>,
    stop: std::sync::Arc<AtomicBool>,
    path: PathBuf,
    reasons: &'a BTreeMap<String, String>,
    /// What is written but for the rows; its own are those of faults that are not measured.
    power: Power,
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

    /// Writes what there is so far.
    fn write(&self) -> anyhow::Result<Power> {
        let rows = lock(&self.rows);
        let measured: Vec<Row> = rows.iter().flatten().cloned().collect();
        let found = measured.iter().filter(|row| matches!(row.outcome, Outcome::Found(_)));
        let stale = found.filter(|row| self.reasons.contains_key(&row.name));
        let stale = stale.map(|row| format!("{}: {} lists it, and it was found", row.name, faults::UNCHANGED));
        let power = Power {
            interrupted: self.stop.load(Ordering::Relaxed),
            stale: self.power.stale.iter().cloned().chain(stale).collect(),
            rows: self.power.rows.iter().cloned().chain(measured).collect(),
            ..self.power.clone()
        };
        files::write(&self.path, &(serde_json::to_string_pretty(&power)? + "\n"))?;
        Ok(power)
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
    let outcome = match &row.outcome {
        Outcome::Found(found) => format!("found, {:.0} ms: {}", 1000.0 * found.seconds, found.signature),
        Outcome::Missed => "MISSED".into(),
        Outcome::Listed { why } => format!("listed: {why}"),
        Outcome::Unviable => "does not build".into(),
        Outcome::Broken { why } => format!("BROKEN: {why}"),
    };
    say::one_line(&format!("{}: {outcome}", row.name)).into_owned()
}
