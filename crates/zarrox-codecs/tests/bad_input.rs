//! Bad input to every codec: no panic, limited memory, errors that name the codec. Memory is counted, so these tests are a
//! separate program.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::cell::Cell;

use zarrox_codecs::{ALL, registry};
use zarrox_core::codec::{CHUNK_LIMIT, ChunkSpec, CodecContext, CodecKind, EncodeOptions, ReadRegion};
use zarrox_core::data_type::Storage;
use zarrox_core::internals::vlen::VlenRef;
use zarrox_core::json::Json;
use zarrox_core::strided::{Span, View, VlenBuffer};
use zarrox_core::{CodecChain, CodecSpec, ErrorKind, FillValue, Registry, Strictness};
use zarrox_testkit::allocator::Counting;
use zarrox_testkit::bad_input::bad_input_suite;
use zarrox_testkit::codec::Random;
use zarrox_testkit::examples::{EXAMPLES, Example};
use zarrox_testkit::fuzz::{self, Target};
use zarrox_testkit::specimen::{LIMIT, Specimen};

thread_local! {
    /// The number of bytes that this thread has allocated now, and the maximum so far.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(more: isize) {
    // A thread that ends frees memory after its own counter is gone.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + more, most.max(now + more)));
    });
}

#[global_allocator]
static ALLOCATOR: Counting = Counting(count);

/// Returns the maximum memory of `work` at any time, beyond the memory allocated before.
fn peak(work: impl FnOnce()) -> usize {
    let before = HELD.get().0;
    HELD.set((before, before));
    work();
    (HELD.get().1 - before).cast_unsigned()
}

#[test]
fn every_codec_has_an_example() {
    for def in ALL {
        let has = EXAMPLES.iter().any(|example| example.codec == def.name);
        assert_eq!(has, def.name != "numcodecs.pickle", "an example of '{}'", def.name);
    }
    for example in EXAMPLES {
        let known = ALL.iter().any(|def| def.name == example.codec);
        assert!(known, "the example of '{}' belongs to no codec, or to an alias", example.codec);
    }
}

/// The memory that decoders may use for their own state, whatever the chunk: bzip2 sorts blocks of 900 kB.
const STATE: usize = 4 << 20;

fn assert_bounded(taken: usize, specimen: &Specimen, input: &[u8]) {
    // Buffers for the chunk, for the input and its output, and for an output whose size only the input declares.
    let bound = 16 * (specimen.size() + input.len()) + LIMIT + STATE;
    assert!(taken <= bound, "{}: {taken} bytes of memory for {} of input", specimen.what, input.len());
}

/// Reads malicious bytes, and expects an error.
fn assert_refused(registry: &Registry, specimen: &Specimen, input: &[u8]) {
    let mut is_chunk = false;
    let taken = peak(|| is_chunk = specimen.examine(registry, input, &mut Random::new(6)));
    assert!(!is_chunk, "{}: {} bytes that are not a chunk are decoded", specimen.what, input.len());
    assert_bounded(taken, specimen, input);
}

#[test]
fn bad_input_is_an_error_and_takes_bounded_memory() {
    let registry = registry();
    for example in EXAMPLES {
        let suite = bad_input_suite(&registry, example, |specimen, input, work| {
            let taken = peak(work);
            assert_bounded(taken, specimen, input);
        });
        suite.unwrap();
    }
}

/// Reads the seeds of the fuzz targets, and the inputs that fuzzing found.
#[test]
fn what_fuzzing_begins_with_and_once_found_is_read() {
    for name in fuzz::names() {
        let target = Target::new(registry(), &name).unwrap();
        let seeds = target.seeds();
        assert!(!seeds.is_empty(), "{name} has no inputs to begin with");
        seeds.iter().for_each(|seed| target.run(seed));
        for file in fuzz::regressions(&name) {
            target.run(&std::fs::read(file).unwrap());
        }
    }
}

/// Decodes input that expands to far more than a chunk, for each codec that can encode such data in few bytes.
#[test]
fn bombs_stop_where_the_chunk_ends() {
    const SIZE: usize = 8 << 20;
    let registry = registry();
    let chunk = ChunkSpec::new(&[SIZE as u64], Storage::Uint(1), FillValue::zero(1)).unwrap();
    let context =
        CodecContext { chunk: &chunk, registry: &registry, strictness: Strictness::Lenient, limit: 4 * SIZE };
    for example in EXAMPLES {
        if registry.codec(example.codec).unwrap().kind != CodecKind::BytesToBytes {
            continue;
        }
        let specs = [CodecSpec::new("bytes", Json::Null), example.spec().unwrap()];
        let chain = CodecChain::new(&specs, &context).unwrap();
        let mut bomb = Vec::new();
        let zeros = View::broadcast(&[0], &[SIZE]);
        chain.encode(&zeros, EncodeOptions { store_empty_chunks: true }, &mut bomb).unwrap();
        assert_refused(&registry, &Specimen::new(&registry, example).unwrap(), &bomb);
    }
}

/// The maximum memory for decoding beyond the decoded bytes.
const BEYOND: usize = 16 << 20;

/// Returns all examples, and text before every bytes codec, so that the decoded size is unknown.
fn examples_and_texts(registry: &Registry) -> Vec<Example> {
    let of_bytes = |example: &&Example| {
        let kind = registry.codec(example.codec).unwrap().kind;
        // Codecs that view bytes as numbers only accept a multiple of their size.
        kind == CodecKind::BytesToBytes && !["v2_filter", "numcodecs.shuffle"].contains(&example.codec)
    };
    let text = |example: &Example| {
        let before = Some(r#"["vlen-utf8"]"#);
        Example { data_type: "string", shape: &[300], before, ..*example }
    };
    EXAMPLES.iter().copied().chain(EXAMPLES.iter().filter(of_bytes).map(text)).collect()
}

#[test]
fn a_flipped_bit_takes_no_memory_beyond_what_is_decoded() {
    let registry = registry();
    for example in examples_and_texts(&registry) {
        let specimen = Specimen::of_chain(
            example.data_type(&registry).unwrap(),
            example.chain(&registry, CHUNK_LIMIT).unwrap(),
        );
        let good = specimen.encoded(&registry, &mut Random::new(9));
        // Headers are at the start, and tables also at the end.
        let (front, back) = (0..good.len().min(40), good.len().saturating_sub(24)..good.len());
        for bit in front.chain(back).flat_map(|byte| byte * 8..byte * 8 + 8) {
            let mut damaged = good.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let taken = peak(|| {
                specimen.examine(&registry, &damaged, &mut Random::new(10));
            });
            assert!(taken <= BEYOND, "{}: {taken} bytes of memory, bit {bit} flipped", specimen.what);
        }
    }
}

/// Changes the declared size in encoded bytes.
type Lie = fn(&mut Vec<u8>);

/// Decodes a chunk larger than the trusted size, which declares an even larger size.
#[test]
fn a_large_chunk_with_a_false_size_takes_little_more_memory_than_its_bytes() {
    const SIZE: usize = 12 << 20;
    let registry = registry();
    let text = |codec: CodecSpec, limit: usize| {
        let chunk = ChunkSpec::new(&[1], Storage::Variable, FillValue::new([])).unwrap();
        let context =
            CodecContext { chunk: &chunk, registry: &registry, strictness: Strictness::Lenient, limit };
        CodecChain::new(&[CodecSpec::new("vlen-bytes", Json::Null), codec], &context).unwrap()
    };
    let zstd = |bytes: &mut Vec<u8>| bytes[5..9].copy_from_slice(&0xf000_0000_u32.to_le_bytes());
    let first = |bytes: &mut Vec<u8>| bytes[..4].copy_from_slice(&0x7000_0000_u32.to_le_bytes());
    let blosc = |bytes: &mut Vec<u8>| bytes[7] ^= 0x40;
    let n5_lz4 = |bytes: &mut Vec<u8>| bytes[13 + 3] ^= 0x40;
    let last = |bytes: &mut Vec<u8>| *bytes.last_mut().unwrap() ^= 0x80;
    let lies: [(&str, Lie); 5] =
        [("zstd", zstd), ("numcodecs.lz4", first), ("blosc", blosc), ("n5_lz4", n5_lz4), ("gzip", last)];
    for (name, lie) in lies {
        let example = EXAMPLES.iter().find(|example| example.codec == name).unwrap();
        let chain = text(example.spec().unwrap(), CHUNK_LIMIT);
        let mut random = Random::new(11);
        let line = random.bytes(5000);
        let element = line.repeat(SIZE / line.len());
        let (vlen, mut reference) = (VlenBuffer::new(), [0; VlenRef::SIZE]);
        let mut view = chain.chunk().view_mut(&mut reference, &vlen);
        view.set_elements(element.clone(), [element.len()]).unwrap();
        let mut encoded = Vec::new();
        let store = EncodeOptions { store_empty_chunks: true };
        chain.encode(&chain.chunk().view(&reference, &vlen), store, &mut encoded).unwrap();
        let decode = |chain: &CodecChain, encoded: &[u8]| {
            let (vlen, mut reference) = (VlenBuffer::new(), [0; VlenRef::SIZE]);
            let all = [Span::all(1)].into_iter().collect();
            let part = ReadRegion::new(all, chain.chunk().view_mut(&mut reference, &vlen));
            chain.decode(encoded, part).map(|()| vlen.element(&reference) == element)
        };
        assert!(decode(&chain, &encoded).unwrap(), "{name}");
        let error = decode(&text(example.spec().unwrap(), SIZE / 2), &encoded).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{name}: {error}");
        lie(&mut encoded);
        let mut read = Ok(true);
        // In a thread of its own, which has no buffers yet.
        let taken = std::thread::scope(|scope| {
            let run = || {
                let mut answer = Ok(true);
                (peak(|| answer = decode(&chain, &encoded)), answer)
            };
            let (taken, answer) = scope.spawn(run).join().unwrap();
            read = answer;
            taken
        });
        let error = read.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{name}: {error}");
        assert!(taken <= SIZE + BEYOND, "{name}: {taken} bytes of memory for {SIZE}");
    }
}

/// Returns the first example of a codec.
fn specimen(registry: &Registry, codec: &str) -> Specimen {
    Specimen::new(registry, EXAMPLES.iter().find(|example| example.codec == codec).unwrap()).unwrap()
}

#[test]
fn false_counts_and_depths_are_rejected() {
    let registry = registry();
    let deep = |open: u8| vec![open; 1 << 20];
    let lies: &[(&str, Vec<u8>)] = &[
        ("vlen-utf8", [0xff; 4].to_vec()),
        ("vlen-utf8", [&[15, 0, 0, 0][..], &[0xff; 64]].concat()),
        ("vlen-bytes", [0xff; 8].to_vec()),
        ("numcodecs.vlen-array", [0xff; 40].to_vec()),
        ("numcodecs.json2", deep(b'[')),
        ("numcodecs.json2", br#"{"a":"#.repeat(1 << 17)),
        ("numcodecs.json", [&b"["[..], &deep(b'[')].concat()),
        ("numcodecs.msgpack2", deep(0x91)),
        ("numcodecs.msgpack2", [&[0x94, 0x95][..], &deep(0x91)].concat()),
        ("numcodecs.msgpack", [&[0x9b][..], &deep(0x81)].concat()),
        ("numcodecs.msgpack", vec![0xdd, 0xff, 0xff, 0xff, 0xff]),
        // A dictionary of 4 GiB.
        #[cfg(feature = "lzma")]
        ("numcodecs.lzma", [&[0x5d][..], &[0xff; 12], &[0; 20]].concat()),
        ("n5_default", [&[0, 1, 0, 2][..], &[0xff; 12]].concat()),
        ("n5_default", [&[0, 0][..], &[0xff; 80]].concat()),
    ];
    for (codec, input) in lies {
        assert_refused(&registry, &specimen(&registry, codec), input);
    }
}

/// Inner chunks may share bytes, if they are equal; the work must still be limited.
#[test]
fn shards_that_lead_into_themselves_are_bounded() {
    let registry = registry();
    let entries = |entries: &[(u64, u64)]| -> Vec<u8> {
        entries.iter().flat_map(|&(offset, length)| [offset, length]).flat_map(u64::to_le_bytes).collect()
    };
    // Four shards of four inner chunks of one byte; each of them is the whole object, whose end is also an index.
    let nested = Example {
        codec: "sharding_indexed",
        data_type: "uint8",
        shape: &[4, 4],
        configuration: r#"{"chunk_shape": [2, 2], "index_codecs": ["bytes"], "codecs": [{"name": "sharding_indexed",
            "configuration": {"chunk_shape": [1, 1], "index_codecs": ["bytes"], "codecs": ["bytes"]}}]}"#,
        before: None,
        behind: None,
    };
    let nested = Specimen::new(&registry, &nested).unwrap();
    assert_refused(&registry, &nested, &entries(&[(0, 64); 4]));
    // An inner chunk of an inner shard that is the first byte of the object: unusual, but valid.
    let odd = [entries(&[(0, 1); 4]), entries(&[(0, 64); 4])].concat();
    assert!(nested.examine(&registry, &odd, &mut Random::new(7)));
    let plain = specimen(&registry, "sharding_indexed");
    let max = u64::MAX;
    for (offset, length) in
        [(0, 13), (64, 12), (0, max - 1), (max - 1, 12), (max, 12), (0, max), (1 << 40, 12)]
    {
        assert_refused(&registry, &plain, &entries(&[(0, 12), (0, 12), (0, 12), (offset, length)]));
    }
    // One long inner chunk for all entries: an update writes it once for each entry, up to the limit.
    let all = [vec![7; 12], entries(&[(0, 12); 4])].concat();
    let mut is_chunk = false;
    assert_bounded(peak(|| is_chunk = plain.examine(&registry, &all, &mut Random::new(8))), &plain, &all);
    assert!(is_chunk);
}
