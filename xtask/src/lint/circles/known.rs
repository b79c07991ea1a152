//! The dependencies that are known to close cycles, and their reasons.

use std::path::Path;

use super::graph::Graph;

/// One dependency per line: `FROM -> TO: REASON`. Lines that begin with `#` are comments.
const LIST: &str = include_str!("known.txt");

/// A dependency of a file or folder against the common direction.
#[derive(Debug, PartialEq)]
pub(super) struct Known<'a> {
    from: &'a Path,
    to: &'a Path,
}

impl std::fmt::Display for Known<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} -> {}", self.from.display(), self.to.display())
    }
}

impl Known<'_> {
    pub(super) fn is_of_folders(&self) -> bool {
        self.from.extension().is_none()
    }
}

/// Parses the list.
pub(super) fn list() -> Result<Vec<Known<'static>>, String> {
    LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(parse).collect()
}

fn parse(line: &str) -> Result<Known<'_>, String> {
    let parts = line.split_once(" -> ").and_then(|(from, rest)| Some((from, rest.split_once(": ")?)));
    match parts {
        Some((from, (to, reason))) if !reason.trim().is_empty() => {
            Ok(Known { from: Path::new(from), to: Path::new(to) })
        }
        _ => Err(format!("known circles: '{line}' is not `FROM -> TO: REASON`")),
    }
}

/// Removes known dependencies from graphs, and returns those that do not close a cycle any more.
pub(super) fn cut<'k, 'a>(graphs: &mut [Graph], known: &'k [Known<'a>]) -> Vec<&'k Known<'a>> {
    let mut found = vec![Vec::new(); known.len()];
    for (known, found) in known.iter().zip(&mut found) {
        let has = |(_, graph): &mut (usize, &mut Graph)| graph.cut(known.from, known.to);
        *found =
            graphs.iter_mut().enumerate().filter_map(|mut each| has(&mut each).then_some(each.0)).collect();
    }
    let is_closing = |known: &Known<'_>, found: &[usize]| {
        found.iter().any(|graph| graphs[*graph].leads_back(known.from, known.to))
    };
    known
        .iter()
        .zip(&found)
        .filter(|(known, found)| !is_closing(known, found))
        .map(|(known, _)| known)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_known_need_has_a_reason() {
        assert!(list().is_ok());
        let known = parse("a/b.py -> a/c.py: for types alone").unwrap();
        assert_eq!(known.to_string(), "a/b.py -> a/c.py");
        assert!(["a -> b", "a -> b: ", "a: b"].iter().all(|line| parse(line).is_err()));
    }

    #[test]
    fn a_dependency_that_closes_no_cycle_is_reported() {
        let paths = ["a", "b", "c"].map(Into::into).to_vec();
        let needs = vec![[1].into(), [0, 2].into(), [].into()];
        let mut graphs = [Graph { paths, needs }];
        let known = ["b -> a: x", "b -> c: x", "c -> a: x"].map(|line| parse(line).unwrap());
        assert_eq!(cut(&mut graphs, &known), [&known[1], &known[2]]);
        assert_eq!(graphs[0].knots(), []);
    }
}
