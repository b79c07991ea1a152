//! Tests that compare thousands of selections with the oracle. The generator has a fixed seed.

use super::super::positions::Dim;
use super::super::selection::Kind;
use super::super::*;
use super::oracle;

/// Marsaglia's xorshift: the same cases in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % n as u64).unwrap()
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns an index for an axis of this length, rarely out of bounds; for an empty axis, every index is
    /// out of bounds.
    fn index(&mut self, length: usize) -> i64 {
        let length = i64::try_from(length).unwrap();
        if self.one_in(200) || length == 0 {
            return i64::try_from(self.below(20)).unwrap() - 10;
        }
        i64::try_from(self.below(usize::try_from(2 * length).unwrap())).unwrap() - length
    }

    fn shape(&mut self) -> Vec<usize> {
        (0..self.below(5)).map(|_| if self.one_in(15) { 0 } else { 1 + self.below(4) }).collect()
    }

    fn slice(&mut self) -> DimSelection {
        let mut bound = || (!self.one_in(3)).then(|| i64::try_from(self.below(15)).unwrap() - 7);
        let (start, stop) = (bound(), bound());
        let step = [1, 1, -1, 2, -2, 3, -3][self.below(7)];
        DimSelection::Slice { start, stop, step: if self.one_in(300) { 0 } else { step } }
    }

    /// Returns an index array that can be broadcast to the joint shape: leading axes may be missing, and some may have length 1.
    fn integers(&mut self, joint: &[usize], length: usize) -> IndexArray {
        let missing = if self.one_in(3) { self.below(joint.len() + 1) } else { 0 };
        let shape: Vec<usize> =
            joint[missing..].iter().map(|&n| if self.one_in(4) { 1 } else { n }).collect();
        let count: usize = shape.iter().product();
        let values: Vec<i64> = (0..count).map(|_| self.index(length)).collect();
        IndexArray::new(shape, values).unwrap()
    }

    fn mask(&mut self, shape: &[usize]) -> Mask {
        let mut shape = shape.to_vec();
        if self.one_in(100) && !shape.is_empty() {
            let axis = self.below(shape.len());
            shape[axis] += 1;
        }
        let few = 1 + self.below(4);
        let values: Vec<bool> = (0..shape.iter().product()).map(|_| self.one_in(few)).collect();
        Mask::new(shape, values).unwrap()
    }

    fn joint(&mut self) -> Vec<usize> {
        (0..1 + self.below(3)).map(|_| if self.one_in(20) { 0 } else { 1 + self.below(3) }).collect()
    }

    fn mixed(&mut self, shape: &[usize]) -> Selection {
        let (mut items, mut dim, mut ellipsis) = (Vec::new(), 0, false);
        let joint = self.joint();
        let arrays = self.below(3);
        while dim < shape.len() || self.one_in(8) {
            let length = shape.get(dim).copied().unwrap_or(3);
            match self.below(12) {
                0 => items.push(DimSelection::NewAxis),
                1 if !ellipsis => {
                    ellipsis = true;
                    items.push(DimSelection::Ellipsis);
                    // An ellipsis may stand for none or some of the dimensions.
                    if !self.one_in(3) {
                        let after = shape.len().saturating_sub(dim);
                        dim += self.below(after + 1);
                    }
                }
                1 => return items.into_iter().collect(),
                2..=3 => {
                    items.push(DimSelection::Index(self.index(length)));
                    dim += 1;
                }
                4..=6 if arrays > 0 => {
                    items.push(DimSelection::Integers(self.integers(&joint, length)));
                    dim += 1;
                }
                7 if arrays > 1 => {
                    let count = 1 + self.below(shape.len().saturating_sub(dim).clamp(1, 2));
                    let part = shape.get(dim..dim + count).unwrap_or(&[2]).to_vec();
                    items.push(DimSelection::Booleans(self.mask(&part)));
                    dim += part.len();
                }
                _ => {
                    items.push(self.slice());
                    dim += 1;
                }
            }
            if items.len() > 12 {
                break;
            }
        }
        items.into_iter().collect()
    }

    fn orthogonal(&mut self, shape: &[usize]) -> Selection {
        let mut items = Vec::new();
        for &length in shape {
            items.push(match self.below(8) {
                0 => DimSelection::Index(self.index(length)),
                1..=3 => {
                    let count = self.below(5);
                    DimSelection::Integers(
                        IndexArray::new([count], (0..count).map(|_| self.index(length)).collect::<Vec<_>>())
                            .unwrap(),
                    )
                }
                4..=5 => DimSelection::Booleans(self.mask(&[length])),
                _ => self.slice(),
            });
        }
        if self.one_in(4) && !items.is_empty() {
            let at = self.below(items.len());
            items[at] = DimSelection::Ellipsis;
        }
        Selection::orthogonal(items)
    }

    fn coordinates(&mut self, shape: &[usize]) -> Selection {
        let joint = self.joint();
        let items: Vec<DimSelection> = shape
            .iter()
            .map(|&length| match self.below(5) {
                0 => DimSelection::Index(self.index(length)),
                _ => DimSelection::Integers(self.integers(&joint, length)),
            })
            .collect();
        Selection::coordinates(items)
    }

    fn selection(&mut self, shape: &[usize]) -> Selection {
        match self.below(8) {
            0..=3 => self.mixed(shape),
            4..=5 => self.orthogonal(shape),
            6 => self.coordinates(shape),
            _ if self.one_in(2) => Selection::mask(self.mask(shape)),
            _ => Selection::coordinates(self.mask(shape)),
        }
    }
}

/// The number of cases with elements, for each kind; the last number counts errors.
type Counts = [usize; 5];

fn count(counts: &mut Counts, selection: &Selection, ok: bool) {
    let kinds = [Kind::Mixed, Kind::Orthogonal, Kind::Coordinates, Kind::Mask];
    let kind = kinds.iter().position(|&kind| kind == selection.kind).unwrap();
    counts[if ok { kind } else { 4 }] += 1;
}

#[test]
fn selections_mean_what_the_documentation_says() {
    let mut random = Random(0x5eed);
    let mut counts = Counts::default();
    for _ in 0..60_000 {
        let shape = random.shape();
        let selection = random.selection(&shape);
        let array = oracle::arange(&shape);
        let expected = oracle::apply(&array, &selection);
        let resolved = selection.resolve(&oracle::wide(&shape));
        count(&mut counts, &selection, expected.is_some());
        match (expected, resolved) {
            (Some(expected), Ok(resolved)) => {
                assert_eq!(
                    oracle::expand(&resolved, &array),
                    expected,
                    "{selection} of {shape:?}: {resolved:?}"
                );
                assert_eq!(resolved.is_empty(), expected.is_empty(), "{selection} of {shape:?}");
            }
            (None, Err(_)) => {}
            (expected, resolved) => panic!("{selection} of {shape:?}: {resolved:?}, not {expected:?}"),
        }
    }
    assert!(counts.iter().all(|&count| count > 500), "{counts:?}");
}

#[test]
fn selections_from_selections_mean_one_after_the_other() {
    let mut random = Random(0xc0ffee);
    let mut counts = Counts::default();
    let mut steps = 0;
    while steps < 40_000 {
        let shape = random.shape();
        let array = oracle::arange(&shape);
        let mut resolved = Selection::all().resolve(&oracle::wide(&shape)).unwrap();
        let mut expected = array.clone();
        let mut told = format!("{shape:?}");
        for _ in 0..4 {
            let selection = random.selection(expected.shape());
            told += &format!("[{selection}]");
            let next = oracle::apply(&expected, &selection);
            count(&mut counts, &selection, next.is_some());
            let Some(next) = next else {
                assert!(resolved.select(&selection).is_err(), "{told}");
                break;
            };
            // Selections that repeat positions and add axes grow; this limit keeps the reference implementation fast.
            if next.len() > 2000 || next.ndim() > 6 {
                break;
            }
            resolved = resolved.select(&selection).unwrap();
            expected = next;
            steps += 1;
            assert_eq!(oracle::expand(&resolved, &array), expected, "{told}: {resolved:?}");
        }
    }
    assert!(counts.iter().all(|&count| count > 500), "{counts:?}");
}

#[test]
fn what_is_displayed_is_parsed_again() {
    let mut random = Random(0xd15b1a);
    let without_dimensions = |item: &DimSelection| match item {
        DimSelection::Integers(array) => array.shape().is_empty(),
        DimSelection::Booleans(mask) => mask.values().is_empty() || mask.shape().is_empty(),
        _ => false,
    };
    let mut parsed = 0;
    for _ in 0..5000 {
        let shape = random.shape();
        let selection = random.mixed(&shape);
        // A zero-dimensional array is formatted as a number, and an empty array does not show its kind.
        if !selection.items().iter().any(without_dimensions) && !selection.to_string().contains("[]") {
            assert_eq!(selection, selection.to_string().parse().unwrap(), "{selection}");
            parsed += 1;
        }
    }
    assert!(parsed > 2000, "{parsed}");
}

#[test]
fn no_text_makes_the_parser_panic() {
    let mut random = Random(0xbad);
    let pieces = [
        "[",
        "]",
        ",",
        ":",
        "...",
        "None",
        "True",
        "1",
        "-2",
        " ",
        "é",
        "+",
        "99999999999999999999",
        "[0, 1]",
    ];
    let mut understood = 0;
    for _ in 0..50_000 {
        let text: String = (0..random.below(10)).map(|_| pieces[random.below(pieces.len())]).collect();
        understood += usize::from(text.parse::<Selection>().is_ok());
    }
    assert!(understood > 1000, "{understood}");
}

#[test]
fn slices_have_the_positions_that_python_gives_them() {
    let bounds: Vec<Option<i64>> = std::iter::once(None).chain((-7..=7).map(Some)).collect();
    for n in 0..=5 {
        for &start in &bounds {
            for &stop in &bounds {
                for step in [-6, -5, -3, -2, -1, 1, 2, 3, 5, 6] {
                    let span = Dim { axis: 0, length: n }.slice(start, stop, step).unwrap();
                    let positions: Vec<usize> =
                        (0..span.count).map(|at| usize::try_from(span.position(at)).unwrap()).collect();
                    assert_eq!(
                        positions,
                        oracle::slice(start, stop, step, n).unwrap(),
                        "{start:?}:{stop:?}:{step} of {n}"
                    );
                }
            }
        }
    }
}

#[test]
fn extreme_bounds_do_not_overflow() {
    let extremes = [Some(i64::MIN), Some(i64::MAX), None];
    for start in extremes {
        for stop in extremes {
            for step in [i64::MIN, i64::MAX, 1, -1] {
                for length in [0, 1, i64::MAX] {
                    let span = Dim { axis: 0, length }.slice(start, stop, step).unwrap();
                    assert!(
                        span.count == 0 || span.start + (span.count - 1) * span.step < length.cast_unsigned()
                    );
                }
            }
        }
    }
}
