//! The record of the servers, programs and privileges that tests require: tests that did not run are counted.

use std::collections::{BTreeMap, BTreeSet};

use zarrox_runner::run::{self, Outcome, target};

/// The variable with the path of the record for test programs. `quality/testkit/src/needs.rs` writes it.
const VARIABLE: &str = "ZARROX_TEST_RECORD";

/// The record of a run: for each requirement the tests that ran, and those that did not.
#[derive(Debug, Default)]
pub(crate) struct Record {
    ran: BTreeMap<String, BTreeSet<String>>,
    missing: BTreeMap<String, BTreeSet<String>>,
}

/// Creates an empty record for a run of tests; returns its variable.
pub(crate) fn begin(name: &str) -> Outcome<(String, String)> {
    let path = run::absolute(target(&format!("tests-{name}.txt")))?;
    run::write(&path, "")?;
    Ok((VARIABLE.to_owned(), path))
}

impl Record {
    /// Reads the lines that the programs have written since the record began.
    pub(crate) fn read((_, path): &(String, String)) -> Outcome<Self> {
        Self::parse(&run::read(path)?)
    }

    fn parse(text: &str) -> Outcome<Self> {
        let mut record = Self::default();
        for line in text.lines() {
            let mut parts = line.splitn(3, '\t');
            let (Some(what), Some(need), Some(test)) = (parts.next(), parts.next(), parts.next()) else {
                return Err(format!("'{line}' is not a valid line of a test record"));
            };
            let tests = if what == "ran" { &mut record.ran } else { &mut record.missing };
            tests.entry(need.to_owned()).or_default().insert(test.to_owned());
        }
        Ok(record)
    }

    /// Describes the tests that did not run, with their number and requirements; `None` if all ran.
    pub(crate) fn summary(&self) -> Option<String> {
        let tests: BTreeSet<&String> = self.missing.values().flatten().collect();
        let needs: Vec<_> = self.missing.iter().map(|(need, of)| format!("{need} ({})", of.len())).collect();
        match tests.len() {
            0 => None,
            1 => Some(format!("1 test did not run: it needs {}", needs.join(", "))),
            count => Some(format!("{count} tests did not run: they need {}", needs.join(", "))),
        }
    }

    /// Fails unless tests of each of these requirements ran, and none was skipped.
    pub(crate) fn require(&self, needs: &[&str]) -> Outcome {
        for need in needs {
            if let Some(test) = self.missing.get(*need).and_then(BTreeSet::first) {
                return Err(format!("{need} was started, but {test} did not find it"));
            }
            if !self.ran.contains_key(*need) {
                return Err(format!("{need} was started, but no test used it"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_did_not_run_are_counted_once() {
        let text =
            "missing\tredis\ta x\nran\ts3\ta y\nmissing\tredis\ta z\nmissing\ts3\ta z\nmissing\tredis\ta x\n";
        let record = Record::parse(text).unwrap();
        assert_eq!(record.summary().unwrap(), "2 tests did not run: they need redis (2), s3 (1)");
        assert_eq!(Record::parse("").unwrap().summary(), None);
        assert_eq!(Record::parse("x\n").unwrap_err(), "'x' is not a valid line of a test record");
    }

    #[test]
    fn a_server_that_no_test_used_is_an_error() {
        let record = Record::parse("ran\tredis\ta\nran\ts3\tb\nmissing\ts3\tc\n").unwrap();
        assert_eq!(record.require(&["redis"]), Ok(()));
        assert_eq!(record.require(&["redis", "ftp"]).unwrap_err(), "ftp was started, but no test used it");
        assert_eq!(record.require(&["s3"]).unwrap_err(), "s3 was started, but c did not find it");
    }
}
