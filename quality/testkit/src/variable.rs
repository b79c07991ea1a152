//! The suite that every codec for elements of variable length passes.

#![expect(clippy::unwrap_used, reason = "a suite panics where a promise is broken")]

use zarrox_core::codec::{ChunkSpec, CodecContext, CodecError, EncodeOptions, ReadRegion, Window};
use zarrox_core::data_type::Storage;
use zarrox_core::internals::codec::{Update, WritePart, resolve};
use zarrox_core::internals::selection::partition::positions;
use zarrox_core::internals::vlen::VlenRef;
use zarrox_core::json::Json;
use zarrox_core::strided::{Dims, Span, View, ViewMut, VlenBuffer};
use zarrox_core::{CodecChain, CodecSpec, FillValue, Registry, Strictness};

use crate::codec::Random;

type Elements = Vec<Vec<u8>>;

/// Checks a codec chain for elements that `element` creates, in every way that does not depend on its format. Different elements
/// must have different bytes.
pub fn variable_suite(registry: &Registry, specs: &[CodecSpec], element: impl Fn(&mut Random) -> Vec<u8>) {
    let mut random = Random::new(3);
    for shape in [&[][..], &[1], &[7], &[4, 6], &[2, 3, 4]] {
        let chunk = ChunkSpec::new(shape, Storage::Variable, FillValue::new(element(&mut random))).unwrap();
        let context =
            CodecContext { chunk: &chunk, registry, strictness: Strictness::Lenient, limit: 64 << 20 };
        let chain = CodecChain::new(specs, &context).unwrap();
        let case = Case { chain, element: &element };
        for _ in 0..5 {
            let data = case.data(&mut random);
            let encoded = case.encode(&data);
            assert_eq!(case.decode(&encoded).unwrap(), data, "the decoded elements");
            case.regions(&data, &encoded, &mut random);
            case.malformed(&data, &encoded, &mut random);
        }
        case.updates(&mut random);
        case.configuration(registry);
    }
}

struct Case<'e, F> {
    chain: CodecChain,
    element: &'e F,
}

const STORE_ALL: EncodeOptions = EncodeOptions { store_empty_chunks: true };

impl<F: Fn(&mut Random) -> Vec<u8>> Case<'_, F> {
    fn shape(&self) -> &[usize] {
        self.chain.chunk().shape()
    }

    fn fill(&self) -> Vec<u8> {
        self.chain.chunk().fill().as_bytes().to_vec()
    }

    fn data(&self, random: &mut Random) -> Elements {
        let count = self.shape().iter().product();
        let one = |_| if random.below(4) == 0 { self.fill() } else { (self.element)(random) };
        (0..count).map(one).collect()
    }

    fn encode(&self, data: &Elements) -> Vec<u8> {
        with_view(data, self.shape(), |chunk| {
            let mut encoded = vec![1, 2];
            assert!(self.chain.encode(&chunk, STORE_ALL, &mut encoded).unwrap());
            assert_eq!(encoded[..2], [1, 2], "encoding appends");
            let mut again = Vec::new();
            let skip = EncodeOptions { store_empty_chunks: false };
            let stored = self.chain.encode(&chunk, skip, &mut again).unwrap();
            assert_eq!(stored, data.iter().any(|element| *element != self.fill()), "a chunk of fill values");
            encoded.split_off(2)
        })
    }

    fn all(&self) -> Dims<Span> {
        self.shape().iter().map(|&length| Span::all(length)).collect()
    }

    fn decode(&self, encoded: &[u8]) -> Result<Elements, CodecError> {
        read(&self.all(), |part| self.chain.decode(encoded, part))
    }

    fn random_region(&self, random: &mut Random) -> Dims<Span> {
        let span = |&length: &usize| {
            let start = random.below(length);
            let step = 1 + random.below(length);
            Span { start, step, count: random.below((length - start).div_ceil(step) + 1) }
        };
        self.shape().iter().map(span).collect()
    }

    fn regions(&self, data: &Elements, encoded: &[u8], random: &mut Random) {
        let object = [random.bytes(9), encoded.to_vec(), random.bytes(3)].concat();
        let window = Window { offset: 9, length: Some(encoded.len() as u64) };
        for _ in 0..10 {
            let region = self.random_region(random);
            let expected = positions(&region, self.shape()).into_iter().map(|at| data[at].clone());
            let found = read(&region, |part| resolve(self.chain.read(window, part)?, &object));
            assert_eq!(found.unwrap(), expected.collect::<Elements>(), "region {region:?}");
        }
    }

    fn updates(&self, random: &mut Random) {
        let mut data: Elements = vec![self.fill(); self.shape().iter().product()];
        let mut stored: Option<Vec<u8>> = None;
        for _ in 0..10 {
            let region = self.random_region(random);
            let places = positions(&region, self.shape());
            let new: Elements = places.iter().map(|_| (self.element)(random)).collect();
            let counts: Dims<usize> = region.iter().map(|span| span.count).collect();
            let mut encoded = Vec::new();
            with_view(&new, &counts, |source| {
                let part = WritePart::of_region(region.clone(), source);
                match self.chain.update(stored.as_deref(), &part, STORE_ALL, &mut encoded).unwrap() {
                    Update::Encoded => stored = Some(encoded),
                    update => assert_eq!(update, Update::Unchanged),
                }
            });
            places.iter().zip(new).for_each(|(&place, element)| data[place] = element);
            assert_eq!(self.decode(stored.as_deref().unwrap()).unwrap(), data, "update {region:?}");
        }
    }

    fn malformed(&self, data: &Elements, encoded: &[u8], random: &mut Random) {
        let right_or_error = |bytes: &[u8], what: &str| {
            let right = self.decode(bytes).is_ok_and(|decoded| decoded != *data);
            assert!(!right, "{what}: wrong elements instead of an error");
        };
        for length in 0..encoded.len().min(200) {
            right_or_error(&encoded[..length], "truncated");
        }
        right_or_error(&[encoded, &random.bytes(5)].concat(), "extended");
        for _ in 0..100 {
            let mut damaged = encoded.to_vec();
            let at = random.below(damaged.len());
            damaged[at] ^= 1 << random.below(8);
            if let Some(number) = damaged.get_mut(at..at + 4).filter(|_| random.below(3) == 0) {
                number.copy_from_slice(&[0xff; 4]);
            }
            let _ = self.decode(&damaged);
        }
    }

    fn configuration(&self, registry: &Registry) {
        let specs = self.chain.specs();
        let context = CodecContext {
            chunk: self.chain.chunk(),
            registry,
            strictness: Strictness::Strict,
            limit: 64 << 20,
        };
        assert_eq!(CodecChain::new(&specs, &context).unwrap().specs(), specs, "the complete configuration");
        let mut unknown = specs;
        unknown[0].configuration.insert("nosuch".to_owned(), Json::from(1));
        let error = CodecChain::new(&unknown, &context).unwrap_err().to_string();
        assert!(error.contains("nosuch"), "an unknown member is named: {error}");
        let fixed = ChunkSpec::new(&[4], Storage::Uint(2), FillValue::zero(2)).unwrap();
        let context = CodecContext { chunk: &fixed, ..context };
        let error = CodecChain::new(&self.chain.specs(), &context).unwrap_err().to_string();
        assert!(error.contains("fixed"), "elements of a fixed length are an error: {error}");
    }
}

/// Passes elements as a view.
fn with_view<R>(elements: &Elements, shape: &[usize], work: impl FnOnce(View<'_>) -> R) -> R {
    let vlen = VlenBuffer::new();
    let mut memory = vec![0; elements.len() * VlenRef::SIZE];
    let mut view = ViewMut::contiguous(&mut memory, shape, VlenRef::SIZE).with_vlen(&vlen);
    view.set_elements(elements.concat(), elements.iter().map(Vec::len)).unwrap();
    work(View::contiguous(&memory, shape, VlenRef::SIZE).with_vlen(&vlen))
}

/// Returns the elements of a region that `work` reads.
fn read(
    region: &Dims<Span>,
    work: impl FnOnce(ReadRegion<'_>) -> Result<(), CodecError>,
) -> Result<Elements, CodecError> {
    let vlen = VlenBuffer::new();
    let shape: Dims<usize> = region.iter().map(|span| span.count).collect();
    let mut memory = vec![0; shape.iter().product::<usize>() * VlenRef::SIZE];
    let out = ViewMut::contiguous(&mut memory, &shape, VlenRef::SIZE).with_vlen(&vlen);
    work(ReadRegion::new(region.clone(), out))?;
    Ok(memory.chunks_exact(VlenRef::SIZE).map(|reference| vlen.element(reference).to_vec()).collect())
}
