//! The results of a run, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::parallel::{Mode, Shown};

/// The results of a run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) stores: Vec<StoreReport>,
    /// The results of several implementations in a directory.
    pub(crate) peers: Vec<PeerReport>,
}

/// Results of one store.
#[derive(Debug, Default, Serialize)]
pub(crate) struct StoreReport {
    pub(crate) store: String,
    pub(crate) kills: usize,
    pub(crate) rounds: usize,
    pub(crate) interrupted: BTreeMap<String, usize>,
    /// The number of faults of each kind, as text.
    pub(crate) found: String,
    pub(crate) faults: Vec<String>,
    pub(crate) cells: Vec<Cell>,
}

/// The outcome of the work of four writers.
#[derive(Debug, Serialize)]
pub(crate) struct Cell {
    pub(crate) work: String,
    pub(crate) mode: &'static str,
    /// True if processes were killed in the meantime.
    pub(crate) killed: bool,
    pub(crate) kills: usize,
    pub(crate) lost: usize,
    pub(crate) problems: Vec<String>,
}

/// Results of one implementation in a directory.
#[derive(Debug, Serialize)]
pub(crate) struct PeerReport {
    pub(crate) name: String,
    /// A number, or the reason why there is none, for each kind of work.
    pub(crate) results: Vec<(String, String)>,
}

impl Cell {
    pub(crate) fn new(work: &str, mode: Mode, killed: bool, shown: Shown) -> Self {
        let Shown { lost, kills, problems } = shown;
        Self { work: work.to_owned(), mode: mode.name(), killed, kills, lost, problems }
    }

    fn is_faulty(&self) -> bool {
        self.lost > 0 || !self.problems.is_empty()
    }
}

impl StoreReport {
    /// Returns the results in a few lines.
    pub(crate) fn summary(&self) -> String {
        let mut text = format!("{}: {} kills in {} rounds: ", self.store, self.kills, self.rounds);
        let interrupted: Vec<String> =
            self.interrupted.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let _ = write!(text, "{}", interrupted.join(", "));
        for fault in &self.faults {
            let _ = write!(text, "\n  FAULT {fault}");
        }
        for cell in self.cells.iter().filter(|cell| cell.is_faulty()) {
            let Cell { work, mode, killed, lost, problems, .. } = cell;
            let with = if *killed { " with kills" } else { "" };
            let first: Vec<&str> = problems.iter().map(String::as_str).take(3).collect();
            let _ = write!(text, "\n  FAULT {work}, {mode}{with}: {lost} lost; {}", first.join("; "));
        }
        let kills: usize = self.cells.iter().map(|cell| cell.kills).sum();
        let _ = write!(text, "\n  {} times four writers, {kills} kills", self.cells.len());
        text
    }

    fn faults(&self) -> usize {
        self.faults.len() + self.cells.iter().filter(|cell| cell.is_faulty()).count()
    }

    /// Returns the losses without kills, and with kills.
    fn lost(&self, works: &[&str], mode: &str) -> String {
        let is_meant = |cell: &&Cell, killed: bool| {
            works.contains(&cell.work.as_str()) && cell.mode == mode && cell.killed == killed
        };
        if self.cells.is_empty() {
            return "not run".to_owned();
        }
        if !self.cells.iter().any(|cell| is_meant(&cell, false)) {
            return "one writer".to_owned();
        }
        let sum = |killed: bool| -> usize {
            let cells = self.cells.iter().filter(|cell| is_meant(cell, killed));
            cells.map(|cell| if cell.lost == 0 { cell.problems.len() } else { cell.lost }).sum()
        };
        format!("{}, {}", sum(false), sum(true))
    }
}

impl Report {
    pub(crate) fn faults(&self) -> usize {
        self.stores.iter().map(StoreReport::faults).sum()
    }

    /// Returns the tables of all stores and of all implementations.
    pub(crate) fn table(&self) -> String {
        let mut text = String::from(
            "| store | kills | faults | elements lost: threads | processes | both | rows lost | attributes lost | nodes lost |\n\
             |---|---|---|---|---|---|---|---|---|\n",
        );
        for store in &self.stores {
            let last =
                if store.cells.iter().any(|cell| cell.mode == "processes") { "processes" } else { "threads" };
            let elements = Mode::ALL.map(|mode| store.lost(&["chunks", "shards"], mode.name())).join(" | ");
            let others = ["appends", "attributes", "nodes"].map(|work| store.lost(&[work], last)).join(" | ");
            let StoreReport { store, kills, found, .. } = store;
            let _ = writeln!(text, "| {store} | {kills} | {found} | {elements} | {others} |");
        }
        if let Some(first) = self.peers.first() {
            let names: Vec<&str> = self.peers.iter().map(|peer| peer.name.as_str()).collect();
            let _ = writeln!(text, "\n| in a directory | {} |", names.join(" | "));
            let _ = writeln!(text, "|---|{}", "---|".repeat(self.peers.len()));
            for (row, (work, _)) in first.results.iter().enumerate() {
                let results: Vec<&str> = self.peers.iter().map(|peer| peer.results[row].1.as_str()).collect();
                let _ = writeln!(text, "| {work} | {} |", results.join(" | "));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_what_was_lost() {
        let shown = |lost| Shown { lost, kills: 1, problems: Vec::new() };
        let cells = [("chunks", false, 3), ("shards", false, 4), ("chunks", true, 0)];
        let cells = cells.map(|(work, killed, lost)| Cell::new(work, Mode::Processes, killed, shown(lost)));
        let store = StoreReport { store: "d".to_owned(), cells: cells.into(), ..StoreReport::default() };
        let report = Report { stores: vec![store], ..Report::default() };
        assert_eq!(report.faults(), 2);
        assert!(report.table().contains("| 7, 0 |"), "{}", report.table());
        assert!(report.table().contains("| one writer |"), "{}", report.table());
        let without_writers = Report { stores: vec![StoreReport::default()], ..Report::default() };
        assert!(without_writers.table().contains("| not run |"), "{}", without_writers.table());
    }
}
