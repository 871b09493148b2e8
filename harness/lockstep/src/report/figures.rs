//! Numbers and texts as a person reads them, alike in the terminal and on the page.

use std::collections::BTreeMap;

use super::results::{EngineRow, Open, Results, StrictRow};
use crate::say::one_line;

/// `1234567` as `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number and its noun: `1 case`, `1,200 cases`.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

/// How many of a whole, in whole percents, cut off rather than rounded: 100 % is said of all alone, 0 % of none alone.
pub fn percent(part: u64, whole: u64) -> String {
    match part.saturating_mul(100).checked_div(whole) {
        None => "none possible".to_owned(),
        Some(0) if part > 0 => "under 1 %".to_owned(),
        Some(percent) => format!("{percent} %"),
    }
}

/// So many a second; `None` where no time passed.
pub fn rate(number: u64, seconds: f64) -> Option<String> {
    let rate = number as f64 / seconds;
    if !rate.is_finite() {
        return None;
    }
    Some(if rate < 100.0 {
        format!("{rate:.1}")
    } else {
        thousands(rate.round() as u64)
    })
}

/// A time span: `12.5 s`, `3 min 20 s`, `7 h 5 min`.
pub fn span(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..120 => format!("{seconds:.1} s"),
        120..7200 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", thousands(whole / 3600), whole % 3600 / 60),
    }
}

/// Seconds since the Unix epoch as `2026-01-31 08:05 UTC` (days to a civil date by the era method).
pub fn date(epoch: u64) -> String {
    let days = epoch / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02} UTC",
        epoch / 3600 % 24,
        epoch / 60 % 60
    )
}

/// A text in one line that shows as it is written, so that a name out of a stream can neither steer a terminal nor look like another.
pub fn plain(text: &str) -> String {
    one_line(text).into_owned()
}

/// Counts by name, the largest first, equal ones by name.
pub fn by_count(counts: &BTreeMap<String, u64>) -> Vec<(&str, u64)> {
    let mut list: Vec<_> = counts.iter().map(|(name, &count)| (name.as_str(), count)).collect();
    list.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    list
}

/// What a host still has to check, summed over the engines: the rule that CheckRanges left open most often first.
pub fn open_rules(engines: &[EngineRow]) -> Vec<(String, Open)> {
    let mut all = StrictRow::default();
    engines.iter().for_each(|engine| all.add(&engine.strict));
    let mut rules: Vec<_> = all.open.into_iter().collect();
    rules.sort_by_key(|(_, open)| std::cmp::Reverse(open.left_open));
    rules
}

/// Whether the strict check answered: a subject in the place of the crates may have none.
pub fn answered_strictly(engines: &[EngineRow]) -> bool {
    engines.iter().any(|engine| engine.strict != StrictRow::default())
}

/// How a verdict looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Nothing was found, and something ran.
    Good,
    /// Nothing was found, and nothing ran.
    Caution,
    /// Something was found.
    Bad,
}

/// The verdict in one line, and what a reader has to know beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How it looks.
    pub tone: Tone,
    /// Such as `2 findings`.
    pub headline: String,
    /// Such as `interrupted` and `1 part did not run`.
    pub beside: Vec<String>,
}

/// What a campaign comes to.
pub fn verdict(results: &Results) -> Verdict {
    let findings = results.findings.len() as u64;
    let (tone, headline) = match (findings, cases(results)) {
        (0, 0) => (Tone::Caution, "no case ran, so nothing is shown".to_owned()),
        (0, _) => (Tone::Good, "no findings".to_owned()),
        _ => (Tone::Bad, count(findings, "finding", "findings")),
    };
    let mut beside = Vec::new();
    let is_one_shard = results.shards.of > 1 && results.shards.ran.len() == 1;
    if is_one_shard && cases(results) == 0 && !results.interrupted {
        beside.push("a campaign this short has no round for this shard".to_owned());
    }
    if results.repeated_findings > 0 {
        beside.push(format!(
            "seen again {}",
            count(results.repeated_findings, "time", "times")
        ));
    }
    if results.interrupted {
        beside.push("interrupted before its end".to_owned());
    }
    if !results.not_run.is_empty() {
        beside.push(format!(
            "{} did not run",
            count(results.not_run.len() as u64, "part", "parts")
        ));
    }
    Verdict { tone, headline, beside }
}

/// Whether the campaign was to run cases of one of these kinds: what it was not asked for is no gap.
pub fn asked(results: &Results, kinds: &[&str]) -> bool {
    results.lanes.iter().any(|lane| kinds.contains(&lane.name.as_str()))
}

/// Cases of all lanes.
pub fn cases(results: &Results) -> u64 {
    results.lanes.iter().map(|lane| lane.cases).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(999), "999");
        assert_eq!(percent(199, 200), "99 %");
        assert_eq!(percent(1, 200), "under 1 %");
        assert_eq!(percent(0, 0), "none possible");
        assert_eq!(rate(5, 0.0), None);
        assert_eq!(date(1_709_210_096), "2024-02-29 12:34 UTC");
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(span(199.6), "3 min 20 s");
        assert_eq!(plain("a\u{1b}[2J\n\u{202e}b"), "a\\u{1b}[2J\\n\\u{202e}b");
    }
}
