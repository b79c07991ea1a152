//! The lists of tests that may fail, each with a reason.

use std::collections::BTreeMap;

use super::outcomes::Outcomes;
use zarrox_runner::run::{self, Outcome};

/// The reasons why tests may fail, by the names of the tests, with or without parameters.
pub(super) struct Excuses(BTreeMap<String, String>);

impl Excuses {
    /// Reads the entries of a file for one version.
    pub(super) fn read(file: &str, version: &str) -> Outcome<Self> {
        let excuses = parsed(&run::read(file)?).map_err(|error| format!("{file}: {error}"))?;
        Ok(Self(of_version(excuses, version)))
    }

    /// Returns the reason why a test may fail, or `None`.
    pub(super) fn reason(&self, test: &str) -> Option<&str> {
        let reason = self.0.get(test).or_else(|| self.0.get(without_parameters(test)));
        reason.map(String::as_str)
    }

    /// Returns the reasons why tests may fail, and the number of tests for each.
    pub(super) fn counted<'a>(&self, tests: impl Iterator<Item = &'a str>) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for reason in tests.filter_map(|test| self.reason(test)) {
            *counts.entry(reason).or_default() += 1;
        }
        counts
    }

    /// Returns the excused tests that ran without a failure with any parameters.
    pub(super) fn idle(&self, outcomes: &Outcomes) -> Vec<String> {
        let passes = |excused: &&String| {
            let of_this = |name: &str| name == *excused || without_parameters(name) == *excused;
            let mut same = outcomes.iter().filter(|(name, _)| of_this(name)).peekable();
            same.peek().is_some() && same.all(|(_, outcome)| outcome.is_ok())
        };
        self.0.keys().filter(passes).cloned().collect()
    }
}

fn without_parameters(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

/// Returns the excuses that apply to a version: the excuses for all versions, and those for a prefix of the version.
fn of_version(excuses: BTreeMap<String, String>, label: &str) -> BTreeMap<String, String> {
    let of_this = |(test, reason): (String, String)| match test.split_once(' ') {
        Some((version, test)) if version.starts_with(|first: char| first.is_ascii_digit()) => {
            label.starts_with(version).then(|| (test.to_owned(), reason))
        }
        _ => Some((test, reason)),
    };
    excuses.into_iter().filter_map(of_this).collect()
}

/// Parses the excused tests with the reasons: paragraphs, each of which begins with lines of `#` that contain the reason. A test
/// of one version of zarr-python has the version before its name.
fn parsed(text: &str) -> Outcome<BTreeMap<String, String>> {
    let mut excuses = BTreeMap::new();
    for paragraph in text.split("\n\n") {
        let (reason, tests): (Vec<_>, Vec<_>) =
            paragraph.lines().filter(|line| !line.is_empty()).partition(|line| line.starts_with('#'));
        if reason.is_empty() && !tests.is_empty() {
            return Err(format!("the excused test {} has no reason", tests[0]));
        }
        let reason: Vec<_> = reason.into_iter().map(|line| line.trim_start_matches('#').trim()).collect();
        excuses.extend(tests.into_iter().map(|test| (test.to_owned(), reason.join(" "))));
    }
    Ok(excuses)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excuses(tests: &[&str]) -> Excuses {
        Excuses(tests.iter().map(|test| ((*test).to_owned(), "because".to_owned())).collect())
    }

    #[test]
    fn some_are_excused_in_one_version() {
        let Excuses(all) = excuses(&["3.1 a", "3.2 b", "c[1 x]"]);
        assert_eq!(of_version(all, "3.1.6").into_keys().collect::<Vec<_>>(), ["a", "c[1 x]"]);
    }

    #[test]
    fn excuses_are_of_one_case_of_a_test_or_of_all() {
        let excuses = excuses(&["a", "b[1 x]"]);
        assert_eq!(
            ["a[1]", "b[1 x]", "b[2]"].map(|name| excuses.reason(name).is_some()),
            [true, true, false]
        );
        assert_eq!(excuses.counted(["a[1]", "a[2]", "b[2]"].into_iter()), [("because", 2)].into());
    }

    #[test]
    fn unused_excuses_are_reported() {
        let outcomes = crate::pipelines::outcomes::parsed(
            "passed a[1]\nfailed a[2]\npassed b[1]\npassed b[2]\npassed c[1]\nskipped d\n",
        );
        assert_eq!(excuses(&["a", "b", "c[1]", "d", "missing"]).idle(&outcomes), ["b", "c[1]"]);
    }

    #[test]
    fn each_excused_test_has_a_reason() {
        let excuses =
            parsed("# First,\n# they look inside.\na.py::b\na.py::c\n\n# Second.\nd.py::e\n").unwrap();
        let expected = [
            ("a.py::b", "First, they look inside."),
            ("a.py::c", "First, they look inside."),
            ("d.py::e", "Second."),
        ];
        assert_eq!(excuses, expected.map(|(test, reason)| (test.to_owned(), reason.to_owned())).into());
        assert!(parsed("a.py::b\n").is_err());
    }
}
