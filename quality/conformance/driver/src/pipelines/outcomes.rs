//! The outcomes of tests, by their names.

use std::collections::BTreeMap;

/// The outcomes of tests by their names, with the reason of a failure. A test fails if any part of it fails.
pub(super) type Outcomes = BTreeMap<String, Result<(), String>>;

/// Returns the tests that pass unchanged and not in another mode, with the reasons.
pub(super) fn worse(own: &Outcomes, ours: &Outcomes) -> Vec<(String, String)> {
    let passed = own.iter().filter(|(_, outcome)| outcome.is_ok()).map(|(name, _)| name);
    let reason = |name: &String| match ours.get(name) {
        Some(Ok(())) => None,
        Some(Err(reason)) => Some((name.clone(), reason.clone())),
        None => Some((name.clone(), "was not run".to_owned())),
    };
    passed.filter_map(reason).collect()
}

/// Returns tests with the reasons of their failures, one per line.
pub(super) fn listed<'a>(failed: impl IntoIterator<Item = &'a (String, String)>) -> String {
    failed.into_iter().map(|(name, reason)| format!("{name}: {reason}\n")).collect()
}

/// Parses the file of the plug-in: each line has an outcome, a name and, after a tab, the reason of a failure.
pub(super) fn parsed(text: &str) -> Outcomes {
    let mut outcomes = Outcomes::new();
    for (outcome, rest) in text.lines().filter_map(|line| line.split_once(' ')) {
        let (name, reason) = rest.split_once('\t').unwrap_or((rest, outcome));
        let known = outcomes.entry(name.to_owned()).or_insert(Ok(()));
        if outcome != "passed" && known.is_ok() {
            *known = Err(reason.to_owned());
        }
    }
    outcomes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_passes_elsewhere_must_pass_here() {
        let own = parsed("passed a\npassed b[1 x]\nfailed c\nskipped d\npassed e\nfailed e\npassed f\n");
        let ours = parsed("passed a\nfailed b[1 x]\tError: it is 2\nfailed c\n");
        let worse = worse(&own, &ours);
        assert_eq!(listed(&worse), "b[1 x]: Error: it is 2\nf: was not run\n");
    }
}
