use super::super::element_set::tests::{Case, Random};
use super::super::element_set::{ElementAxis, ElementSet, PlacedPoints, PointRange};
use crate::strided::{Dims, Span, View, ViewMut};
use crate::vlen::{VlenBuffer, VlenRef};

use smallvec::smallvec;

fn bytes(random: &mut Random, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.next().to_le_bytes()[0]).collect()
}

/// The layout of a view in a larger buffer: with gaps, and with permuted axes, some of which are reversed.
struct Laid {
    /// The shape of the buffer.
    outer: Vec<usize>,
    spans: Vec<Span>,
    /// The axes of the buffer, in the order of the view's axes.
    order: Vec<usize>,
    reversed: Vec<usize>,
    item: usize,
}

impl Laid {
    fn new(random: &mut Random, shape: &[usize], item: usize) -> Self {
        let plain = random.below(3) == 0;
        let mut order: Vec<usize> = (0..shape.len()).collect();
        if !plain && random.coin() {
            random.shuffle(&mut order);
        }
        let mut outer = vec![0; shape.len()];
        let mut spans = vec![Span::all(0); shape.len()];
        for (&axis, &count) in order.iter().zip(shape) {
            let (start, step) = if plain { (0, 1) } else { (random.below(2), 1 + random.below(2)) };
            outer[axis] = start + count * step;
            spans[axis] = Span { start, step, count };
        }
        let reversed = (0..shape.len()).filter(|_| !plain && random.below(3) == 0).collect();
        Self { outer, spans, order, reversed, item }
    }

    fn buffer(&self, random: &mut Random) -> Vec<u8> {
        bytes(random, self.outer.iter().product::<usize>() * self.item)
    }

    fn view<'a>(&self, buffer: &'a [u8]) -> View<'a> {
        let view = View::contiguous(buffer, &self.outer, self.item).region(&self.spans).permuted(&self.order);
        self.reversed.iter().fold(view, |view, &dim| view.reversed(dim))
    }

    fn view_mut<'a>(&self, buffer: &'a mut [u8]) -> ViewMut<'a> {
        let view = ViewMut::contiguous(buffer, &self.outer, self.item).into_region(&self.spans);
        let view = view.permuted(&self.order);
        self.reversed.iter().fold(view, |view, &dim| view.reversed(dim))
    }

    /// Returns the elements of the view in row-major order.
    fn plain(&self, buffer: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        self.view(buffer).append_to(&mut plain, 1);
        plain
    }

    /// Returns the buffer after these elements have been written to the view.
    fn with(&self, buffer: &[u8], plain: &[u8]) -> Vec<u8> {
        let mut buffer = buffer.to_vec();
        let mut view = self.view_mut(&mut buffer);
        let shape = view.shape().to_vec();
        view.copy_from(&View::contiguous(plain, &shape, self.item), 1);
        buffer
    }
}

/// Returns the row-major index of an element.
fn flat(shape: &[usize], position: &[usize]) -> usize {
    position.iter().zip(shape).fold(0, |flat, (n, length)| flat * length + n)
}

/// Returns the row-major indices of each element in the chunk and in memory.
fn numbers(case: &Case) -> Vec<(usize, usize)> {
    let number = |(position, place): &(Vec<usize>, Vec<usize>)| {
        (flat(&case.chunk, position), flat(&case.memory, place))
    };
    case.elements.iter().map(number).collect()
}

const ITEMS: [usize; 11] = [1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32];

#[test]
fn elements_move_as_in_the_naive_loop() {
    let mut random = Random::new(11);
    for round in 0..6000 {
        let many = if round % 300 == 0 { 5000 } else { 20 };
        let case = Case::random(&mut random, many);
        let item = ITEMS[random.below(ITEMS.len())];
        let chunk = Laid::new(&mut random, &case.chunk, item);
        let memory = Laid::new(&mut random, &case.memory, item);
        let (mut in_chunk, mut in_memory) = (chunk.buffer(&mut random), memory.buffer(&mut random));
        let numbers = numbers(&case);
        let place = |n: usize| n * item..(n + 1) * item;

        // A read, and a read of a field.
        let (source, mut expected) = (chunk.plain(&in_chunk), memory.plain(&in_memory));
        for &(from, to) in &numbers {
            expected[place(to)].copy_from_slice(&source[place(from)]);
        }
        let expected = memory.with(&in_memory, &expected);
        let before = in_memory.clone();
        memory.view_mut(&mut in_memory).gather(&chunk.view(&in_chunk), &case.set);
        assert!(in_memory == expected, "{item} {case:?}");
        assert!(chunk.view(&in_chunk).set_equals(&case.set, &memory.view(&in_memory)));
        if !case.set.is_empty() {
            // From the bounding box of all elements.
            let bounds = case.set.bounding_box(case.chunk.len());
            let corner: Vec<usize> = bounds.iter().map(|span| span.start).collect();
            let mut again = before.clone();
            let part = chunk.view(&in_chunk).region(&bounds);
            memory.view_mut(&mut again).gather(&part, &case.set.relative_to(&corner));
            assert!(again == expected, "{item} {case:?}");
        }
        let (offset, size) = (random.below(item), 1);
        let mut field = before.clone();
        memory
            .view_mut(&mut field)
            .into_field(offset, size)
            .gather(&chunk.view(&in_chunk).field(offset, size), &case.set);
        for (i, byte) in field.iter().enumerate() {
            assert_eq!(*byte, if i % item == offset { expected[i] } else { before[i] });
        }

        // A write of other values.
        let values = memory.buffer(&mut random);
        let (source, mut expected) = (memory.plain(&values), chunk.plain(&in_chunk));
        let equal = numbers.iter().all(|&(to, from)| expected[place(to)] == source[place(from)]);
        assert_eq!(chunk.view(&in_chunk).set_equals(&case.set, &memory.view(&values)), equal);
        for &(to, from) in &numbers {
            expected[place(to)].copy_from_slice(&source[place(from)]);
        }
        let expected = chunk.with(&in_chunk, &expected);
        chunk.view_mut(&mut in_chunk).scatter(&case.set, &memory.view(&values));
        assert!(in_chunk == expected, "{item} {case:?}");

        // One element for all.
        let element = if random.coin() { vec![7; item] } else { bytes(&mut random, item) };
        let (mut in_chunk_expected, mut in_memory_expected) =
            (chunk.plain(&in_chunk), memory.plain(&in_memory));
        for &(position, at) in &numbers {
            in_chunk_expected[place(position)].copy_from_slice(&element);
            in_memory_expected[place(at)].copy_from_slice(&element);
        }
        let in_chunk_expected = chunk.with(&in_chunk, &in_chunk_expected);
        let in_memory_expected = memory.with(&in_memory, &in_memory_expected);
        let all = View::broadcast(&element, &case.memory);
        chunk.view_mut(&mut in_chunk).scatter(&case.set, &all);
        memory.view_mut(&mut in_memory).fill_set(&case.set, &element);
        assert!(in_chunk == in_chunk_expected && in_memory == in_memory_expected, "{item} {case:?}");
        assert!(chunk.view(&in_chunk).set_equals(&case.set, &all));
    }
}

/// References to random elements, some empty, and the elements.
fn texts(random: &mut Random, vlen: &VlenBuffer, count: usize) -> (Vec<u8>, Vec<Vec<u8>>) {
    let texts: Vec<Vec<u8>> = (0..count)
        .map(|_| {
            let n = random.below(4);
            bytes(random, n)
        })
        .collect();
    let mut references = Vec::new();
    vlen.push(texts.concat(), texts.iter().map(Vec::len), &mut references);
    (references, texts)
}

fn read(references: &[u8], vlen: &VlenBuffer) -> Vec<Vec<u8>> {
    references.chunks_exact(VlenRef::SIZE).map(|reference| vlen.element(reference).to_vec()).collect()
}

#[test]
fn variable_length_elements_move_between_heaps() {
    let mut random = Random::new(12);
    for _ in 0..2000 {
        let case = Case::random(&mut random, 12);
        let (a, b) = (VlenBuffer::new(), VlenBuffer::new());
        let (chunk_len, memory_len) = (case.chunk.iter().product(), case.memory.iter().product());
        let (in_chunk, texts_of_chunk) = texts(&mut random, &a, chunk_len);
        let other = if random.below(4) == 0 { &a } else { &b };
        let (mut in_memory, mut expected) = texts(&mut random, other, memory_len);
        let numbers = numbers(&case);
        let view = |bytes| View::contiguous(bytes, &case.chunk, VlenRef::SIZE).with_vlen(&a);
        let values = View::contiguous(&in_memory, &case.memory, VlenRef::SIZE).with_vlen(other);
        let equal = numbers.iter().all(|&(from, to)| expected[to] == texts_of_chunk[from]);
        assert_eq!(view(&in_chunk).set_equals(&case.set, &values), equal);

        // Written.
        let mut written = in_chunk.clone();
        ViewMut::contiguous(&mut written, &case.chunk, VlenRef::SIZE)
            .with_vlen(&a)
            .scatter(&case.set, &values);
        let mut written_expected = texts_of_chunk.clone();
        numbers.iter().for_each(|&(to, from)| written_expected[to].clone_from(&expected[from]));
        assert_eq!(read(&written, &a), written_expected, "{case:?}");

        // Read.
        ViewMut::contiguous(&mut in_memory, &case.memory, VlenRef::SIZE)
            .with_vlen(other)
            .gather(&view(&in_chunk), &case.set);
        numbers.iter().for_each(|&(from, to)| expected[to].clone_from(&texts_of_chunk[from]));
        assert_eq!(read(&in_memory, other), expected, "{case:?}");
        let values = View::contiguous(&in_memory, &case.memory, VlenRef::SIZE).with_vlen(other);
        assert!(view(&in_chunk).set_equals(&case.set, &values));

        ViewMut::contiguous(&mut in_memory, &case.memory, VlenRef::SIZE)
            .with_vlen(other)
            .fill_set(&case.set, b"filled");
        numbers.iter().for_each(|&(_, to)| expected[to] = b"filled".to_vec());
        assert_eq!(read(&in_memory, other), expected);

        // One value for all.
        let (value, text) = texts(&mut random, &b, 1);
        let all = View::broadcast(&value, &case.memory).with_vlen(&b);
        ViewMut::contiguous(&mut written, &case.chunk, VlenRef::SIZE).with_vlen(&a).scatter(&case.set, &all);
        numbers.iter().for_each(|&(to, _)| written_expected[to].clone_from(&text[0]));
        assert_eq!(read(&written, &a), written_expected, "{case:?}");
    }
}

/// Returns a points axis of one dimension.
fn points(list: &[usize], places: Option<&[usize]>) -> ElementAxis {
    let coordinates = smallvec![std::sync::Arc::new(list.to_vec().into())];
    let points = PlacedPoints::placed(coordinates, places.map(|places| places.to_vec().into()));
    let range = 0..list.len();
    ElementAxis::Points(PointRange { dims: smallvec![0], points: points.into(), range, origin: smallvec![0] })
}

fn gather(axes: Dims<ElementAxis>, chunk: &[usize], memory: &[usize]) {
    let (source, mut target) = (vec![0; chunk.iter().product()], vec![0; memory.iter().product()]);
    ViewMut::contiguous(&mut target, memory, 1)
        .gather(&View::contiguous(&source, chunk, 1), &ElementSet { axes: axes.into_vec() });
}

#[test]
fn sets_outside_of_a_view_panic() {
    let span =
        |start, step, count, place| ElementAxis::Span { dim: 1, span: Span { start, step, count }, place };
    let cases: Vec<(Dims<ElementAxis>, &[usize], &[usize])> = vec![
        (smallvec![points(&[0, 4], None)], &[4], &[4]),
        (smallvec![points(&[0, usize::MAX], None)], &[4], &[4]),
        (smallvec![points(&[0; 5], None)], &[4], &[4]),
        (smallvec![points(&[0, 1], Some(&[0, 4]))], &[4], &[4]),
        (smallvec![points(&[0], None), span(1, 3, 2, 0)], &[4, 4], &[4, 4]),
        (smallvec![points(&[0], None), span(0, usize::MAX, 3, 0)], &[4, 4], &[4, 4]),
        (smallvec![points(&[0], None), span(0, 1, 2, 3)], &[4, 4], &[4, 4]),
        (smallvec![points(&[0], None), span(0, 1, 2, usize::MAX)], &[4, 4], &[4, 4]),
        (smallvec![points(&[0], None)], &[4, 4], &[4]),
        (smallvec![points(&[0], None), points(&[0], None)], &[4, 4], &[4, 4]),
        (smallvec![points(&[0], None)], &[4], &[4, 4]),
        (smallvec![span(0, 1, 1, 0)], &[4], &[4]),
    ];
    for (axes, chunk, memory) in cases {
        let what = format!("{axes:?}");
        let result = std::panic::catch_unwind(|| gather(axes, chunk, memory));
        assert!(result.is_err(), "{what}");
    }
    // With an empty selection, nothing is copied.
    gather(smallvec![points(&[], None), span(9, 1, 9, 9)], &[4, 4], &[0, 4]);
}
