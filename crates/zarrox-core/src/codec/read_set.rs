//! Reading elements of a chunk that need not form a box.

use super::chain::PARTS;
use super::stages::{Elements, counts, whole};
use super::{CodecChain, DecodeOptions, Fetch, ReadPart, Staged, Window, resolve};
use crate::error::CodecError;
use crate::selection::ElementSet;
use crate::strided::{Dims, Span, View, ViewMut};

/// What it costs to ask for a range of its own, in bytes that could be read instead.
const RANGE: usize = 4 << 10;

/// Elements of a chunk, and where they go: into memory that has an axis for each of the set's.
///
/// Others may write to other places of the same memory at the same time; so nobody gets the memory itself, but only to those
/// places that are the set's.
#[derive(Debug)]
pub struct ReadSet<'a> {
    set: ElementSet,
    out: ViewMut<'a>,
    options: DecodeOptions,
}

impl<'a> ReadSet<'a> {
    /// These elements, into these places of the memory.
    pub fn new(set: ElementSet, out: ViewMut<'a>, options: DecodeOptions) -> Self {
        Self { set, out, options }
    }

    /// The same for a while, after which this one can be used again.
    pub fn reborrow(&mut self) -> ReadSet<'_> {
        ReadSet { set: self.set.clone(), out: self.out.reborrow(), options: self.options }
    }

    /// Sets every element to these bytes.
    pub fn fill(&mut self, element: &[u8]) {
        self.out.fill_set(&self.set, element);
    }

    /// Takes the elements out of the decoded chunk.
    pub fn take(&mut self, chunk: &View<'_>) {
        self.out.gather(chunk, &self.set);
    }

    /// Takes the elements out of a chunk, of which `chunk` is the part that begins at `corner`.
    fn gather(&mut self, chunk: &View<'_>, corner: &[usize]) {
        self.out.gather(chunk, &self.set.relative_to(corner));
    }

    /// The same elements of a chunk whose axes are in another order.
    fn permuted(self, order: &[usize]) -> Self {
        Self { set: self.set.permuted(order), ..self }
    }

    /// The smallest box that has all elements; the chunk has this many dimensions.
    pub fn bounding_box(&self, ndim: usize) -> Dims<Span> {
        self.set.bounding_box(ndim)
    }

    /// The elements as a part, if they form a box.
    #[expect(clippy::result_large_err, reason = "the set is given back, to be used at once")]
    fn into_part(self) -> Result<ReadPart<'a>, Self> {
        match self.set.as_box() {
            Some((region, places)) => {
                Ok(ReadPart { region, out: self.out.into_region(&places), options: self.options })
            }
            None => Err(self),
        }
    }

    /// The elements as no more than `limit` parts, if that can be.
    #[expect(clippy::result_large_err, reason = "the set is given back, to be used at once")]
    fn into_parts(self, limit: usize) -> Result<Vec<ReadPart<'a>>, Self> {
        let Some(boxes) = self.set.boxes(limit) else { return Err(self) };
        // The memory has one axis for each of the set's; a box has one for each dimension of the chunk.
        let dims: Dims<usize> = self.set.axes.iter().flat_map(|axis| axis.dims()).copied().collect();
        let mut order: Dims<usize> = (0..dims.len()).collect();
        order.sort_by_key(|&axis| dims[axis]);
        let part = |(region, places): (Dims<Span>, Dims<Span>)| {
            // SAFETY: no two boxes of a set share a place in memory, and the set's own handle is given up.
            let mut out = unsafe { self.out.alias() }.into_region(&places);
            let mut at = 0;
            for axis in &self.set.axes {
                let count = axis.dims().len();
                out = match count {
                    0 => out.without_axis(at),
                    _ => (1..count).fold(out, |out, _| out.with_axis(at)),
                };
                at += count;
            }
            ReadPart { region, out: out.permuted(&order), options: self.options }
        };
        Ok(boxes.into_iter().map(part).collect())
    }

    /// Divides the elements among the inner chunks of the chunk, which are of this shape, in row-major order.
    pub fn divide<E>(
        self,
        shape: &[usize],
        mut visit: impl FnMut(&[usize], ReadSet<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.set.split(shape, |cell, set| {
            // SAFETY: no two parts of a set share a place in memory, each handle is used only for its own set's places, and
            // this one is given up.
            let out = unsafe { self.out.alias() };
            visit(cell, ReadSet { set, out, options: self.options })
        })
    }
}

impl CodecChain {
    /// What must be fetched of a stored chunk to read elements of it.
    pub fn read_set<'a>(&'a self, window: Window, set: ReadSet<'a>) -> Result<Vec<Fetch<'a>>, CodecError> {
        let set = match set.into_part() {
            Ok(part) => return self.read(window, part),
            Err(set) => set,
        };
        if let Some(order) = self.order_of_shard() {
            let (window, codecs) = self.unwrapped(window, set.options);
            let set = set.permuted(order);
            if codecs.is_empty() {
                return self.read_plain_set(window, set);
            }
            return Ok(Fetch::whole(window, |bytes| {
                self.with_decoded_bytes(bytes, codecs, |plain| {
                    resolve(self.read_plain_set(Window::of_size(plain.len() as u64), set)?, plain)
                })
            }));
        }
        if self.chunk().size() <= PARTS || !self.reads_parts(window, set.options) {
            return Ok(Fetch::whole(window, |bytes| self.decode_all(bytes, set)));
        }
        let region = set.bounding_box(self.chunk().shape().len());
        let size = counts(&region).iter().product::<usize>() * self.chunk().item();
        // Inner chunks would be decoded once for each part.
        let limit = if self.inner_chunk_shape().is_some() { 0 } else { size / RANGE };
        match set.into_parts(limit) {
            Ok(parts) => self.read_several(window, parts),
            Err(set) => {
                // What is nearly all goes straight into memory as all.
                let region = if size > self.chunk().size() / 4 * 3 { whole(self.chunk()) } else { region };
                Ok(vec![Fetch::staged(window, Gather { chain: self, window, region, set, elements: None })])
            }
        }
    }

    /// Reads elements of a chunk whose stored bytes are in memory.
    pub fn decode_set(&self, encoded: &[u8], set: ReadSet<'_>) -> Result<(), CodecError> {
        resolve(self.read_set(Window::of_size(encoded.len() as u64), set)?, encoded)
    }

    /// Decodes a whole chunk, and takes the elements out of it.
    fn decode_all(&self, encoded: &[u8], mut set: ReadSet<'_>) -> Result<(), CodecError> {
        let all = whole(self.chunk());
        let mut elements = Elements::new(self, self.chunk(), &all)?;
        self.decode(encoded, elements.part(self.chunk(), set.options, &all))?;
        set.gather(&elements.view(self.chunk(), &all), &Dims::from_elem(0, all.len()));
        Ok(())
    }
}

/// A part of a chunk that is read into memory of its own, out of which elements are taken then.
struct Gather<'a> {
    chain: &'a CodecChain,
    window: Window,
    region: Dims<Span>,
    set: ReadSet<'a>,
    elements: Option<Elements>,
}

impl Staged for Gather<'_> {
    fn size(&self) -> usize {
        counts(&self.region).iter().product::<usize>().saturating_mul(self.chain.chunk().item())
    }

    fn fetches(&mut self) -> Result<Vec<Fetch<'_>>, CodecError> {
        let chunk = self.chain.chunk();
        let elements = self.elements.insert(Elements::new(self.chain, chunk, &self.region)?);
        self.chain.read(self.window, elements.part(chunk, self.set.options, &self.region))
    }

    fn finish(mut self: Box<Self>) -> Result<(), CodecError> {
        let Some(elements) = self.elements.take() else { return Ok(()) };
        let corner: Dims<usize> = self.region.iter().map(|span| span.start).collect();
        self.set.gather(&elements.view(self.chain.chunk(), &self.region), &corner);
        Ok(())
    }
}
