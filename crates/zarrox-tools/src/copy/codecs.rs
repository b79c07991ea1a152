//! Codecs that the target format supports, as similar as possible to those of the source.

use zarrox_core::codec::{CHUNK_LIMIT, CodecKind};
use zarrox_core::json::Json;
use zarrox_core::{ArrayMetadata, ChunkGrid, CodecSpec, Registry, Strictness};

use super::translator::Translator;
use zarrox::Array;

/// A chunk grid and codecs to try.
pub(super) struct Candidate {
    pub(super) grid: ChunkGrid,
    pub(super) codecs: Vec<CodecSpec>,
    /// The difference from the source, if there is one.
    pub(super) note: Option<String>,
}

/// Returns the shortest codec pipelines for the array's elements: with its own array→bytes codec, and with the codec `bytes`.
pub(super) fn simplest(array: &Array, registry: &Registry) -> Vec<Vec<CodecSpec>> {
    let (_, codecs) = unsharded(array, registry, CHUNK_LIMIT);
    let own = codecs.into_iter().find(|spec| kind(spec, registry) == Some(CodecKind::ArrayToBytes));
    let plain = match array.data_type().storage().word() {
        1 => CodecSpec::new("bytes", Json::Null),
        _ => zarrox_codecs::Bytes::little().into(),
    };
    own.into_iter().chain([plain]).map(|spec| vec![spec]).collect()
}

/// Returns the codec pipelines to try, the most similar ones first: unchanged; without shards; without codecs that the target
/// lacks; with the target's own compressor; without compression.
pub(super) fn candidates(
    array: &Array,
    plain: &ArrayMetadata,
    translator: &Translator<'_>,
) -> Vec<Candidate> {
    let own = if translator.in_place { array.codecs() } else { plain_codecs(array) };
    let grid = array.metadata().chunk_grid.clone();
    let mut candidates = vec![Candidate { grid, codecs: own.clone(), note: None }];
    if translator.in_place {
        return candidates;
    }
    let (grid, whole) = unsharded(array, translator.registry, translator.chunk_limit);
    let resharded = grid != array.metadata().chunk_grid;
    let (grid, regular) = sayable(grid, plain, translator);
    let (kept, dropped) = split(&whole, plain, translator);
    let mut push = |codecs: Vec<CodecSpec>| {
        let shards = if resharded { "the inner chunks of shards become separate chunks; " } else { "" };
        let note = format!("{shards}{regular}{}", note(&own, &codecs));
        candidates.push(Candidate { grid: grid.clone(), codecs, note: Some(note) });
    };
    push(whole);
    let compresses = |codecs: &[CodecSpec]| {
        codecs.iter().any(|spec| kind(spec, translator.registry) == Some(CodecKind::BytesToBytes))
    };
    let compressor = translator.to.def().default_compressor(array.data_type().encoded_item());
    if compresses(&dropped) && !compresses(&kept) {
        push(kept.iter().cloned().chain([compressor.clone()]).collect());
    }
    push(kept);
    push(plain.codecs.iter().cloned().chain([compressor]).collect());
    push(plain.codecs.clone());
    candidates
}

/// Splits codecs into those that the target supports and those that it does not support.
fn split(
    codecs: &[CodecSpec],
    plain: &ArrayMetadata,
    translator: &Translator<'_>,
) -> (Vec<CodecSpec>, Vec<CodecSpec>) {
    let registry = translator.registry;
    let says = |spec: &CodecSpec| {
        let chain = match kind(spec, registry) {
            Some(CodecKind::ArrayToArray) => [std::slice::from_ref(spec), &plain.codecs].concat(),
            Some(CodecKind::ArrayToBytes) => vec![spec.clone()],
            Some(CodecKind::BytesToBytes) => [&plain.codecs, std::slice::from_ref(spec)].concat(),
            None => return false,
        };
        translator.says_array(&ArrayMetadata { codecs: chain, ..plain.clone() }).is_ok()
    };
    let (mut kept, dropped): (Vec<CodecSpec>, Vec<CodecSpec>) = codecs.iter().cloned().partition(says);
    if !kept.iter().any(|spec| kind(spec, registry) == Some(CodecKind::ArrayToBytes)) {
        let arrays =
            kept.iter().take_while(|spec| kind(spec, registry) == Some(CodecKind::ArrayToArray)).count();
        kept.splice(arrays..arrays, plain.codecs.iter().cloned());
    }
    (kept, dropped)
}

/// Returns the grid if the target supports it, and otherwise a regular grid with the shape of the largest chunk, with a note
/// about the change.
fn sayable(grid: ChunkGrid, plain: &ArrayMetadata, translator: &Translator<'_>) -> (ChunkGrid, &'static str) {
    if translator.says_array(&ArrayMetadata { chunk_grid: grid.clone(), ..plain.clone() }).is_ok() {
        return (grid, "");
    }
    match ChunkGrid::regular(grid.largest_chunk(), &plain.shape) {
        Ok(regular) => (regular, "all chunks become as large as the largest; "),
        Err(_) => (grid, ""),
    }
}

fn note(own: &[CodecSpec], codecs: &[CodecSpec]) -> String {
    if own == codecs {
        return "the codecs are unchanged".to_owned();
    }
    let list = |codecs: &[CodecSpec]| codecs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    format!("the codecs {} become {}", list(own), list(codecs))
}

/// Returns the codecs without those that the source's format itself adds to every chunk.
fn plain_codecs(array: &Array) -> Vec<CodecSpec> {
    array.metadata().format.def().plain_codecs(array.codecs())
}

pub(super) fn kind(spec: &CodecSpec, registry: &Registry) -> Option<CodecKind> {
    registry.codec(&spec.name).ok().map(|def| def.kind)
}

/// Returns the array without shards: the grid and the codecs of its innermost chunks.
fn unsharded(array: &Array, registry: &Registry, chunk_limit: usize) -> (ChunkGrid, Vec<CodecSpec>) {
    let mut metadata = ArrayMetadata { codecs: plain_codecs(array), ..array.metadata().clone() };
    while let Some((grid, codecs)) = without_outer_shards(&metadata, registry, chunk_limit) {
        (metadata.chunk_grid, metadata.codecs) = (grid, codecs);
    }
    (metadata.chunk_grid, metadata.codecs)
}

/// Returns the grid and the codecs of an array with the inner chunks of its shards as separate chunks; `None` if the array has no
/// shards.
pub(super) fn without_outer_shards(
    metadata: &ArrayMetadata,
    registry: &Registry,
    chunk_limit: usize,
) -> Option<(ChunkGrid, Vec<CodecSpec>)> {
    let chain = metadata.chain(registry, Strictness::Lenient, chunk_limit).ok()?;
    let shape: Vec<u64> = chain.inner_chunk_shape()?.into_iter().map(|length| length as u64).collect();
    let (at, inner) =
        chain.specs().iter().enumerate().find_map(|(at, spec)| Some((at, inner_codecs(spec)?)))?;
    let codecs = chain.specs().into_iter().take(at).chain(inner).collect();
    Some((ChunkGrid::regular(shape, &metadata.shape).ok()?, codecs))
}

/// Returns the codecs of the inner chunks of a codec, if it has inner chunks.
fn inner_codecs(spec: &CodecSpec) -> Option<Vec<CodecSpec>> {
    spec.configuration.get("chunk_shape")?;
    spec.configuration.get("codecs")?.as_array()?.iter().map(CodecSpec::from_json).collect()
}
