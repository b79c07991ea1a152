use std::collections::BTreeMap;
use std::convert::Infallible;

use crate::scratch::Positions;

use super::super::masked::MaskedChunks;
use super::*;
use crate::grid::{ChunkGrid, Run};

/// A pseudo-random sequence of numbers that is the same in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Returns a number less than `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from((u128::from(self.next()) * limit as u128) >> 64).unwrap()
    }

    /// Returns a number of at most `bits` bits; small numbers are as frequent as large ones.
    fn spread(&mut self, bits: usize) -> usize {
        let bits = self.below(bits + 1);
        self.below(1 << bits)
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}

/// A position in the chunk, and one in memory.
pub(crate) type Pair = (Vec<usize>, Vec<usize>);

/// A set, its description, and its elements one by one, in the row-major order of the axes.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) chunk: Vec<usize>,
    pub(crate) memory: Vec<usize>,
    pub(crate) set: ElementSet,
    pub(crate) elements: Vec<Pair>,
}

/// One axis: the positions along each of its dimensions, and the positions in memory.
struct Drawn {
    axis: ElementAxis,
    positions: Vec<Vec<usize>>,
    places: Vec<usize>,
}

impl Case {
    /// Generates sets in chunks of up to four dimensions; `many` is the approximate number of points of an axis.
    pub(crate) fn random(random: &mut Random, many: usize) -> Self {
        let ndim = random.below(5);
        let longest = if ndim < 3 && random.coin() { 40 } else { 7 };
        let chunk: Vec<usize> = (0..ndim).map(|_| 1 + random.below(longest)).collect();
        let mut dims: Vec<usize> = (0..ndim).collect();
        random.shuffle(&mut dims);
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for dim in dims {
            match groups.last_mut() {
                Some(group) if group.len() < 3 && random.below(3) == 0 => group.push(dim),
                _ => groups.push(vec![dim]),
            }
        }
        // All combinations are listed below, so only one axis is long.
        let count = |n: usize| if n == 0 || groups.len() < 3 && many < 100 { many } else { 6 };
        let drawn: Vec<Drawn> =
            groups.iter().enumerate().map(|(n, dims)| draw(random, dims, &chunk, count(n))).collect();
        let memory = drawn.iter().map(|axis| axis.places.iter().max().map_or(0, |n| n + 1) + random.below(3));
        let memory = memory.collect();
        let mut elements: Vec<Pair> = vec![(vec![0; ndim], Vec::new())];
        for (axis, dims) in drawn.iter().zip(&groups) {
            elements = elements
                .iter()
                .flat_map(|(position, place)| {
                    (0..axis.places.len()).map(move |i| {
                        let (mut position, mut place) = (position.clone(), place.clone());
                        dims.iter().zip(&axis.positions).for_each(|(&dim, list)| position[dim] = list[i]);
                        place.push(axis.places[i]);
                        (position, place)
                    })
                })
                .collect();
        }
        Self {
            chunk,
            memory,
            set: ElementSet { axes: drawn.into_iter().map(|a| a.axis).collect() },
            elements,
        }
    }
}

fn draw(random: &mut Random, dims: &[usize], chunk: &[usize], many: usize) -> Drawn {
    if let &[dim] = dims
        && random.coin()
    {
        let step = 1 + random.below(3);
        let start = random.below(chunk[dim]);
        let count = (chunk[dim] - start).div_ceil(step) - random.below(2);
        let (span, place) = (Span { start, step, count }, random.below(3));
        let positions = vec![(0..count).map(|i| start + i * step).collect()];
        let places = (place..place + count).collect();
        return Drawn { axis: ElementAxis::Span { dim, span, place }, positions, places };
    }
    if random.below(4) == 0 {
        return draw_mask(random, dims, chunk, many);
    }
    let count = random.below(many);
    let mut positions: Vec<Vec<usize>> =
        dims.iter().map(|&dim| (0..count).map(|_| random.below(chunk[dim])).collect()).collect();
    match random.below(4) {
        // Adjacent points, as in a walk with jumps.
        0 | 1 => {
            let (jumps, last) = (2 + random.below(12), dims.len() - 1);
            for i in 1..count {
                if random.below(jumps) > 0 && positions[last][i - 1] + 1 < chunk[dims[last]] {
                    positions.iter_mut().for_each(|list| list[i] = list[i - 1]);
                    positions[last][i] += 1;
                }
            }
        }
        2 => positions[0].sort_unstable(),
        _ => {}
    }
    let (before, after) = (random.below(3), random.below(3));
    let origin: Dims<usize> = dims.iter().map(|_| random.below(100)).collect();
    let list = |(positions, &origin): (&Vec<usize>, &usize)| {
        let others = |n: usize| std::iter::repeat_n(12345, n);
        let own = positions.iter().map(|position| position + origin);
        Arc::new(others(before).chain(own).chain(others(after)).collect())
    };
    let coordinates = positions.iter().zip(&origin).map(list).collect();
    let mut places: Vec<usize> = (0..before + count + after).collect();
    let mut listed = None;
    if random.coin() {
        if random.coin() {
            random.shuffle(&mut places);
        }
        listed = Some(places.clone());
    }
    let range = before..before + count;
    let points = PointRange {
        dims: dims.into(),
        points: Arc::new(PlacedPoints::placed(coordinates, listed.map(Positions::from))),
        range: range.clone(),
        origin,
    };
    Drawn { axis: ElementAxis::Points(points), positions, places: places[range].to_vec() }
}

/// Returns a mask that begins before the chunk, and ends in or after it.
fn draw_mask(random: &mut Random, dims: &[usize], chunk: &[usize], many: usize) -> Drawn {
    let lengths: Vec<[usize; 3]> = dims
        .iter()
        .map(|&dim| [1 + random.below(3), 1 + random.below(chunk[dim]), 1 + random.below(3)])
        .collect();
    let grid: Vec<_> = lengths.iter().map(|along| along.map(|length| length as u64)).collect();
    let grid = ChunkGrid::rectilinear(grid, &vec![0; dims.len()]).unwrap();
    let runs: Vec<_> = (0..dims.len()).map(|k| grid.runs(k)).collect();
    let shape: Vec<usize> = lengths.iter().map(|along| along.iter().sum()).collect();
    let inside = |position: &[usize]| {
        position.iter().zip(&lengths).all(|(&at, along)| (along[0]..along[0] + along[1]).contains(&at))
    };
    let all: Vec<Span> = shape.iter().map(|&length| Span::all(length)).collect();
    let position = |mut flat: usize| {
        let mut position: Vec<usize> = Vec::new();
        for &length in shape.iter().rev() {
            position.push(flat % length);
            flat /= length;
        }
        position.reverse();
        position
    };
    let total = crate::selection::partition::positions(&all, &shape).len();
    let mut mask = vec![false; total];
    let first = lengths.iter().zip(&shape).fold(0, |flat, (along, length)| flat * length + along[0]);
    mask[first] = true;
    let longest = if random.coin() { 1 } else { 100 };
    let mut left = many;
    while left > 0 {
        let start = random.below(total);
        let count = (1 + random.below(longest)).min(left).min(total - start);
        mask[start..start + count].fill(true);
        left -= count;
    }
    let elements = (0..total).filter(|&flat| mask[flat]).map(position).enumerate();
    let (mut positions, mut places) = (vec![Vec::new(); dims.len()], Vec::new());
    for (place, position) in elements.filter(|(_, position)| inside(position)) {
        places.push(place);
        let along = positions.iter_mut().zip(&position).zip(&lengths);
        along.for_each(|((list, at), length)| list.push(at - length[0]));
    }
    let masked = Arc::new(MaskedChunks::new(Arc::new(mask), &shape, &runs));
    let n = (0..masked.count()).find(|&n| masked.chunk(n).iter().all(|&index| index == 1)).unwrap();
    let points = Arc::new(PlacedPoints::of_mask(&masked, n));
    let (range, origin) = (0..points.count(), lengths.iter().map(|along| along[0]).collect());
    let axis = ElementAxis::Points(PointRange { dims: dims.into(), points, range, origin });
    Drawn { axis, positions, places }
}

/// Returns the elements of a set according to its documentation, in the row-major order of the axes.
fn elements(set: &ElementSet) -> Vec<Pair> {
    listed(set.axes.iter().map(|axis| axis.dims().len()).sum(), &set.axes)
}

/// Returns the elements of some axes; along all other dimensions of the chunk, their position is 0.
fn listed(ndim: usize, axes: &[ElementAxis]) -> Vec<Pair> {
    let mut elements: Vec<Pair> = vec![(vec![0; ndim], Vec::new())];
    for axis in axes {
        elements = elements
            .iter()
            .flat_map(|(position, place)| {
                (0..axis.len()).map(move |i| {
                    let (mut position, mut place) = (position.clone(), place.clone());
                    match axis {
                        ElementAxis::Span { dim, span, place: first } => {
                            position[*dim] = span.start + i * span.step;
                            place.push(first + i);
                        }
                        ElementAxis::Points(points) => {
                            let i = points.range.start + i;
                            for (k, &dim) in points.dims.iter().enumerate() {
                                position[dim] = points.points.coordinates()[k][i] - points.origin[k];
                            }
                            place.push(points.points.places().map_or(i, |places| places[i]));
                        }
                    }
                    (position, place)
                })
            })
            .collect();
    }
    elements
}

#[test]
fn sets_say_where_their_elements_are() {
    let mut random = Random::new(1);
    for _ in 0..3000 {
        let case = Case::random(&mut random, 12);
        let set = &case.set;
        assert_eq!((elements(set), set.len()), (case.elements.clone(), case.elements.len()));
        assert_eq!(elements(&set.clone().simplified()), case.elements);

        let mut order: Vec<usize> = (0..case.chunk.len()).collect();
        random.shuffle(&mut order);
        let moved = |(position, place): &Pair| (order.iter().map(|&i| position[i]).collect(), place.clone());
        let expected: Vec<Pair> = case.elements.iter().map(moved).collect();
        assert_eq!(elements(&set.permuted(&order)), expected, "{case:?}");

        let bounds = set.bounding_box(case.chunk.len());
        if case.elements.is_empty() {
            continue;
        }
        let positions = |dim: usize| case.elements.iter().map(move |(position, _)| position[dim]);
        for (dim, bounds) in bounds.iter().enumerate() {
            let (start, end) = (positions(dim).min().unwrap(), positions(dim).max().unwrap() + 1);
            assert_eq!(*bounds, Span { start, step: 1, count: end - start }, "{case:?}");
        }
        let corner: Vec<usize> = bounds.iter().map(|span| span.start - span.start / 2).collect();
        let moved = |(position, place): &Pair| {
            (position.iter().zip(&corner).map(|(n, corner)| n - corner).collect(), place.clone())
        };
        let expected: Vec<Pair> = case.elements.iter().map(moved).collect();
        assert_eq!(elements(&set.relative_to(&corner)), expected);
    }
}

#[test]
fn boxes_have_the_elements_in_their_order() {
    let mut random = Random::new(2);
    let mut as_box = 0;
    for _ in 0..5000 {
        let case = Case::random(&mut random, 20);
        let boxes = case.set.boxes(usize::MAX).unwrap();
        let mut found: Vec<Pair> = Vec::new();
        for (region, memory) in &boxes {
            // The same elements as a set. Only the last dimension of each axis is longer than 1.
            let axes = case.set.axes.iter().zip(memory).map(|(axis, memory)| {
                let (&dim, others) = axis.dims().split_last().unwrap();
                assert!(others.iter().all(|&dim| region[dim].count == 1));
                assert_eq!((memory.step, memory.count), (1, region[dim].count));
                ElementAxis::Span { dim, span: region[dim], place: memory.start }
            });
            let part = listed(case.chunk.len(), &axes.collect::<Vec<_>>());
            found.extend(part.into_iter().map(|(mut position, place)| {
                for axis in &case.set.axes {
                    let (_, others) = axis.dims().split_last().unwrap();
                    others.iter().for_each(|&dim| position[dim] = region[dim].start);
                }
                (position, place)
            }));
        }
        let sorted = |pairs: &[Pair]| {
            let mut pairs = pairs.to_vec();
            pairs.sort();
            pairs
        };
        assert_eq!(sorted(&found), sorted(&case.elements), "{case:?}");
        // A map keeps the last position of each element.
        let winners = |pairs: &[Pair]| pairs.iter().cloned().collect::<BTreeMap<_, _>>();
        assert_eq!(winners(&found), winners(&case.elements), "{case:?}");
        assert!(case.set.boxes(boxes.len()).is_some_and(|again| again == boxes));
        if let Some(less) = boxes.len().checked_sub(1) {
            assert_eq!(case.set.boxes(less), None);
        }
        if let Some(only) = case.set.as_box() {
            as_box += 1;
            assert_eq!(boxes, if case.set.is_empty() { vec![] } else { vec![only] }, "{case:?}");
        }
    }
    assert!(as_box > 100);
}

/// Returns a points axis over the first dimensions, in order.
fn points(coordinates: &[&[usize]], places: Option<Vec<usize>>) -> ElementAxis {
    let range = 0..coordinates[0].len();
    let coordinates =
        coordinates.iter().map(|list| Arc::new(Positions::from(list.to_vec()))).collect::<Dims<_>>();
    let ndim = coordinates.len();
    let points = Arc::new(PlacedPoints::placed(coordinates, places.map(Positions::from)));
    ElementAxis::Points(PointRange { dims: (0..ndim).collect(), points, range, origin: smallvec![0; ndim] })
}

#[test]
fn evenly_spaced_points_are_a_span() {
    let spans = |axis: ElementAxis| ElementSet { axes: vec![axis] }.as_box();
    let span = |start, step, count| Span { start, step, count };
    let found = |span: Span, place| {
        let memory = Span { start: place, step: 1, count: span.count };
        Some((smallvec![span], smallvec![memory]))
    };
    assert_eq!(spans(points(&[&[3, 5, 7]], None)), found(span(3, 2, 3), 0));
    assert_eq!(spans(points(&[&[3, 5, 7]], Some(vec![4, 5, 6]))), found(span(3, 2, 3), 4));
    assert_eq!(spans(points(&[&[9]], Some(vec![4]))), found(span(9, 1, 1), 4));
    for (list, places) in [
        (&[3, 5, 8][..], None),
        (&[7, 5, 3], None),
        (&[3, 3, 3], None),
        (&[3, 4, 6, 6], None),
        (&[3, 5, 7], Some(vec![0, 2, 1])),
        (&[3, 5, 7], Some(vec![1, 2, 4])),
    ] {
        assert_eq!(spans(points(&[list], places)), None);
    }
    assert_eq!(spans(points(&[&[1], &[1]], None)), None);
}

/// The points of each chunk, computed point by point as the reference.
type Groups = BTreeMap<Vec<usize>, Vec<usize>>;

fn check_groups(lists: &[Vec<usize>], runs: &[&[Run]], chunk_of: impl Fn(usize, usize) -> usize) {
    let mut expected = Groups::new();
    for i in 0..lists[0].len() {
        let chunk = (0..lists.len()).map(|k| chunk_of(k, lists[k][i])).collect();
        expected.entry(chunk).or_default().push(i);
    }
    let coordinates: Dims<_> = lists.iter().map(|list| Arc::new(Positions::from(list.clone()))).collect();
    let Grouped { points, chunks } = PlacedPoints::group(coordinates.clone(), runs);
    let place = |i: usize| points.places().map_or(i, |places| places[i]);
    let found: Vec<(Vec<usize>, Vec<usize>)> =
        chunks.iter().map(|(chunk, range)| (chunk.to_vec(), range.clone().map(place).collect())).collect();
    assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{lists:?}");
    for (k, list) in lists.iter().enumerate() {
        assert!((0..list.len()).all(|i| points.coordinates()[k][i] == list[place(i)]));
    }
    let ends: Vec<usize> = chunks.iter().map(|(_, range)| range.end).collect();
    assert!(
        chunks.iter().map(|(_, range)| range.start).eq(std::iter::once(0).chain(ends).take(chunks.len()))
    );
    // Elements that are already in order are not copied.
    let in_order = found.iter().flat_map(|(_, places)| places).copied().eq(0..lists[0].len());
    let same = points.coordinates().iter().zip(&coordinates).all(|(a, b)| Arc::ptr_eq(a, b));
    assert_eq!((in_order, in_order), (same, points.places().is_none()));
}

#[test]
fn groups_on_regular_grids_equal_the_naive_loop() {
    let mut random = Random::new(3);
    for round in 0..3000 {
        let ndim = 1 + random.below(3);
        let count = 1 + random.below(if round % 50 == 0 { 3000 } else { 60 });
        // Few chunks, many chunks, and too many chunks for a table, to test all sorting algorithms.
        let bits = [5, 8, 12, 30, 50, 62][random.below(6)];
        let lengths: Vec<usize> = (0..ndim)
            .map(|_| match random.below(4) {
                0 => 1 << random.below(6),
                1 => 1 + random.spread(bits),
                _ => 1 + random.below(20),
            })
            .collect();
        let mut lists: Vec<Vec<usize>> = (0..ndim)
            .map(|_| {
                let base = random.below(1 << bits);
                (0..count).map(|_| base + random.spread(bits)).collect()
            })
            .collect();
        if random.coin() {
            lists[0].sort_unstable();
        }
        let shape: Vec<u64> = vec![u64::MAX; ndim];
        let grid = ChunkGrid::regular(lengths.iter().map(|&n| n as u64).collect::<Vec<_>>(), &shape).unwrap();
        let runs: Vec<_> = (0..ndim).map(|dim| grid.runs(dim)).collect();
        let runs: Vec<&[Run]> = runs.iter().map(|runs| &**runs).collect();
        check_groups(&lists, &runs, |k, position| position / lengths[k]);
    }
}

#[test]
fn groups_on_rectilinear_grids_equal_the_naive_loop() {
    let mut random = Random::new(4);
    for _ in 0..2000 {
        let ndim = 1 + random.below(3);
        let lengths: Vec<Vec<u64>> = (0..ndim)
            .map(|_| {
                let mut lengths = Vec::new();
                for _ in 0..1 + random.below(6) {
                    let length = 1 + random.below(9) as u64;
                    lengths.extend(std::iter::repeat_n(length, 1 + random.below(4)));
                }
                lengths
            })
            .collect();
        let grid = ChunkGrid::rectilinear(lengths.clone(), &vec![0; ndim]).unwrap();
        let totals = lengths.iter().map(|lengths| usize::try_from(lengths.iter().sum::<u64>()).unwrap());
        let count = 1 + random.below(50);
        let mut lists: Vec<Vec<usize>> =
            totals.map(|total| (0..count).map(|_| random.below(total)).collect()).collect();
        if random.coin() {
            lists[0].sort_unstable();
        }
        let runs: Vec<_> = (0..ndim).map(|dim| grid.runs(dim)).collect();
        let runs: Vec<&[Run]> = runs.iter().map(|runs| &**runs).collect();
        check_groups(&lists, &runs, |k, position| {
            let mut end = 0;
            lengths[k].iter().take_while(|&&length| (end += length, end <= position as u64).1).count()
        });
    }
}

#[test]
fn the_size_of_the_grid_costs_nothing() {
    let grid = ChunkGrid::regular([1, 1, 1], &[u64::MAX; 3]).unwrap();
    let runs = [grid.runs(0), grid.runs(1), grid.runs(2)];
    let far = 1 << 60;
    let lists = [vec![far, 0, far, 7], vec![1, far + 1, 1, 2], vec![far - 1, 5, far - 1, 0]];
    let Grouped { points, chunks } =
        PlacedPoints::group(lists.map(|list| Arc::new(list.into())).into_iter().collect(), &runs);
    let chunks: Vec<_> = chunks.iter().map(|(chunk, range)| (chunk.as_slice(), range.clone())).collect();
    assert_eq!(chunks, [(&[0, far + 1, 5][..], 0..1), (&[7, 2, 0], 1..2), (&[far, 1, far - 1], 2..4)]);
    assert_eq!(points.places(), Some([1, 3, 0, 2].as_slice()));

    let one = PlacedPoints::group(smallvec![Arc::new(vec![usize::MAX - 1].into())], &runs[..1]);
    assert_eq!(one.chunks, [(smallvec![usize::MAX - 1], 0..1)]);
    assert!(PlacedPoints::group(smallvec![Arc::new(Vec::new().into())], &runs[..1]).chunks.is_empty());
}

#[test]
fn every_element_is_in_its_cell_once() {
    let mut random = Random::new(5);
    for round in 0..4000 {
        let case = Case::random(&mut random, if round % 100 == 0 { 300 } else { 15 });
        let cell: Vec<usize> = case.chunk.iter().map(|&length| 1 + random.below(length)).collect();
        let mut indices: Vec<Vec<usize>> = Vec::new();
        let mut found: Vec<Pair> = Vec::new();
        let done = case.set.split(&cell, |index, set| {
            for (mut position, place) in elements(&set) {
                for (dim, n) in position.iter_mut().enumerate() {
                    assert!(*n < cell[dim]);
                    *n += index[dim] * cell[dim];
                }
                found.push((position, place));
            }
            assert!(!set.is_empty());
            indices.push(index.to_vec());
            Ok::<_, Infallible>(())
        });
        let Ok(()) = done;
        assert!(indices.is_sorted_by(|a, b| a < b), "{indices:?}");
        // For each position, the order of the elements is unchanged, because the last element is kept.
        let in_cell = |(position, _): &Pair| -> Vec<usize> {
            position.iter().zip(&cell).map(|(n, cell)| n / cell).collect()
        };
        let mut expected = case.elements.clone();
        expected.sort_by_key(in_cell);
        assert_eq!(found, expected, "{case:?} {cell:?}");
    }
}

#[test]
fn sorted_points_are_split_without_copying() {
    let set = ElementSet { axes: vec![points(&[&[0, 1, 5, 6, 6, 90]], None)] };
    let mut cells = Vec::new();
    let done = set.split(&[4], |index, part| {
        let (ElementAxis::Points(whole), ElementAxis::Points(part)) = (&set.axes[0], &part.axes[0]) else {
            unreachable!()
        };
        assert!(Arc::ptr_eq(&whole.points, &part.points));
        cells.push((index[0], part.range.clone(), part.origin[0]));
        Ok::<_, Infallible>(())
    });
    let Ok(()) = done;
    assert_eq!(cells, [(0, 0..2, 0), (1, 2..5, 4), (22, 5..6, 88)]);
    assert_eq!(set.split(&[4], |_, _| Err("stop")), Err("stop"));
}
