//! The ledger of known divergences from wgpu-hal's own functions: `reference/LEDGER.md` has each line's condition, reason, versions and
//! source; here are its names and counts. Where a line's condition holds, its difference must occur: a difference that no line has is a
//! finding, and so is a line that could have occurred in a case and did not.
//!
//! What engines do otherwise is tolerated, not expected, and stands elsewhere: [`crate::gpu::ledger`], [`crate::oracles::strict::LEDGER`].

use serde::{Deserialize, Serialize};

/// The page.
const PAGE: &str = include_str!("../../../reference/LEDGER.md");

/// A line of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// A slot over 255.
    SlotTruncated,
    /// A sizes slot over 255.
    SizesSlotTruncated,
    /// A binding number twice in a group.
    DuplicateBinding,
    /// More than 8 groups.
    TooManyGroups,
    /// No pulled vertices and no storage buffer, in the vertex stage.
    VertexSizesSlot,
    /// A binding array or an external texture, by the plain constructor.
    BeyondThePlainRule,
    /// A resource that the task or the mesh stage sees, at a draw.
    TaskMeshMisread,
    /// Immediates, at a draw.
    ImmediatesLength,
}

impl Line {
    /// Every line.
    pub const ALL: [Line; 8] = [
        Line::SlotTruncated,
        Line::SizesSlotTruncated,
        Line::DuplicateBinding,
        Line::TooManyGroups,
        Line::VertexSizesSlot,
        Line::BeyondThePlainRule,
        Line::TaskMeshMisread,
        Line::ImmediatesLength,
    ];

    /// Its name on the page.
    pub fn name(self) -> &'static str {
        match self {
            Line::SlotTruncated => "slot-truncated",
            Line::SizesSlotTruncated => "sizes-slot-truncated",
            Line::DuplicateBinding => "duplicate-binding",
            Line::TooManyGroups => "too-many-groups",
            Line::VertexSizesSlot => "vertex-sizes-slot",
            Line::BeyondThePlainRule => "beyond-the-plain-rule",
            Line::TaskMeshMisread => "task-mesh-misread",
            Line::ImmediatesLength => "immediates-length",
        }
    }

    /// Its reason on the page.
    pub fn reason(self) -> &'static str {
        let marked = format!("| `{}` |", self.name());
        let row = PAGE.lines().find(|line| line.starts_with(&marked));
        row.and_then(|row| row.split('|').nth(3)).map_or("", str::trim)
    }
}

/// How often each line's condition held, and how often its difference was there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hits([[u64; 2]; Line::ALL.len()]);

impl Hits {
    /// The condition held, and the difference was there or was not.
    pub fn count(&mut self, line: Line, there: bool) {
        let row = &mut self.0[line as usize];
        row[0] += 1;
        row[1] += u64::from(there);
    }

    /// A line's counts: its condition held, its difference was there.
    pub fn of(&self, line: Line) -> [u64; 2] {
        self.0[line as usize]
    }

    /// Adds another's counts.
    pub fn add(&mut self, other: &Hits) {
        let rows = self.0.iter_mut().flatten().zip(other.0.as_flattened());
        rows.for_each(|(sum, count)| *sum += count);
    }

    /// A row a line, for a report.
    pub fn rows(&self) -> Vec<LedgerRow> {
        let rows = Line::ALL.iter().zip(&self.0);
        let row = |(line, counts): (&Line, &[u64; 2])| LedgerRow {
            name: line.name().into(),
            reason: line.reason().into(),
            could: counts[0],
            occurred: counts[1],
        };
        rows.map(row).collect()
    }
}

/// A line of the ledger in a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerRow {
    /// Its name on the page.
    pub name: String,
    /// Why the two differ.
    pub reason: String,
    /// How often its condition held.
    pub could: u64,
    /// How often its difference was there.
    pub occurred: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_and_the_lines_have_the_same_names() {
        let names: Vec<&str> = PAGE
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, Line::ALL.map(Line::name));
        for line in Line::ALL {
            assert!(line.reason().len() > 20, "{}: {}", line.name(), line.reason());
        }
    }
}
