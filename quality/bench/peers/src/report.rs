//! The results of all cases: stored as JSON, and shown as tables.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::contestants::{LIMIT, Language, OURSELVES};
use crate::measure::{Absence, Row, Times, median, spread};
use zarrox_runner::run::{self, program};

/// The text of an empty cell.
const NOTHING: &str = "–";

/// The rows of all runs. The report shows only the rows of one scale.
#[derive(Debug)]
pub(crate) struct Report {
    scale: &'static str,
    rows: Vec<Row>,
    machine: Machine,
}

impl Report {
    /// Reads the results of earlier runs, if there are any.
    pub(crate) fn read(path: &str, scale: &'static str) -> Self {
        let json = run::read(path).ok().and_then(|text| serde_json::from_str(&text).ok());
        let rows = json.as_ref().and_then(|json: &Value| json["rows"].as_array());
        let rows = rows.into_iter().flatten().filter_map(Row::from_json).collect();
        Self { scale, rows, machine: Machine::this() }
    }

    /// Adds a row, replacing an earlier one of the same case, language and scale.
    pub(crate) fn replace(&mut self, row: Row) {
        let is_same = |other: &Row| {
            (&other.case, other.language, &other.scale) == (&row.case, row.language, &row.scale)
        };
        match self.rows.iter_mut().find(|other| is_same(other)) {
            Some(former) => *former = row,
            None => self.rows.push(row),
        }
    }

    /// Returns the rows of a language to show, in the order of these cases. Removed cases are omitted.
    pub(crate) fn rows(&self, language: Language, cases: &[&str]) -> Vec<&Row> {
        let shown = |row: &&Row| row.language == language && row.scale == self.scale;
        let of = |case: &&str| self.rows.iter().filter(shown).find(|row| row.case == **case);
        cases.iter().filter_map(of).collect()
    }

    /// Returns the rows of existing cases, of all scales, and the machine that they were measured on.
    pub(crate) fn to_json(&self, cases: &[&str]) -> Value {
        let place = |row: &Row| cases.iter().position(|case| row.case == *case);
        let mut rows: Vec<_> = self.rows.iter().filter_map(|row| Some((place(row)?, row))).collect();
        rows.sort_by_key(|(place, row)| (row.scale.as_str(), row.language.name(), *place));
        let rows: Vec<_> = rows.into_iter().map(|(_, row)| row.to_json()).collect();
        let machine = &self.machine;
        json!({
            "machine": {
                "processor": machine.processor,
                "cores": machine.cores,
                "memory": machine.memory,
                "kernel": machine.kernel,
            },
            "date": machine.date,
            "rows": rows,
        })
    }

    /// Describes the measurement: its cases, the machine and the time.
    pub(crate) fn about(&self, cases: &[&str]) -> Vec<String> {
        let rows = Language::ALL.into_iter().flat_map(|language| self.rows(language, cases));
        let entries = rows.flat_map(|row| &row.entries).filter(|entry| !entry.version.is_empty());
        let versions: BTreeSet<_> = entries.map(|entry| entry.version.as_str()).collect();
        let versions: Vec<_> = versions.into_iter().collect();
        let machine = &self.machine;
        vec![
            format!("Scale: {}. {}.", self.scale, machine.date),
            format!(
                "{}, {} cores, {} of memory, {}.",
                machine.processor, machine.cores, machine.memory, machine.kernel
            ),
            format!("{}.", versions.join("; ")),
        ]
    }

    /// Returns the report as Markdown.
    pub(crate) fn tables(&self, cases: &[&str]) -> String {
        let mut text = "# Zarrox and its peers\n\n".to_owned() + &self.about(cases).join("\n") + "\n\n";
        text += "`cargo xtask bench --peers` has measured this: quality/bench/README.md says how. Ratios are Zarrox's time \
                 where the other takes 1: less than 1 is faster.\n";
        for language in Language::ALL {
            let rows = self.rows(language, cases);
            if !rows.is_empty() {
                text += &format!("\n## {}\n\n{}", language.title(), ratios(&rows));
                text += &format!("\n### Whole processes: time, most memory\n\n{}", processes(&rows));
                text += &absences(&rows);
            }
        }
        text
    }
}

/// Returns the ratios to each peer.
fn ratios(rows: &[&Row]) -> String {
    let peers: Vec<&str> =
        names(rows).into_iter().filter(|name| ![OURSELVES, LIMIT].contains(name)).collect();
    let head = ["case", "Zarrox", "spread"].into_iter().chain(peers.iter().copied());
    let head = head.chain(["best peer", "target", "met", LIMIT]);
    let body = rows.iter().map(|row| {
        let ours = row.times(OURSELVES).map(|times| times.seconds.as_slice()).unwrap_or_default();
        let mut cells =
            vec![row.case.clone(), median(ours).map_or_else(nothing, duration), spread_text(ours)];
        cells.extend(peers.iter().map(|peer| ratio_text(row, peer)));
        cells.push(row.best().map_or_else(nothing, |(name, ratio)| format!("**{ratio:.2}** {name}")));
        cells.push(format!("{:.2}", row.target));
        cells.push(verdict(row).unwrap_or(NOTHING).to_owned());
        cells.push(ratio_text(row, LIMIT));
        cells
    });
    table(&head.map(str::to_owned).collect::<Vec<_>>(), body)
}

/// Returns a table of the time and memory of each contestant's process.
fn processes(rows: &[&Row]) -> String {
    let names = names(rows);
    let head: Vec<String> = ["case"].iter().chain(&names).map(|name| (*name).to_owned()).collect();
    let cell = |times: &Times| {
        let mebibytes = |bytes: f64| format!(", {:.0} MiB", bytes / f64::from(1 << 20));
        let memory = median(&times.peaks).map_or_else(String::new, mebibytes);
        median(&times.processes).map_or_else(nothing, |seconds| duration(seconds) + &memory)
    };
    let body = rows.iter().map(|row| {
        let cells = names.iter().map(|name| row.times(name).map_or_else(nothing, cell));
        [row.case.clone()].into_iter().chain(cells).collect()
    });
    table(&head, body)
}

/// Returns the contestants that were not measured, with the cases and the reasons.
fn absences(rows: &[&Row]) -> String {
    let mut cases: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
    for (row, entry) in rows.iter().flat_map(|row| row.entries.iter().map(move |entry| (row, entry))) {
        let reason = match &entry.result {
            Ok(_) => continue,
            Err(Absence::Unsupported(reason)) => reason.clone(),
            Err(Absence::Failed(message)) => format!("**failed**: {message}"),
            Err(Absence::GaveUp(_)) => "took more than two minutes".to_owned(),
        };
        cases.entry((&entry.name, reason)).or_default().push(&row.case);
    }
    if cases.is_empty() {
        return String::new();
    }
    let lines = cases.iter().map(|((name, reason), cases)| {
        let reason = reason.replace('\n', " ");
        format!("- {name}: {reason} ({})\n", cases.join(", "))
    });
    format!("\n### Not measured\n\n{}", lines.collect::<String>())
}

/// Returns a row as text.
pub(crate) fn line(row: &Row) -> String {
    let ours = row.times(OURSELVES).and_then(|times| median(&times.seconds));
    let mut text = format!("{:<38} {:<7}", row.case, row.language.title());
    text += &format!("{:>9}", ours.map_or_else(nothing, duration));
    let others = row.entries.iter().filter(|entry| entry.name != OURSELVES);
    for entry in others {
        text += &format!("  {} {}", entry.name, ratio_text(row, &entry.name));
    }
    text + &match verdict(row) {
        Some(verdict) => format!("  within {:.2}: {verdict}", row.target),
        None => "  no peer".to_owned(),
    }
}

/// Returns the verdict on a row: "no" if it is not within its target, "yes" if it is, and `None` without a peer.
fn verdict(row: &Row) -> Option<&'static str> {
    match row.is_within(row.target) {
        false => Some("no"),
        true => row.best().map(|_| "yes"),
    }
}

/// Returns the names of all contestants, in order of appearance.
fn names<'a>(rows: &[&'a Row]) -> Vec<&'a str> {
    let mut names = Vec::new();
    for entry in rows.iter().flat_map(|row| &row.entries) {
        if !names.contains(&entry.name.as_str()) {
            names.push(&entry.name);
        }
    }
    names
}

/// Returns our ratio to a contestant, or the reason why there is none.
fn ratio_text(row: &Row, name: &str) -> String {
    match row.entry(name).map(|entry| &entry.result) {
        Some(Err(Absence::Failed(_))) => "failed".to_owned(),
        Some(Err(Absence::GaveUp(seconds))) => format!("> {}", duration(*seconds)),
        _ => row.ratio(name).map_or_else(nothing, |ratio| format!("{ratio:.2}")),
    }
}

fn spread_text(seconds: &[f64]) -> String {
    let text = |(least, most)| format!("{} to {}", duration(least), duration(most));
    spread(seconds).map_or_else(nothing, text)
}

fn nothing() -> String {
    NOTHING.to_owned()
}

/// Returns a time with three digits, in a suitable unit.
fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        _ if seconds >= 1.0 => (seconds, "s"),
        _ if seconds >= 1e-3 => (seconds * 1e3, "ms"),
        _ => (seconds * 1e6, "µs"),
    };
    let decimals = match value {
        _ if value >= 100.0 => 0,
        _ if value >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {unit}")
}

/// Returns a Markdown table: the first column is text, the others are right-aligned.
fn table(head: &[String], body: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule = ":--|".to_owned() + &"--:|".repeat(head.len().saturating_sub(1));
    let body: String = body.map(|cells| line(&cells)).collect();
    format!("{}|{rule}\n{body}", line(head))
}

/// The machine and the time of the measurement.
#[derive(Debug)]
struct Machine {
    processor: String,
    cores: usize,
    memory: String,
    kernel: String,
    date: String,
}

impl Machine {
    /// Returns a description of this machine, as far as it is known.
    fn this() -> Self {
        let line = |path: &str, name: &str| {
            let text = run::read(path).unwrap_or_default();
            let value = |line: &str| Some(line.strip_prefix(name)?.trim_matches([' ', '\t', ':']).to_owned());
            text.lines().find_map(value)
        };
        let unknown = || "unknown".to_owned();
        let memory = line("/proc/meminfo", "MemTotal").and_then(|size| gibibytes(&size));
        Self {
            processor: line("/proc/cpuinfo", "model name").unwrap_or_else(unknown),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: memory.unwrap_or_else(unknown),
            kernel: program("uname", ["-sr"]).output().unwrap_or_else(unknown),
            date: program("date", ["-u", "+%Y-%m-%d"]).output().unwrap_or_else(unknown),
        }
    }
}

/// Returns a size from the kernel, in a readable unit.
fn gibibytes(size: &str) -> Option<String> {
    let kibibytes: f64 = size.strip_suffix("kB")?.trim().parse().ok()?;
    Some(format!("{:.0} GiB", kibibytes / f64::from(1 << 20)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::measure::tests::{absent, entry, row};

    /// Returns two cases, one of which is in both languages.
    pub(crate) fn report() -> Report {
        let unsupported = absent("zarrs", Absence::Unsupported("no masks".to_owned()));
        let ours = || entry(OURSELVES, &[1.0, 1.2, 1.1]);
        let peers = [entry("zarr3", &[4.0, 4.8, 4.4]), absent("zarr2", Absence::GaveUp(150.0))];
        let rows = vec![
            row("read", Language::Rust, &[ours(), entry("zarrs", &[2.0, 2.4, 2.2]), entry(LIMIT, &[1.0; 3])]),
            row("mask", Language::Rust, &[ours(), unsupported]),
            row("read", Language::Python, &[&[ours()], &peers[..]].concat()),
        ];
        Report { scale: "small", rows, machine: Machine::this() }
    }

    #[test]
    fn tables_hold_what_was_measured_and_why_the_rest_was_not() {
        let text = report().tables(&["read", "mask"]);
        let has = |part: &str| assert!(text.contains(part), "{part} is not in\n{text}");
        has("| case | Zarrox | spread | zarrs | best peer | target | met | limit |\n|:--|--:|");
        has("| read | 1.10 s | 1.00 s to 1.20 s | 0.50 | **0.50** zarrs | 0.75 | yes | 1.10 |");
        has("| mask | 1.10 s | 1.00 s to 1.20 s | – | – | 0.75 | – | – |");
        has("| 0.25 | > 150 s | **0.25** zarr3 |");
        has("| read | 1.50 s, 3 MiB | 1.50 s, 3 MiB | 1.50 s, 3 MiB |");
        has("- zarrs: no masks (mask)");
        has("- zarr2: took more than two minutes (read)");
        has("zarr3 1; zarrox 1; zarrs 1.");
    }

    #[test]
    fn a_run_replaces_only_its_own_rows() {
        let mut report = report();
        report.replace(row("mask", Language::Rust, &[entry(OURSELVES, &[9.0])]));
        let full = Row { scale: "full".to_owned(), ..row("read", Language::Rust, &[]) };
        report.replace(full.clone());
        let rows = report.rows(Language::Rust, &["mask", "read"]);
        assert_eq!(rows.iter().map(|row| row.case.as_str()).collect::<Vec<_>>(), ["mask", "read"]);
        assert_eq!(rows[0].times(OURSELVES).unwrap().seconds, [9.0]);
        assert_eq!(rows[1].ratio("zarrs"), Some(0.5), "{rows:?}");
        assert_eq!(report.rows.len(), 4);

        let path = std::env::temp_dir().join("zarrox-xtask-peers.json");
        let path = path.to_string_lossy();
        run::write(&*path, &report.to_json(&["read"]).to_string()).unwrap();
        let again = Report::read(&path, "full");
        assert_eq!(again.rows(Language::Rust, &["read"]), [&full]);
        assert_eq!(again.rows.len(), 3, "a removed case is dropped");
        std::fs::remove_file(&*path).unwrap();
        assert!(Report::read(&path, "small").rows.is_empty());
    }

    #[test]
    fn a_line_says_all_about_a_row() {
        let report = report();
        let rows = report.rows(Language::Python, &["read"]);
        let line = line(rows[0]);
        assert!(line.starts_with("read") && line.contains("1.10 s  zarr3 0.25  zarr2 > 150 s"), "{line}");
        assert!(line.ends_with("  within 0.75: yes"), "{line}");
        assert!(super::line(report.rows(Language::Rust, &["mask"])[0]).ends_with("  no peer"));
    }

    #[test]
    fn durations_have_three_digits() {
        let texts = [123.4, 12.34, 0.1234, 0.001_234, 0.000_012_34].map(duration);
        assert_eq!(texts, ["123 s", "12.3 s", "123 ms", "1.23 ms", "12.3 µs"]);
        assert_eq!(gibibytes("16777216 kB").as_deref(), Some("16 GiB"));
    }
}
