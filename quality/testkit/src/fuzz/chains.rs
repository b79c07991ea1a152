//! Codec chains that the input describes: its first bytes choose the type of the elements, the shape of the chunk and the codecs,
//! the rest is the encoded chunk.

use zarrox_core::codec::{ChunkSpec, CodecContext, CodecKind};
use zarrox_core::json::Json;
use zarrox_core::json::json;
use zarrox_core::{CodecChain, CodecSpec, DataType, Registry, Strictness};

use crate::codec::Random;
use crate::examples::EXAMPLES;
use crate::specimen::{LIMIT, Specimen};

/// The number of seeds.
const SEEDS: usize = 60;
/// The largest number of bytes that determine choices.
const CHOICES: usize = 24;
/// The largest number of consecutive codecs of one kind, for the kinds that may be repeated.
const ROW: usize = 2;

pub(super) fn run(registry: &Registry, input: &[u8]) {
    let mut rest = input;
    if let Some(specimen) = Choices(&mut rest).specimen(registry) {
        specimen.examine(registry, rest, &mut Random::of_input(rest));
    }
}

pub(super) fn seeds(registry: &Registry, random: &mut Random) -> Vec<Vec<u8>> {
    let attempts = (0..SEEDS * 100).filter_map(|_| {
        let bytes = random.bytes(CHOICES);
        let mut rest = &bytes[..];
        let specimen = Choices(&mut rest).specimen(registry)?;
        let choices = &bytes[..bytes.len() - rest.len()];
        Some([choices, &specimen.try_encoded(registry, random)?].concat())
    });
    attempts.take(SEEDS).collect()
}

/// The bytes that determine choices.
struct Choices<'b, 'i>(&'b mut &'i [u8]);

impl Choices<'_, '_> {
    /// Returns a number below `limit`; 0 if no bytes are left.
    fn below(&mut self, limit: usize) -> usize {
        let Some((&byte, rest)) = self.0.split_first() else { return 0 };
        *self.0 = rest;
        usize::from(byte) % limit.max(1)
    }

    fn of<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        let choice = self.below(items.len());
        items.get(choice).cloned()
    }

    /// Returns a chain and its chunks; `None` if the codecs do not fit together.
    fn specimen(&mut self, registry: &Registry) -> Option<Specimen> {
        let example = self.of(EXAMPLES)?;
        let data_type = example.data_type(registry).ok()?;
        let rank = self.below(4);
        let shape: Vec<u64> = (0..rank).map(|_| 1 + self.below(8) as u64).collect();
        let fill = registry.family(&data_type).ok()?.default_fill(&data_type);
        let chunk = ChunkSpec::new(&shape, data_type.storage(), fill).ok()?;
        let specs = self.codecs(registry, &data_type, &shape, 2);
        let context = CodecContext { chunk: &chunk, registry, strictness: Strictness::Lenient, limit: LIMIT };
        let chain = CodecChain::new(&specs, &context).ok()?;
        Some(Specimen::of_chain(data_type, chain))
    }

    /// Returns codecs for chunks of a shape; shards may be nested to this depth.
    fn codecs(
        &mut self,
        registry: &Registry,
        data_type: &DataType,
        shape: &[u64],
        depth: usize,
    ) -> Vec<CodecSpec> {
        let mut specs = self.row(registry, CodecKind::ArrayToArray);
        // `transpose` is added separately, since its order depends on the number of dimensions.
        specs.retain(|spec| spec.name != "transpose");
        if self.below(2) == 1 {
            let mut order: Vec<usize> = (0..shape.len()).collect();
            order.rotate_left(self.below(shape.len().max(1)));
            specs.insert(0, CodecSpec::new("transpose", json!({ "order": order })));
        }
        specs.extend(match self.below(3) {
            0 => self.one(registry, CodecKind::ArrayToBytes),
            1 if depth > 0 => Some(self.shards(registry, data_type, shape, depth)),
            _ => registry.family(data_type).ok().map(|family| {
                let little = || CodecSpec::new("bytes", json!({"endian": "little"}));
                family.default_codec(data_type).unwrap_or_else(little)
            }),
        });
        specs.extend(self.row(registry, CodecKind::BytesToBytes));
        specs
    }

    fn shards(
        &mut self,
        registry: &Registry,
        data_type: &DataType,
        shape: &[u64],
        depth: usize,
    ) -> CodecSpec {
        let divisor = |length: u64, choice: usize| {
            [1, 2, 3].into_iter().filter(|&d| length.is_multiple_of(d)).nth(choice)
        };
        let inner = shape.iter().map(|&length| length / divisor(length, self.below(2)).unwrap_or(1));
        let inner: Vec<u64> = inner.collect();
        let list = |specs: Vec<CodecSpec>| -> Vec<Json> {
            let codec = |spec: CodecSpec| json!({"name": spec.name, "configuration": spec.configuration});
            specs.into_iter().map(codec).collect()
        };
        let codecs = list(self.codecs(registry, data_type, &inner, depth - 1));
        let location = if self.below(2) == 0 { "start" } else { "end" };
        let configuration = json!({
            "chunk_shape": inner, "codecs": codecs, "index_codecs": ["bytes"], "index_location": location,
        });
        CodecSpec::new("sharding_indexed", configuration)
    }

    fn row(&mut self, registry: &Registry, kind: CodecKind) -> Vec<CodecSpec> {
        (0..self.below(ROW + 1)).filter_map(|_| self.one(registry, kind)).collect()
    }

    /// Returns a codec of a kind, from one of the examples.
    fn one(&mut self, registry: &Registry, kind: CodecKind) -> Option<CodecSpec> {
        let of_kind = |codec: &str| registry.codec(codec).is_ok_and(|def| def.kind == kind);
        let examples: Vec<_> = EXAMPLES.iter().filter(|example| of_kind(example.codec)).collect();
        self.of(&examples)?.spec().ok()
    }
}
