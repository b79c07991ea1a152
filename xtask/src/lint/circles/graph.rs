//! Circles in a graph of files.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// Files that all need one another.
#[derive(Debug, PartialEq)]
pub(super) struct Knot {
    pub(super) files: usize,
    /// One of its shortest circles: paths of files, the first again at the end.
    pub(super) circle: Vec<String>,
}

/// The knots of files, given the files that each needs.
pub(super) fn knots(files: &[PathBuf], needs: &[BTreeSet<usize>]) -> Vec<Knot> {
    let reached: Vec<BTreeSet<usize>> = (0..needs.len()).map(|file| reached(needs, file)).collect();
    let mut told = BTreeSet::<usize>::new();
    let mut knots = Vec::new();
    for file in 0..needs.len() {
        if !reached[file].contains(&file) || told.contains(&file) {
            continue;
        }
        let knot: Vec<usize> =
            reached[file].iter().copied().filter(|other| reached[*other].contains(&file)).collect();
        told.extend(&knot);
        let circle = shortest_circle(needs, &knot);
        let circle = circle.iter().map(|file| files[*file].display().to_string()).collect();
        knots.push(Knot { files: knot.len(), circle });
    }
    knots
}

/// The files that a file needs, and those that these need.
pub(super) fn reached(needs: &[BTreeSet<usize>], file: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut left: Vec<usize> = needs[file].iter().copied().collect();
    while let Some(next) = left.pop() {
        if found.insert(next) {
            left.extend(&needs[next]);
        }
    }
    found
}

/// One of the shortest circles in a knot, with its first file again at its end.
fn shortest_circle(needs: &[BTreeSet<usize>], knot: &[usize]) -> Vec<usize> {
    let circles = knot.iter().filter_map(|file| {
        let mut ways = vec![vec![*file]];
        let mut seen = BTreeSet::new();
        while !ways.is_empty() {
            let mut longer = Vec::new();
            for way in ways {
                for next in &needs[way[way.len() - 1]] {
                    let longer_way: Vec<usize> = way.iter().chain([next]).copied().collect();
                    if next == file {
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
