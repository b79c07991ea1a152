//! Chunks written by other programs decode as they do in HDF5, and damaged chunks are errors.

use std::collections::BTreeSet;
use std::path::Path;

use base64::Engine as _;
use zarrox::ErrorKind;
use zarrox::json::{self, Json};

use super::*;

/// A stored chunk.
struct Chunk {
    name: String,
    filters: Vec<Filter>,
    mask: u32,
    item: usize,
    encoded: Vec<u8>,
    decoded: Vec<u8>,
}

fn number(json: &Json) -> u32 {
    json.as_u64().and_then(|number| u32::try_from(number).ok()).unwrap()
}

fn bytes(json: &Json) -> Vec<u8> {
    base64::engine::general_purpose::STANDARD.decode(json.as_str().unwrap()).unwrap()
}

fn filter(json: &Json) -> Filter {
    let parameters = json[1].as_array().unwrap().iter().map(number).collect();
    Filter { id: u16::try_from(number(&json[0])).unwrap(), name: None, is_optional: false, parameters }
}

fn chunks() -> Vec<Chunk> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filters");
    let text = std::fs::read(zarrox_testkit::corpus::unpacked(&directory).join("chunks.json")).unwrap();
    let all = json::parse_object(&text).unwrap();
    let of = |(name, chunks): (&String, &Json)| -> Vec<Chunk> {
        let chunk = |json: &Json| Chunk {
            name: name.clone(),
            filters: json["filters"].as_array().unwrap().iter().map(filter).collect(),
            mask: number(&json["mask"]),
            item: number(&json["item"]) as usize,
            encoded: bytes(&json["encoded"]),
            decoded: bytes(&json["decoded"]),
        };
        chunks.as_array().unwrap().iter().map(chunk).collect()
    };
    all.iter().flat_map(of).collect()
}

impl Chunk {
    fn decode(&self, encoded: Vec<u8>) -> Result<Vec<u8>> {
        Pipeline::new(&self.filters)?.decode(encoded, self.mask, self.decoded.len(), self.item)
    }

    fn check(&self) -> Result<()> {
        let size = self.decoded.len();
        Pipeline::new(&self.filters)?.check(&self.encoded, self.mask, size, self.item)
    }
}

#[test]
fn every_filter_has_the_bytes_of_hdf5() {
    let chunks = chunks();
    for chunk in &chunks {
        let decoded = chunk.decode(chunk.encoded.clone());
        let decoded = decoded.unwrap_or_else(|error| unreachable!("{}: {error}", chunk.name));
        assert!(decoded == chunk.decoded, "{}: the bytes differ", chunk.name);
        chunk.check().unwrap_or_else(|error| unreachable!("the check of {}: {error}", chunk.name));
    }
    let used: BTreeSet<u16> = chunks.iter().flat_map(|chunk| chunk.filters.iter().map(|f| f.id)).collect();
    let missing: Vec<u16> =
        ALL.iter().map(|definition| definition.id).filter(|id| !used.contains(id)).collect();
    assert_eq!(missing, [32022, 32023], "only filters that change nothing may lack chunks");
    assert!(chunks.len() > 800, "{}", chunks.len());
}

#[test]
fn codecs_decode_the_same_bytes() {
    let mut count = 0;
    for chunk in chunks().iter().filter(|chunk| chunk.mask == 0) {
        let Some(codecs) = Pipeline::new(&chunk.filters).unwrap().codecs(chunk.item) else { continue };
        let coded = codecs.into_iter().rev().fold(chunk.encoded.clone(), |bytes, spec| {
            let given = Given { size: None, limit: Given::limit(chunk.decoded.len()), item: chunk.item };
            coded::Coded::new(spec).unwrap().decode(&bytes, given).unwrap()
        });
        assert!(coded == chunk.decoded, "{}", chunk.name);
        count += 1;
    }
    assert!(count > 100, "{count}");
}

#[test]
fn damaged_chunks_are_errors_or_of_the_right_size() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below.max(1)
    };
    let (mut failed, mut count) = (0, 0);
    for chunk in chunks() {
        for _ in 0..40 {
            let mut encoded = chunk.encoded.clone();
            match random(4) {
                0 => encoded.truncate(random(encoded.len())),
                1 => encoded.extend([0xff; 9]),
                _ => {}
            }
            for _ in 0..random(5) {
                let at = random(encoded.len());
                // Half of the changes are near the start, which contains lengths and flags.
                let at = if random(2) == 0 { at } else { at.min(random(200)) };
                if let Some(byte) = encoded.get_mut(at) {
                    *byte = [0, 0xff, 0x80, *byte ^ 1, *byte ^ 0x40][random(5)];
                }
            }
            let mut filters = chunk.filters.clone();
            if random(3) == 0 {
                let index = random(filters.len());
                let parameters = &mut filters[index].parameters;
                let at = random(parameters.len());
                if let Some(parameter) = parameters.get_mut(at) {
                    *parameter = [0, 1, u32::MAX, *parameter ^ 1, *parameter << 8, 0x8000_0000][random(6)];
                }
            }
            let size = chunk.decoded.len();
            let filters = Pipeline::new(&filters);
            let checked =
                filters.clone().and_then(|filters| filters.check(&encoded, chunk.mask, size, chunk.item));
            let decoded = filters.and_then(|filters| filters.decode(encoded, chunk.mask, size, chunk.item));
            count += 1;
            let expected = decoded.as_ref().err().map(|error| error.kind());
            assert_eq!(checked.err().map(|error| error.kind()), expected, "the check of {}", chunk.name);
            match decoded {
                Ok(decoded) => assert_eq!(decoded.len(), size, "{}", chunk.name),
                Err(error) => {
                    let kinds = [ErrorKind::Corrupt, ErrorKind::Unsupported, ErrorKind::LimitExceeded];
                    assert!(kinds.contains(&error.kind()), "{}: {:?} {error}", chunk.name, error.kind());
                    failed += 1;
                }
            }
        }
    }
    assert!(failed > count / 5, "{failed} of {count}");
}

#[test]
fn unknown_filters_are_named() {
    for (id, name, wanted) in [
        (32018, None, "unsupported filter 32018 (FCIDECOMP)"),
        (32017, None, "unsupported filter 32017 (SZ)"),
        (32020, Some("vbz of a file"), "unsupported filter 32020 (vbz of a file)"),
        (444, Some(" "), "unsupported filter 444 (without a name)"),
    ] {
        let filter = Filter { id, name: name.map(str::to_owned), is_optional: true, parameters: vec![] };
        let error = Pipeline::new(&[filter]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains(wanted) && error.to_string().contains("h5repack"), "{error}");
    }
}

#[test]
fn scale_offset_with_all_bits_stores_chunks_unchanged() {
    // The parameters that h5py writes for all sizes, signs and byte orders: 6 elements, fill value 0.
    for (size, is_signed, is_big) in [1_u32, 2, 4, 8].into_iter().flat_map(|size| {
        [(false, false), (false, true), (true, false), (true, true)].map(|(sign, big)| (size, sign, big))
    }) {
        let head = [2, size * 8, 6, 0, size, is_signed.into(), is_big.into(), 1];
        let parameters = head.into_iter().chain([0; 12]).collect();
        let filters = Pipeline::new(&[Filter { id: 6, name: None, is_optional: true, parameters }]).unwrap();
        let item = size as usize;
        // The first bytes form a header for elements of width 0.
        let stored: Vec<u8> = (0..).take(6 * item).map(|at| if at < 4 { 0 } else { at }).collect();
        assert_eq!(filters.decode(stored.clone(), 0, stored.len(), item).unwrap(), stored);
        let cut = stored[..stored.len() - 1].to_vec();
        let error = filters.decode(cut, 0, stored.len(), item).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
}

#[test]
fn filters_that_only_round_change_nothing() {
    let filter = |id: u16, parameters: &[u32]| Filter {
        id,
        name: None,
        is_optional: false,
        parameters: parameters.to_vec(),
    };
    let filters = Pipeline::new(&[filter(32022, &[3, 4, 0, 0]), filter(2, &[4]), filter(1, &[5])]).unwrap();
    let names: Vec<String> = filters.codecs(4).unwrap().into_iter().map(|codec| codec.name).collect();
    assert_eq!(names, ["numcodecs.shuffle", "numcodecs.zlib"]);
    // There is no codec for a shuffle after other filters, or for a shuffle whose element size differs from that of the dataset.
    for filters in [
        [filter(3, &[]), filter(2, &[4]), filter(1, &[5])],
        [filter(2, &[3]), filter(1, &[5]), filter(3, &[])],
    ] {
        assert!(Pipeline::new(&filters).unwrap().codecs(4).is_none());
    }
    let rounding = Pipeline::new(&[filter(32023, &[3])]).unwrap();
    assert!(rounding.codecs(4).is_none(), "nothing is compressed");
    assert_eq!(rounding.decode(vec![1, 2, 3], 0, 3, 1).unwrap(), [1, 2, 3]);
}
