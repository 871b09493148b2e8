//! Shards' results as those of all the faults.

use anyhow::{bail, ensure};

use super::{Power, Set};

/// What `power --shard` measured, side by side, each with the name that an error calls it by. Where a shard is not among them,
/// [`Power::shards`] lacks it. Two that are the same are one: the results of a campaign's shards may carry the same power.
///
/// # Errors
///
/// There is none, one is of another version, commit, seed, budget or set of faults than the first, or a shard is there twice. One line
/// that names the file.
pub fn merge(parts: Vec<(String, Power)>) -> anyhow::Result<Power> {
    let mut parts = parts.into_iter();
    let Some((first, mut whole)) = parts.next() else {
        bail!("there is no detection power to merge");
    };
    let mut taken = vec![whole.clone()];
    for (name, part) in parts {
        if taken.contains(&part) {
            continue;
        }
        for (&(what, ref one), (_, other)) in same(&whole).iter().zip(same(&part)) {
            // What was cut short may have come to one set alone, and a shard of few faults to none.
            let may_lack = [&whole, &part].iter().any(|it| it.interrupted || it.rows.is_empty());
            ensure!(
                *one == other || what == SETS && may_lack,
                "{name}: not measured together with {first}: its {what} is `{other}`, and there it is `{one}`"
            );
        }
        if let Some(shard) = part.shards.ran.iter().find(|shard| whole.shards.ran.contains(shard)) {
            bail!("{name}: shard {shard}/{} is there twice", whole.shards.of);
        }
        let twice = part
            .rows
            .iter()
            .find(|row| whole.rows.iter().any(|other| other.name == row.name));
        if let Some(row) = twice {
            bail!("{name}: `{}` is there and in another shard", row.name);
        }
        whole.shards.ran.extend(&part.shards.ran);
        whole.interrupted |= part.interrupted;
        whole.selected |= part.selected;
        whole.rows.extend(part.rows.iter().cloned());
        // Each shard says which names are of no mutant at all.
        let stale = part.stale.iter().filter(|stale| !whole.stale.contains(stale));
        whole.stale.extend(stale.cloned().collect::<Vec<_>>());
        taken.push(part);
    }
    whole.shards.ran.sort_unstable();
    if taken.len() > 1 {
        whole.rows.sort_by(|a, b| (a.set, &a.name).cmp(&(b.set, &b.name)));
    }
    Ok(whole)
}

const SETS: &str = "set of faults";

/// What shards of one measuring have in common.
fn same(power: &Power) -> [(&'static str, String); 6] {
    let sets = [(Set::Faults, "faults"), (Set::Mutants, "mutants")].into_iter();
    let has = |set: Set| power.rows.iter().any(|row| row.set == set);
    let sets = sets.filter(|&(set, _)| has(set)).map(|(_, name)| name);
    let budget = match (power.cases_each, power.seconds_each) {
        (Some(cases), _) => format!("{cases} cases"),
        (None, seconds) => format!("{} s", seconds.unwrap_or_default()),
    };
    [
        ("version", power.version.clone()),
        ("commit", power.commits.join(", ")),
        ("seed", power.seed.to_string()),
        ("budget", budget),
        ("number of shards", power.shards.of.to_string()),
        (SETS, sets.collect::<Vec<_>>().join(" and ")),
    ]
}
