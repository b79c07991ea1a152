//! Cycles in a graph of files or folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files or folders, and the dependencies of each.
#[derive(Debug, Default, Clone)]
pub(super) struct Graph {
    pub(super) paths: Vec<PathBuf>,
    pub(super) needs: Vec<BTreeSet<usize>>,
}

/// Files or folders that depend on one another.
#[derive(Debug, PartialEq)]
pub(super) struct Knot {
    pub(super) size: usize,
    /// One of the shortest cycles among these files or folders. The first path is also the last one.
    pub(super) circle: Vec<String>,
}

impl Graph {
    /// Returns the graph of the folders of these files. A folder depends on a sibling if a file in it, or below, depends on a
    /// file there.
    pub(super) fn folders(&self) -> Self {
        let mut all = Self::default();
        let mut known = BTreeMap::new();
        for (file, needs) in self.needs.iter().enumerate() {
            for needed in needs {
                let Some((from, to)) = siblings(&self.paths[file], &self.paths[*needed]) else { continue };
                let [from, to] = [from, to].map(|folder| {
                    *known.entry(folder.to_owned()).or_insert_with(|| {
                        all.paths.push(folder.to_owned());
                        all.needs.push(BTreeSet::new());
                        all.paths.len() - 1
                    })
                });
                all.needs[from].insert(to);
            }
        }
        all
    }

    /// Removes the dependency of one path on another; returns false if there is none.
    pub(super) fn cut(&mut self, from: &Path, to: &Path) -> bool {
        let place = |path| self.paths.iter().position(|known| known == path);
        match (place(from), place(to)) {
            (Some(from), Some(to)) => self.needs[from].remove(&to),
            _ => false,
        }
    }

    /// Returns true if the second path depends on the first, directly or indirectly.
    pub(super) fn leads_back(&self, from: &Path, to: &Path) -> bool {
        let place = |path| self.paths.iter().position(|known| known == path);
        let (Some(from), Some(to)) = (place(from), place(to)) else { return false };
        self.reached(to).contains(&from)
    }

    pub(super) fn knots(&self) -> Vec<Knot> {
        let reached: Vec<BTreeSet<usize>> = (0..self.needs.len()).map(|node| self.reached(node)).collect();
        let mut reported = BTreeSet::<usize>::new();
        let mut knots = Vec::new();
        for node in 0..self.needs.len() {
            if !reached[node].contains(&node) || reported.contains(&node) {
                continue;
            }
            let knot: Vec<usize> =
                reached[node].iter().copied().filter(|other| reached[*other].contains(&node)).collect();
            reported.extend(&knot);
            let circle = self.shortest_circle(&knot);
            let circle = circle.iter().map(|node| self.paths[*node].display().to_string()).collect();
            knots.push(Knot { size: knot.len(), circle });
        }
        knots
    }

    /// Returns the direct and indirect dependencies of a node.
    fn reached(&self, node: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut left: Vec<usize> = self.needs[node].iter().copied().collect();
        while let Some(next) = left.pop() {
            if found.insert(next) {
                left.extend(&self.needs[next]);
            }
        }
        found
    }

    /// Returns one of the shortest cycles in a knot, with its first node again at the end.
    fn shortest_circle(&self, knot: &[usize]) -> Vec<usize> {
        let circles = knot.iter().filter_map(|node| {
            let mut ways = vec![vec![*node]];
            let mut seen = BTreeSet::new();
            while !ways.is_empty() {
                let mut longer = Vec::new();
                for way in ways {
                    for next in &self.needs[way[way.len() - 1]] {
                        let longer_way: Vec<usize> = way.iter().chain([next]).copied().collect();
                        if next == node {
                            return Some(longer_way);
                        }
                        if seen.insert(*next) {
                            longer.push(longer_way);
                        }
                    }
                }
                ways = longer;
            }
            None
        });
        circles.min_by_key(Vec::len).unwrap_or_default()
    }
}

/// Returns the folders that contain two files, within their deepest common folder; `None` if one is directly in it.
fn siblings<'a>(one: &'a Path, other: &'a Path) -> Option<(&'a Path, &'a Path)> {
    let above = one.ancestors().skip(1).find(|folder| other.starts_with(folder))?;
    let within = |path: &'a Path| path.ancestors().skip(1).find(|folder| folder.parent() == Some(above));
    Some((within(one)?, within(other)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(needs: &[(&str, &[&str])]) -> Graph {
        let place = |path: &&str| needs.iter().position(|(known, _)| known == path).unwrap();
        Graph {
            paths: needs.iter().map(|(path, _)| PathBuf::from(path)).collect(),
            needs: needs.iter().map(|(_, needs)| needs.iter().map(place).collect()).collect(),
        }
    }

    #[test]
    fn folders_that_need_one_another_are_found_where_no_files_do() {
        let files = graph(&[
            ("src/lib.rs", &["src/a/one.rs"]),
            ("src/a/one.rs", &["src/b/deep/one.rs"]),
            ("src/a/two.rs", &["src/a/one.rs"]),
            ("src/b/deep/one.rs", &["src/c.rs"]),
            ("src/b/two.rs", &["src/a/two.rs"]),
            ("src/c.rs", &[]),
        ]);
        assert_eq!(files.knots(), []);
        let circle = ["src/a", "src/b", "src/a"].map(str::to_owned).to_vec();
        assert_eq!(files.folders().knots(), [Knot { size: 2, circle }]);
    }

    #[test]
    fn a_need_that_closes_a_circle_can_be_cut() {
        let mut files = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"]), ("d", &["a"])]);
        assert!(files.leads_back(Path::new("c"), Path::new("a")));
        assert!(!files.leads_back(Path::new("d"), Path::new("a")));
        assert!(files.cut(Path::new("c"), Path::new("a")));
        assert!(!files.cut(Path::new("c"), Path::new("a")));
        assert_eq!(files.knots(), []);
    }
}
