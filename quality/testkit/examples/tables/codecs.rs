//! The rows of the codecs: their names and capabilities, which are determined by creating each codec from its example.

use std::fmt::Write;
use std::sync::Arc;

use zarrox::Strictness;
use zarrox::codec::{
    ArrayAccess, ArrayToArray, ArrayToBytes, BytesAccess, BytesToBytes, ChunkSpec, Codec, CodecContext,
    CodecDef, CodecKind, Fetch, ReadRegion, RegionRanges, Window,
};
use zarrox::codecs::ALL;
use zarrox::internals::codec::Sink;
use zarrox::json::Map;
use zarrox::stores::MemoryStore;
use zarrox::strided::{Span, ViewMut};
use zarrox::{ErrorKind, Format, OpenOptions, Registry, Result};
use zarrox_testkit::examples::{EXAMPLES, Example};

const INTRODUCTION: &str = "
## Codecs

The name in v3 is the name in `codecs` of `zarr.json`. The id in v2 is the id in `compressor` and `filters` of `.zarray`. Zarrox reads the other
names, but never writes them. A codec without an id is not a codec of v2: v2 stores its property in another member, such as `order`, or has no
equivalent. `v2_filter` is never stored in metadata: it represents a filter of a v2 array that receives bytes.

| name in v3 | other names | id in v2 | converts |
|---|---|---|---|
";

const ABILITIES: &str = "
### Capabilities

- **formats**: Zarrox writes arrays with the codec in these formats. It can read the codec in other formats, since the metadata of an array names its
  codecs.
- **a part is read**: what is read and decoded to read a part of a chunk.
  - *ranges*: only ranges of the stored bytes.
  - *blocks*, *inner chunks*: only the blocks or the inner chunks with elements of the part.
  - *elements*: the elements of the part, for which the next codec determines what is read.
  - *unverified*: what the next codec determines; the checksum is not verified.
  - *whole chunk*: the whole chunk.
- **a part is written**: what is encoded again to write a part of a chunk: the *inner chunks* with elements of the part, the *whole chunk*, or what the
  next codec determines.
- **in place**: decoding needs no additional memory and no copy.

| codec | formats | a part is read | a part is written | in place |
|---|---|---|---|---|
";

const WHOLE: &str = "whole chunk";

/// Prints both tables.
pub(crate) fn tables(registry: &Registry) -> Result<String> {
    let mut text = INTRODUCTION.to_owned();
    for definition in sorted() {
        text.push_str(&name_row(definition));
    }
    text.push_str(ABILITIES);
    for definition in sorted().filter(|definition| !is_refused(definition)) {
        text.push_str(&ability_row(definition, registry)?);
    }
    Ok(text)
}

fn sorted() -> impl Iterator<Item = &'static CodecDef> {
    let kinds = [CodecKind::ArrayToArray, CodecKind::ArrayToBytes, CodecKind::BytesToBytes];
    kinds.into_iter().flat_map(|kind| ALL.iter().copied().filter(move |definition| definition.kind == kind))
}

/// Returns true for names that are registered only to return an error with a reason.
fn is_refused(definition: &CodecDef) -> bool {
    !EXAMPLES.iter().any(|example| example.codec == definition.name)
        && (definition.to_v2)(&Map::default()).is_err_and(|e| e.kind() == ErrorKind::Unsupported)
}

fn name_row(definition: &CodecDef) -> String {
    let aliases: Vec<String> = definition.aliases.iter().map(|alias| format!("`{alias}`")).collect();
    let id = definition.v2_id.map_or(String::new(), |id| format!("`{id}`"));
    let turns = match definition.kind {
        _ if is_refused(definition) => "nothing: not supported",
        CodecKind::ArrayToArray => "arrays into arrays",
        CodecKind::ArrayToBytes => "an array into bytes",
        CodecKind::BytesToBytes => "bytes into bytes",
    };
    format!("| `{}` | {} | {id} | {turns} |\n", definition.name, aliases.join(", "))
}

fn ability_row(definition: &CodecDef, registry: &Registry) -> Result<String> {
    let examples: Vec<&Example> =
        EXAMPLES.iter().filter(|example| example.codec == definition.name).collect();
    let mut formats = Vec::new();
    for format in Format::all() {
        for example in &examples {
            if is_written(example, format, registry)? {
                formats.push(format.to_string());
                break;
            }
        }
    }
    formats.sort();
    let mut abilities: Vec<[&str; 3]> = Vec::new();
    for example in examples {
        let found = abilities_of(example, registry)?;
        if !abilities.contains(&found) {
            abilities.push(found);
        }
    }
    let column = |index: usize| {
        let mut words: Vec<&str> = Vec::new();
        let all = abilities.iter().map(|found| found[index]);
        all.for_each(|word| {
            if !words.contains(&word) {
                words.push(word);
            }
        });
        words.join(" or ")
    };
    let mut row = String::new();
    let written = write!(
        row,
        "| `{}` | {} | {} | {} | {} |",
        definition.name,
        formats.join(", "),
        column(0),
        column(1),
        column(2)
    );
    debug_assert!(written.is_ok(), "writing to a string succeeds");
    row.push('\n');
    Ok(row)
}

/// Returns true if an array of this format can have the codec.
fn is_written(example: &Example, format: Format, registry: &Registry) -> Result<bool> {
    let data_type = example.data_type(registry)?;
    let (spec, specs) = (example.spec()?, example.specs(registry)?);
    let options = OpenOptions::new().registry(registry.clone()).format(format);
    let builder = || {
        let builder = options.create_array((Arc::new(MemoryStore::new()), ""));
        builder.shape(example.shape).chunks(example.shape).data_type(data_type.clone())
    };
    let ways =
        [builder().codecs(specs), builder().compressor(spec.clone()), builder().no_compressor().filter(spec)];
    // The codec may be inside another one.
    let has = |codecs: String| {
        codecs.contains(&format!("name: {:?}", example.codec))
            || codecs.contains(&format!("{:?})", example.codec))
    };
    Ok(ways
        .into_iter()
        .any(|builder| builder.create().is_ok_and(|array| has(format!("{:?}", array.codecs())))))
}

/// Returns how a part is read and written, and whether decoding works in place.
fn abilities_of(example: &Example, registry: &Registry) -> Result<[&'static str; 3]> {
    let data_type = example.data_type(registry)?;
    let fill = registry.family(&data_type)?.default_fill(&data_type);
    let chunk = ChunkSpec::new(example.shape, data_type.storage(), fill)?.of_type(&data_type);
    let context = CodecContext { chunk: &chunk, registry, strictness: Strictness::Lenient, limit: 1 << 20 };
    let codec = (registry.codec(example.codec)?.create)(&example.spec()?.configuration, &context)?;
    Ok(match codec {
        Codec::ArrayToArray(codec) => of_arrays(&*codec, &chunk),
        Codec::ArrayToBytes(codec) => of_array_and_bytes(&*codec, &chunk)?,
        Codec::BytesToBytes(codec) => of_bytes(&*codec),
    })
}

fn of_arrays(codec: &dyn ArrayToArray, chunk: &ChunkSpec) -> [&'static str; 3] {
    let free = codec.permutation().is_some() || codec.decodes_unchanged();
    let part = if free || codec.encoded_region(&first_half(chunk)).is_some() { "elements" } else { WHOLE };
    [part, if part == WHOLE { WHOLE } else { "as the next codec" }, yes(free)]
}

fn of_array_and_bytes(codec: &dyn ArrayToBytes, chunk: &ChunkSpec) -> Result<[&'static str; 3]> {
    let in_place = yes(matches!(codec.access(), ArrayAccess::InPlace(_)));
    let ranges: &dyn RegionRanges = match codec.access() {
        ArrayAccess::Chunks(_) => return Ok(["inner chunks", "inner chunks", in_place]),
        ArrayAccess::Whole => return Ok([WHOLE, WHOLE, in_place]),
        ArrayAccess::Ranges(codec) => codec,
        ArrayAccess::InPlace(codec) => codec,
    };
    let region = first_half(chunk);
    let counts: Vec<usize> = region.iter().map(|span| span.count).collect();
    let mut memory = vec![0; counts.iter().product::<usize>() * chunk.item()];
    let size = codec.encoded_size().limit() as u64;
    let part = ReadRegion::new(region.into(), ViewMut::contiguous(&mut memory, &counts, chunk.item()));
    let fetches = ranges.read(Window::of_size(size), part)?;
    let fewer = fetches.iter().all(|fetch: &Fetch<'_>| {
        let length = fetch.range.within(size).map_or(u64::MAX, |(_, length)| length);
        !matches!(fetch.sink, Sink::Deferred(_)) && length < size
    });
    Ok([if fewer { "ranges" } else { WHOLE }, WHOLE, in_place])
}

fn of_bytes(codec: &dyn BytesToBytes) -> [&'static str; 3] {
    let framing = match codec.access() {
        BytesAccess::Framed(framed) => framed.framing(),
        _ => None,
    };
    let part = match codec.access() {
        _ if framing.is_some() => "unverified",
        BytesAccess::Ranges(_) => "blocks",
        _ => WHOLE,
    };
    [part, WHOLE, yes(framing.is_some())]
}

/// Returns the first half of a chunk along its first long dimension.
fn first_half(chunk: &ChunkSpec) -> Vec<Span> {
    let mut region: Vec<Span> = chunk.shape().iter().map(|&length| Span::all(length)).collect();
    if let Some(span) = region.iter_mut().find(|span| span.count > 1) {
        span.count /= 2;
    }
    region
}

fn yes(can: bool) -> &'static str {
    if can { "yes" } else { "" }
}
