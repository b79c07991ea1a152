//! `msgpack2`: stores Python objects as a single MessagePack list. Its predecessor `msgpack` does not store the shape in the
//! list.
//!
//! Documentation: <https://numcodecs.readthedocs.io/en/stable/msgpacks.html>
//!
//! | member | value |
//! |---|---|
//! | `raw` | whether readers return stored strings as bytes |
//! | `use_single_float` | whether floats are stored in single precision |
//! | `use_bin_type` | whether bytes are stored as bytes rather than as strings |
//!
//! `msgpack` has `encoding` instead, which is `utf-8`. Names: `numcodecs.msgpack2`, `msgpack2` in v3; `msgpack2` in v2;
//! the names of `msgpack` have the same form. zarr-python 3 does not support these codecs in v3.

use zarrox_core::CodecSpec;
use zarrox_core::codec::{
    ArrayToBytes, ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind, EncodeOptions, ReadRegion,
    Size,
};
use zarrox_core::internals::msgpack::{Token, utf8};
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::View;

use crate::array_to_bytes::object_lists::{self, Trailer};
use crate::array_to_bytes::vlen;
use crate::config;

const NAME: &str = "numcodecs.msgpack2";

/// The definition of `msgpack2`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToBytes, create)
    .aliases(&["msgpack2"])
    .v2_id("msgpack2")
    .with_from_v2(|members, _| Ok(config::from_v2(members, defaults())));

/// The definition of `msgpack`.
pub(crate) static LEGACY: CodecDef =
    CodecDef::new("numcodecs.msgpack", CodecKind::ArrayToBytes, create_legacy)
        .aliases(&["msgpack"])
        .v2_id("msgpack")
        .with_from_v2(|members, _| Ok(config::from_v2(members, json!({"encoding": "utf-8"}))));

fn defaults() -> Json {
    json!({"raw": false, "use_single_float": false, "use_bin_type": true})
}

/// Stores Python objects as MessagePack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MsgPack2;

impl From<MsgPack2> for CodecSpec {
    fn from(_: MsgPack2) -> Self {
        Self::new(NAME, defaults())
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["raw", "use_single_float", "use_bin_type"])?;
    vlen::check_variable(context.chunk)?;
    let raw = config.boolean("raw", false)?;
    let single = config.boolean("use_single_float", false)?;
    let bin = config.boolean("use_bin_type", true)?;
    let configuration = json!({"raw": raw, "use_single_float": single, "use_bin_type": bin});
    Ok(Codec::ArrayToBytes(Box::new(MsgPackCodec {
        name: NAME,
        chunk: context.chunk.clone(),
        configuration: config::members(configuration),
        trailer: Trailer::TypeAndShape,
        raw,
        single,
        bin,
    })))
}

fn create_legacy(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["encoding"])?;
    vlen::check_variable(context.chunk)?;
    config.choice("encoding", &[("utf-8", ()), ("utf8", ())], ())?;
    Ok(Codec::ArrayToBytes(Box::new(MsgPackCodec {
        name: LEGACY.name,
        chunk: context.chunk.clone(),
        configuration: config::members(json!({"encoding": "utf-8"})),
        trailer: Trailer::Type,
        raw: false,
        single: false,
        bin: false,
    })))
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct MsgPackCodec {
    name: &'static str,
    chunk: ChunkSpec,
    configuration: Map,
    trailer: Trailer,
    raw: bool,
    single: bool,
    bin: bool,
}

impl MsgPackCodec {
    fn write<'t>(&self, token: Token<'t>) -> Result<Token<'t>, CodecError> {
        Ok(match token {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the configuration requests single precision"
            )]
            Token::F64(value) if self.single => Token::F32(value as f32),
            Token::Bytes(_) if !self.bin && !self.raw => {
                return Err(CodecError::unsupported(
                    "with this configuration, bytes would be read back as text; use msgpack2 with use_bin_type",
                ));
            }
            Token::Bytes(bytes) if !self.bin => Token::Text(bytes),
            Token::Text(text) => Token::Text(utf8(text)?.as_bytes()),
            other => other,
        })
    }

    fn read<'t>(&self, token: Token<'t>) -> Result<Token<'t>, CodecError> {
        Ok(match token {
            Token::Text(text) if self.raw => Token::Bytes(text),
            Token::Text(text) => Token::Text(utf8(text)?.as_bytes()),
            other => other,
        })
    }
}

impl ArrayToBytes for MsgPackCodec {
    fn configuration(&self) -> Map {
        self.configuration.clone()
    }

    fn encoded_size(&self) -> Size {
        Size::UNKNOWN
    }

    fn decode(&self, encoded: &[u8], part: ReadRegion<'_>) -> Result<(), CodecError> {
        let decoded =
            object_lists::decode(encoded, self.trailer, &self.chunk, part, |token| self.read(token));
        decoded.map_err(|e| e.in_codec(self.name))
    }

    fn encode(&self, chunk: &View<'_>, _: EncodeOptions, encoded: &mut Vec<u8>) -> Result<bool, CodecError> {
        encoded.append(&mut object_lists::encode(chunk, self.trailer, |token| self.write(token))?);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use zarrox_testkit::codec::Random;
    use zarrox_testkit::variable::variable_suite;

    use super::*;
    use crate::registry;
    use crate::testing::{hex, objects, spec};

    fn with(changes: Json) -> CodecSpec {
        let mut configuration = config::members(defaults());
        configuration.extend(config::members(changes));
        CodecSpec { name: NAME.to_owned(), configuration }
    }

    #[test]
    fn suite() {
        let values = |random: &mut Random| objects::random(random);
        variable_suite(&registry(), &[MsgPack2.into()], values);
        variable_suite(&registry(), &[spec("numcodecs.msgpack", json!({"encoding": "utf-8"}))], values);
        variable_suite(&registry(), &[MsgPack2.into(), crate::Zstd::level(1).into()], values);
        variable_suite(&registry(), &[with(json!({"raw": true, "use_bin_type": false}))], |random| {
            let mut bytes = Vec::new();
            let length = random.below(40);
            Token::Bytes(&random.bytes(length)).write(&mut bytes).unwrap();
            bytes
        });
    }

    #[test]
    fn golden() {
        // numcodecs 0.15.1 with msgpack 1.1: `MsgPack().encode(x)` of arrays of objects.
        let cases: [(&[u64], Json, &str); 2] = [
            (&[2, 3], json!(["a", "b", "c", "d", "e", "f"]), "9493a161a162a16393a164a165a166a27c4f920203"),
            (&[1], json!([{"a": [1.5, null]}]), "9381a16192cb3ff8000000000000c0a27c4f9101"),
        ];
        for (shape, values, bytes) in cases {
            let codec = MsgPack2.into();
            assert_eq!(objects::encode(&codec, shape, &values).unwrap(), hex(bytes));
            assert_eq!(objects::decode(&codec, shape, &hex(bytes)).unwrap(), values);
        }
    }

    #[test]
    fn options_say_what_bytes_and_floats_become() {
        let encode = |codec: &CodecSpec, element: &[u8]| {
            objects::encode_elements(codec, &[1], &[element.to_vec()]).map_err(|error| error.to_string())
        };
        let decode =
            |codec: &CodecSpec, list: &[u8]| objects::decode_elements(codec, &[1], list).unwrap().remove(0);
        let bytes = b"\xc4\x01x";
        assert_eq!(encode(&MsgPack2.into(), bytes).unwrap(), hex("93c40178a27c4f9101"));
        let raw = with(json!({"raw": true, "use_bin_type": false}));
        assert_eq!(encode(&raw, bytes).unwrap(), hex("93a178a27c4f9101"));
        assert_eq!(decode(&raw, &hex("93a178a27c4f9101")), bytes);
        for codec in [with(json!({"use_bin_type": false})), spec("numcodecs.msgpack", json!({}))] {
            assert!(encode(&codec, bytes).unwrap_err().contains("bytes would be read back as text"));
        }
        let single = with(json!({"use_single_float": true}));
        assert_eq!(encode(&single, b"\xcb\x3f\xf8\0\0\0\0\0\0").unwrap(), hex("93ca3fc00000a27c4f9101"));
        for text in [hex("93a1ffa27c4f9101"), hex("9381a1ff00a27c4f9101")] {
            let error = objects::decode_elements(&MsgPack2.into(), &[1], &text).unwrap_err().to_string();
            assert!(error.contains("element 0: a text is not UTF-8"), "{error}");
        }
        assert!(encode(&MsgPack2.into(), b"\xc0\xc0").unwrap_err().contains("element 0: 1 bytes follow"));
    }

    #[test]
    fn invalid_chunks_are_errors() {
        for (list, says) in [
            ("", "end inside"),
            ("c0", "expected a list"),
            ("ddffffffff", "has 4294967295 values"),
            ("93", "end inside"),
            ("93ddffffffffa27c4f9101", "end inside"),
            ("93c1a27c4f9101", "0xc1"),
            ("93c0a27c4f910100", "1 bytes follow"),
            ("93c0a27c4fddffffffff", "has 4294967295 values"),
        ] {
            let error = objects::decode(&MsgPack2.into(), &[1], &hex(list)).unwrap_err().to_string();
            assert!(
                error.starts_with("codec 'numcodecs.msgpack2': ") && error.contains(says),
                "{list}: {error}"
            );
        }
        let deep = [&[0x93][..], &[0x91; 1 << 20]].concat();
        let error = objects::decode(&MsgPack2.into(), &[1], &deep).unwrap_err().to_string();
        assert!(error.contains("512 deep"), "{error}");
    }
}
