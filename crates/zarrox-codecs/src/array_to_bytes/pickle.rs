//! `pickle`: Python objects in Python's pickle format. The codec is known only by name, so that the error can state why it is not
//! supported: unpickling executes code from the data.
//!
//! Names: `numcodecs.pickle`, `pickle` in v3; `pickle` in v2.

use zarrox_core::codec::{CodecDef, CodecError, CodecKind};
use zarrox_core::internals::data_type::PICKLE;

/// The definition of `pickle`. Creating the codec always fails.
pub(crate) static DEF: CodecDef =
    CodecDef::new("numcodecs.pickle", CodecKind::ArrayToBytes, |_, _| Err(refused()))
        .aliases(&["pickle"])
        .v2_id("pickle")
        .with_from_v2(|_, _| Err(refused()))
        .with_to_v2(|_| Err(refused()));

fn refused() -> CodecError {
    CodecError::unsupported(PICKLE)
}

#[cfg(test)]
mod tests {
    use zarrox_core::ErrorKind;
    use zarrox_core::Strictness;
    use zarrox_core::data_type::Storage;
    use zarrox_core::json::json;
    use zarrox_testkit::errors::assert_error;

    use crate::testing::{chain, chunk, spec};
    use crate::{Sharding, registry};

    #[test]
    fn pickle_is_rejected_in_all_pipelines() {
        let pickle = spec("numcodecs.pickle", json!({"protocol": 5}));
        let chains = [
            vec![pickle.clone()],
            vec![spec("pickle", json!({}))],
            vec![spec("bytes", json!({"endian": "little"})), pickle.clone()],
            vec![Sharding::new([2], [pickle]).into()],
        ];
        for (index, specs) in chains.into_iter().enumerate() {
            let storages = [Storage::Uint(2), Storage::Variable];
            // `bytes` does not accept objects.
            for storage in storages.into_iter().filter(|storage| index != 2 || *storage == Storage::Uint(2)) {
                let error =
                    chain(&specs, &chunk(&[4], storage), &registry(), Strictness::Lenient).unwrap_err();
                let error = error.to_string();
                assert!(
                    error.contains("codec 'numcodecs.pickle': reading pickled objects is not safe"),
                    "{error}"
                );
                assert!(error.contains("rewrite the array with zarr-python"), "{error}");
            }
        }
        let members = zarrox_core::json::Map::default();
        let def = registry().codec_from_v2("pickle", &members).unwrap();
        for refused in [(def.from_v2)(&members, 16), (def.to_v2)(&members)] {
            assert_error(refused, ErrorKind::Unsupported, "pickle");
        }
    }
}
