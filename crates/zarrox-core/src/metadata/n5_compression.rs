//! The member `compression` of N5, whose own members have different names from those of Zarr's codecs.

use crate::json::json;

use super::members::wrong;
use crate::codec::{CodecKind, CodecSpec};
use crate::error::{Error, Result};
use crate::json::{Json, Map};
use crate::registry::Registry;

/// Returns the codec for a `compression` member, for elements of `item` bytes; `None` for `raw`.
pub(super) fn from_json(mut members: Map, item: usize, registry: &Registry) -> Result<Option<CodecSpec>> {
    let name = match members.remove("type") {
        Some(Json::String(name)) => name,
        Some(other) => return Err(wrong("type", "a string", &other).at("compression")),
        None => return Err(Error::metadata("the member 'type' is missing").at("compression")),
    };
    let mut take = |name: &str, default: Json| members.remove(name).unwrap_or(default);
    // In the form of v2 and numcodecs.
    let (id, members) = match name.as_str() {
        "raw" => return Ok(None),
        "gzip" => {
            let id = if take("useZlib", Json::Bool(false)) == Json::Bool(true) { "zlib" } else { "gzip" };
            let level = take("level", json!(-1));
            // The default of Java's zlib.
            (id, json!({"level": if level == json!(-1) { json!(6) } else { level }}))
        }
        "bzip2" => ("bz2", json!({"level": take("blockSize", json!(9))})),
        "xz" => ("lzma", json!({"format": 1, "preset": take("preset", json!(6))})),
        "blosc" => {
            let defaults = json!({"cname": "blosclz", "clevel": 6, "shuffle": 0, "blocksize": 0});
            let given = defaults.as_object().into_iter().flatten();
            let given = given.map(|(name, default)| (name.clone(), take(name, default.clone())));
            ("blosc", given.collect::<Map>().into())
        }
        "zstd" => ("zstd", json!({"level": take("level", json!(3))})),
        // zarr-python 2 writes numcodecs' framing, with an additional member.
        "lz4" if !members.contains_key("acceleration") => {
            let block_size = members.remove("blockSize").unwrap_or(json!(65536));
            return Ok(Some(CodecSpec::new("n5_lz4", json!({"blockSize": block_size}))));
        }
        other => (other, members.into()),
    };
    let mut codec = members.as_object().cloned().unwrap_or_default();
    codec.insert("id".to_owned(), id.into());
    let (kind, spec) = registry.spec_from_v2(&codec.into(), item).map_err(|error| error.at("compression"))?;
    if kind != CodecKind::BytesToBytes {
        return Err(Error::metadata(format!("unknown compressor '{name}'")).at("compression"));
    }
    Ok(Some(spec))
}

/// Returns the `compression` member for a codec.
pub(super) fn to_json(codec: &CodecSpec) -> Result<Json> {
    let get = |name: &str| codec.configuration.get(name).cloned().unwrap_or(Json::Null);
    let refused = || {
        Err(Error::unsupported(format!(
            "N5 does not support the codec '{codec}'; its compressors are gzip, numcodecs.zlib, numcodecs.bz2, numcodecs.lzma \
             (.xz, of a preset), n5_lz4, blosc and zstd (without a checksum)"
        )))
    };
    Ok(match codec.name.as_str() {
        "gzip" => json!({"type": "gzip", "level": get("level"), "useZlib": false}),
        "numcodecs.zlib" => json!({"type": "gzip", "level": get("level"), "useZlib": true}),
        "numcodecs.bz2" => json!({"type": "bzip2", "blockSize": get("level")}),
        "numcodecs.lzma" => {
            let checked = [json!(-1), json!(4)].contains(&get("check"));
            if get("format") != json!(1) || !checked || !get("filters").is_null() {
                return refused();
            }
            let preset = get("preset");
            json!({"type": "xz", "preset": if preset.is_null() { json!(6) } else { preset }})
        }
        "n5_lz4" => json!({"type": "lz4", "blockSize": get("blockSize")}),
        "blosc" => {
            let shuffle = match get("shuffle").as_str() {
                Some("noshuffle") => 0,
                Some("shuffle") => 1,
                _ => 2,
            };
            json!({
                "type": "blosc",
                "cname": get("cname"),
                "clevel": get("clevel"),
                "shuffle": shuffle,
                "blocksize": get("blocksize"),
            })
        }
        "zstd" if get("checksum") != json!(true) => json!({"type": "zstd", "level": get("level")}),
        _ => return refused(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_without_codecs(compression: &Json) -> Result<Option<CodecSpec>> {
        from_json(compression.as_object().cloned().unwrap_or_default(), 2, &Registry::new())
    }

    #[test]
    fn lz4_has_a_framing_of_its_own_unless_numcodecs_wrote_it() {
        assert_eq!(read_without_codecs(&json!({"type": "raw"})).unwrap(), None);
        let n5 = read_without_codecs(&json!({"type": "lz4"})).unwrap().unwrap();
        assert_eq!(n5.to_string(), "n5_lz4(blockSize=65536)");
        let numcodecs = json!({"type": "lz4", "id": "lz4", "acceleration": 1});
        let error = read_without_codecs(&numcodecs).unwrap_err().to_string();
        assert!(error.contains("unknown codec 'lz4'"), "the name of numcodecs is looked up: {error}");
    }

    #[test]
    fn malformed_compressions_say_where() {
        for (compression, named) in
            [(json!({}), "'type'"), (json!({"type": 3}), "'type'"), (json!({"type": "zip"}), "zip")]
        {
            let error = read_without_codecs(&compression).unwrap_err().to_string();
            assert!(error.contains("compression") && error.contains(named), "{error}");
        }
    }

    #[test]
    fn codecs_without_a_word_in_n5_are_refused_by_name() {
        let codecs = [
            ("crc32c", json!({})),
            ("numcodecs.lz4", json!({"acceleration": 1})),
            ("zstd", json!({"level": 1, "checksum": true})),
            ("numcodecs.lzma", json!({"format": 2, "check": -1, "preset": null, "filters": null})),
            ("numcodecs.lzma", json!({"format": 1, "check": 10, "preset": null, "filters": null})),
            ("numcodecs.lzma", json!({"format": 1, "check": -1, "preset": null, "filters": [{"id": 33}]})),
        ];
        for (name, configuration) in codecs {
            let error = to_json(&CodecSpec::new(name, configuration)).unwrap_err().to_string();
            assert!(error.contains(&format!("N5 does not support the codec '{name}")), "{error}");
        }
        let xz = json!({"format": 1, "check": 4, "preset": null, "filters": null});
        assert_eq!(
            to_json(&CodecSpec::new("numcodecs.lzma", xz)).unwrap(),
            json!({"type": "xz", "preset": 6})
        );
    }
}
