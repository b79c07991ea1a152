//! The bytes→bytes codecs of numcodecs, in both spellings: the defaults of its metadata, its written metadata, and its chunks.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first failure")]

use zarrox_codecs::registry;
use zarrox_core::Strictness;
use zarrox_core::codec::{BytesToBytes, ChunkSpec, Codec, CodecContext, CodecDef};
use zarrox_core::data_type::Storage;
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::{FillValue, Registry};

fn members(json: Json) -> Map {
    match json {
        Json::Object(map) => map,
        other => panic!("{other}"),
    }
}

/// Creates a codec for elements of two bytes.
fn make(registry: &Registry, def: &CodecDef, configuration: &Map, mode: Strictness) -> Box<dyn BytesToBytes> {
    let chunk = ChunkSpec::new(&[6], Storage::Uint(2), FillValue::zero(2)).unwrap();
    let context = CodecContext { chunk: &chunk, registry, strictness: mode, limit: 1 << 20 };
    match (def.create)(configuration, &context).unwrap_or_else(|e| panic!("{}: {e}", def.name)) {
        Codec::BytesToBytes(codec) => codec,
        other => panic!("{other:?}"),
    }
}

/// Returns the v2 metadata of a codec.
fn written(registry: &Registry, codec: &dyn BytesToBytes, def: &CodecDef) -> Json {
    let def = registry.codec(codec.name().unwrap_or(def.name)).unwrap();
    let mut written = members(json!({"id": def.v2_id}));
    written.extend((def.to_v2)(&codec.configuration()).unwrap());
    written.into()
}

/// Returns the results of `numcodecs.….get_config()` of version 0.15.1 and 0.17.1. Only zstd's `checksum: false` is omitted: older
/// readers do not know it, so zarr-python does not write it.
fn configurations() -> Vec<Json> {
    let lzma1 = 0x4000_0000_0000_0001_u64;
    let all = json!([
        {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0},
        {"id": "blosc", "cname": "zstd", "clevel": 9, "shuffle": 2, "blocksize": 4096},
        {"id": "lz4", "acceleration": 1},
        {"id": "zstd", "level": 0},
        {"id": "zstd", "level": -5, "checksum": true},
        {"id": "zlib", "level": 1},
        {"id": "gzip", "level": 1},
        {"id": "bz2", "level": 1},
        {"id": "lzma", "format": 1, "check": -1, "preset": null, "filters": null},
        {"id": "lzma", "format": 1, "check": 10, "preset": 2_147_483_657_u32, "filters": null},
        {"id": "lzma", "format": 2, "check": -1, "preset": 1, "filters": null},
        {"id": "lzma", "format": 3, "check": -1, "preset": null, "filters": [{"id": lzma1}]},
        {"id": "lzma", "format": 3, "check": 0, "preset": null, "filters": [
            {"id": 3, "dist": 256}, {"id": 4, "start_offset": 0}, {"id": 33, "preset": 1}]},
        {"id": "lzma", "format": 3, "check": -1, "preset": null, "filters": [
            {"id": 3},
            {"id": 33, "dict_size": 65536, "lc": 0, "lp": 2, "pb": 0, "mode": 1, "nice_len": 32, "mf": 4, "depth": 8}]},
        {"id": "shuffle", "elementsize": 4},
        {"id": "base64"},
        {"id": "crc32"},
        {"id": "crc32", "location": "end"},
        {"id": "adler32"},
        {"id": "adler32", "location": "start"},
        {"id": "crc32c"},
        {"id": "crc32c", "location": "start"},
        {"id": "fletcher32"},
        {"id": "jenkins_lookup3", "initval": 0, "prefix": null},
    ]);
    let known = |json: &&Json| cfg!(feature = "blosc") || json["id"] != "blosc";
    all.as_array().unwrap().iter().filter(known).cloned().collect()
}

/// Returns true if the features of this build leave the codec out.
fn left_out(registry: &Registry, id: &str) -> bool {
    !registry.codecs().iter().any(|def| def.v2_id == Some(id))
}

#[test]
fn v2_is_written_as_numcodecs_writes_it() {
    let registry = registry();
    for expected in configurations() {
        let mut map = members(expected.clone());
        let Some(Json::String(id)) = map.remove("id") else { panic!("{expected}") };
        if left_out(&registry, &id) {
            continue;
        }
        let def = registry.codec_from_v2(&id, &map).unwrap();
        let configuration = (def.from_v2)(&map, 2).unwrap();
        let codec = make(&registry, def, &configuration, Strictness::Strict);
        assert_eq!(written(&registry, &*codec, def), expected);
    }
}

#[test]
fn what_is_left_out_has_numcodecs_defaults() {
    let registry = registry();
    let mut ids: Vec<String> = Vec::new();
    for expected in configurations() {
        // The first configuration of each codec has the defaults.
        let id = expected["id"].as_str().unwrap().to_owned();
        if ids.contains(&id) || left_out(&registry, &id) {
            continue;
        }
        let v2 = registry.codec_from_v2(&id, &Map::default()).unwrap();
        let configuration = (v2.from_v2)(&Map::default(), 2).unwrap();
        let from_v2 = make(&registry, v2, &configuration, Strictness::Strict);
        assert_eq!(written(&registry, &*from_v2, v2), expected, "v2");
        // zarr-python uses the size of the elements if v3 has none.
        let members_of_v3 = if id == "shuffle" { json!({"elementsize": 4}) } else { json!({}) };
        let v3 = registry.codec(&format!("numcodecs.{id}")).unwrap();
        let from_v3 = make(&registry, v3, &members(members_of_v3), Strictness::Lenient);
        assert_eq!(written(&registry, &*from_v3, v3), expected, "v3");
        ids.push(id);
    }
}

/// Chunks of zarr-python 3.4.2 with numcodecs 0.17.1: `zarr.create_array(…, shape=6, dtype="u2", compressors=X)` with the numbers
/// 1 to 6, where `X` is a codec of `zarr.codecs.numcodecs` without arguments. The stored configuration is empty, except for
/// shuffle.
const CHUNKS: &[(&str, &str)] = &[
    ("blosc", "020133010c0000000c0000001c000000010002000300040005000600"),
    ("lz4", "0c000000c0010002000300040005000600"),
    ("zlib", "78016364606260666061606560630000007c0016"),
    ("gzip", "1f8b080072f8016b04ff63646062606660616065606300007c481f900c000000"),
    ("bz2", "425a683131415926535931792c0b00000340007f002000221a63508600e72866f8bb9229c284818bc96058"),
    (
        "lzma",
        "fd377a585a000004e6d6b4460200210116000000742fe5a301000b01000200030004000500060000ae81e31dc5fc9d0f0001240ca618d8\
         d81fb6f37d010000000004595a",
    ),
    ("zstd", "28b52ffd200c610000010002000300040005000600"),
    ("adler32", "16007c00010002000300040005000600"),
    ("shuffle", "010203040506000000000000"),
    ("crc32", "7c481f90010002000300040005000600"),
    ("crc32c", "010002000300040005000600b19a482f"),
    ("fletcher32", "01000200030004000500060000150038"),
    ("jenkins_lookup3", "0100020003000400050006006fb98d25"),
];

#[test]
fn chunks_of_zarr_python() {
    let registry = registry();
    let numbers: Vec<u8> = (1..=6_u16).flat_map(u16::to_le_bytes).collect();
    for (id, chunk) in CHUNKS.iter().filter(|(id, _)| !left_out(&registry, id)) {
        let def = registry.codec(&format!("numcodecs.{id}")).unwrap();
        let codec = make(&registry, def, &Map::default(), Strictness::Lenient);
        let digits = chunk.as_bytes().chunks_exact(2);
        let chunk: Vec<u8> =
            digits.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect();
        let mut decoded = vec![0; 12];
        assert_eq!(codec.decode(&chunk, &mut decoded).unwrap_or_else(|e| panic!("{id}: {e}")), 12, "{id}");
        assert_eq!(decoded, numbers, "{id}");
    }
}

/// numcodecs clamps levels of Zstandard that are out of range.
#[cfg(feature = "zstd")]
#[test]
fn levels_beyond_the_greatest_are_the_greatest() {
    let registry = registry();
    for (level, taken) in [(23, 22), (100, 22), (22, 22), (-131_072, -131_072), (-200_000, -131_072)] {
        let def = registry.codec("zstd").unwrap();
        let v3 = (def.from_v2)(&members(json!({"level": level})), 2).unwrap();
        let codec = make(&registry, def, &v3, Strictness::Lenient);
        assert_eq!(codec.configuration()["level"], taken);
    }
}
