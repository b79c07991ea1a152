//! Measurements and their statistics.

use serde_json::{Value, json};

use crate::contestants::{BEFORE, LIMIT, Language, OURSELVES};

/// The measurements of a case in one language.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) language: Language,
    pub(crate) scale: String,
    /// The largest allowed ratio of the time of Zarrox to the best peer's.
    pub(crate) target: f64,
    pub(crate) entries: Vec<Entry>,
}

/// The largest allowed ratio of the time of Zarrox to the bare loop's.
const LIMIT_TARGET: f64 = 1.2;

/// The measurements of one contestant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Name and version of the library, once it has reported them.
    pub(crate) version: String,
    pub(crate) result: Result<Times, Absence>,
}

/// The times of a contestant.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Times {
    /// The times of the work alone, in each round.
    pub(crate) seconds: Vec<f64>,
    /// The times of whole processes, from start to end.
    pub(crate) processes: Vec<f64>,
    /// The peak memory of each of these processes in bytes.
    pub(crate) peaks: Vec<f64>,
}

/// The reason why a contestant has no times.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Absence {
    Unsupported(String),
    Failed(String),
    /// The timeout was reached after this number of seconds.
    GaveUp(f64),
}

impl Row {
    pub(crate) fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    pub(crate) fn times(&self, name: &str) -> Option<&Times> {
        self.entry(name)?.result.as_ref().ok()
    }

    /// Returns the ratio of the time of Zarrox to that of another contestant.
    pub(crate) fn ratio(&self, name: &str) -> Option<f64> {
        ratio(&self.times(OURSELVES)?.seconds, &self.times(name)?.seconds)
    }

    /// Returns the fastest peer, and our ratio to it.
    pub(crate) fn best(&self) -> Option<(&str, f64)> {
        let ratios = self.peers().filter_map(|name| Some((name, self.ratio(name)?)));
        ratios.max_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    fn peers(&self) -> impl Iterator<Item = &str> {
        let names = self.entries.iter().map(|entry| entry.name.as_str());
        names.filter(|name| ![OURSELVES, LIMIT, BEFORE].contains(name))
    }

    /// Returns true if the ratio of Zarrox to the best peer is at most `target`. True without peers, and false without a time of
    /// Zarrox.
    pub(crate) fn is_within(&self, target: f64) -> bool {
        let is_fast = self.best().is_none_or(|(_, ratio)| ratio <= target);
        self.times(OURSELVES).is_some() && is_fast
    }

    /// Returns true if the time of Zarrox is within this row's target, and within the row's limit compared with a bare loop.
    pub(crate) fn meets_targets(&self) -> bool {
        self.is_within(self.target) && self.ratio(LIMIT).is_none_or(|ratio| ratio <= LIMIT_TARGET)
    }

    /// Returns the contestants that failed, and their errors.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().filter_map(|entry| match &entry.result {
            Err(Absence::Failed(message)) => Some((entry.name.as_str(), message.as_str())),
            _ => None,
        })
    }

    pub(crate) fn to_json(&self) -> Value {
        let entries: Vec<_> = self.entries.iter().map(Entry::to_json).collect();
        json!({
            "case": self.case,
            "language": self.language.name(),
            "scale": self.scale,
            "target": self.target,
            "ratio": self.best().map(|(_, ratio)| ratio),
            "contestants": entries,
        })
    }

    /// Parses a row; `None` if the value is not a row.
    pub(crate) fn from_json(json: &Value) -> Option<Self> {
        Some(Self {
            case: json["case"].as_str()?.to_owned(),
            language: Language::from_name(json["language"].as_str()?).ok()?,
            scale: json["scale"].as_str()?.to_owned(),
            target: json["target"].as_f64()?,
            entries: json["contestants"].as_array()?.iter().map(Entry::from_json).collect::<Option<_>>()?,
        })
    }
}

impl Entry {
    fn to_json(&self) -> Value {
        let mut json = json!({"name": self.name, "version": self.version});
        match &self.result {
            Ok(times) => {
                json["seconds"] = json!(times.seconds);
                json["processes"] = json!(times.processes);
                json["peaks"] = json!(times.peaks);
            }
            Err(Absence::Unsupported(reason)) => json["unsupported"] = json!(reason),
            Err(Absence::Failed(message)) => json["error"] = json!(message),
            Err(Absence::GaveUp(seconds)) => json["gave_up"] = json!(seconds),
        }
        json
    }

    fn from_json(json: &Value) -> Option<Self> {
        let text = |member: &str| json[member].as_str().map(str::to_owned);
        let numbers =
            |member: &str| json[member].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        let absence = text("unsupported").map(Absence::Unsupported);
        let absence = absence.or_else(|| text("error").map(Absence::Failed));
        let absence = absence.or_else(|| json["gave_up"].as_f64().map(Absence::GaveUp));
        let times = || Times {
            seconds: numbers("seconds"),
            processes: numbers("processes"),
            peaks: numbers("peaks"),
        };
        let result = absence.map_or_else(|| Ok(times()), Err);
        Some(Self { name: text("name")?, version: text("version")?, result })
    }
}

/// Returns the median.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 0 => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
        _ => Some(sorted[middle]),
    }
}

/// Returns the minimum and the maximum.
pub(crate) fn spread(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    Some((least, values.iter().copied().max_by(f64::total_cmp)?))
}

/// Returns the median of the ratios in each round. Slow contestants take part in the first rounds only.
fn ratio(ours: &[f64], theirs: &[f64]) -> Option<f64> {
    let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
    median(&ratios)
}

/// Returns the most frequent value. Of several equally frequent values, returns the first one.
pub(crate) fn most_frequent<'a>(values: &[&'a str]) -> Option<&'a str> {
    let count = |value: &&str| values.iter().filter(|other| *other == value).count();
    values.iter().rev().copied().max_by_key(count)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a contestant with these times in its rounds.
    pub(crate) fn entry(name: &str, seconds: &[f64]) -> Entry {
        let times = Times { seconds: seconds.to_vec(), processes: vec![1.5], peaks: vec![3e6] };
        Entry { name: name.to_owned(), version: format!("{name} 1"), result: Ok(times) }
    }

    pub(crate) fn absent(name: &str, absence: Absence) -> Entry {
        Entry { name: name.to_owned(), version: String::new(), result: Err(absence) }
    }

    pub(crate) fn row(case: &str, language: Language, entries: &[Entry]) -> Row {
        let (case, scale) = (case.to_owned(), "small".to_owned());
        Row { case, language, scale, target: 0.75, entries: entries.to_vec() }
    }

    #[test]
    fn medians_and_spreads() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(spread(&[3.0, 1.0, 2.0]), Some((1.0, 3.0)));
        assert_eq!(spread(&[]), None);
    }

    #[test]
    fn ratios_are_those_of_rounds() {
        // The ratio is the same in each round; the medians alone would not show that.
        assert_eq!(ratio(&[1.0, 2.0, 4.0], &[2.0, 4.0, 8.0]), Some(0.5));
        assert_eq!(ratio(&[1.0, 2.0, 9.0], &[2.0, 4.0]), Some(0.5));
        assert_eq!(ratio(&[1.0], &[]), None);
    }

    #[test]
    fn the_best_peer_is_the_fastest_and_never_the_limit() {
        let entries = [
            entry(OURSELVES, &[2.0]),
            entry("slow", &[8.0]),
            entry("fast", &[4.0]),
            absent("none", Absence::GaveUp(130.0)),
            entry(LIMIT, &[1.0]),
        ];
        let row = row("a", Language::Python, &entries);
        assert_eq!(row.best(), Some(("fast", 0.5)));
        assert_eq!(row.ratio(LIMIT), Some(2.0));
        assert!(row.is_within(0.5) && !row.is_within(0.4));
    }

    #[test]
    fn without_us_no_target_is_met_and_without_peers_any_is() {
        let failed = absent(OURSELVES, Absence::Failed("no".to_owned()));
        let without_us = row("a", Language::Rust, &[failed, entry("zarrs", &[1.0])]);
        assert!(!without_us.is_within(1e9));
        assert_eq!(without_us.failures().collect::<Vec<_>>(), [(OURSELVES, "no")]);
        assert!(row("a", Language::Rust, &[entry(OURSELVES, &[1.0])]).is_within(0.1));
    }

    #[test]
    fn rows_survive_json() {
        let absences = [
            Absence::Unsupported("why".to_owned()),
            Absence::Failed("how".to_owned()),
            Absence::GaveUp(130.5),
        ];
        let entries = absences.map(|absence| absent("peer", absence));
        let row = row("a", Language::Rust, &[&[entry(OURSELVES, &[1.0, 0.1])], &entries[..]].concat());
        assert_eq!(Row::from_json(&row.to_json()), Some(row));
        assert_eq!(Row::from_json(&json!({"case": "a"})), None);
    }

    #[test]
    fn the_majority_is_right_and_the_first_where_there_is_none() {
        assert_eq!(most_frequent(&["1", "2", "2"]), Some("2"));
        assert_eq!(most_frequent(&["1", "2"]), Some("1"));
        assert_eq!(most_frequent(&[]), None);
    }
}
