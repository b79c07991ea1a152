//! Bad input to every codec: no panic, no memory beyond a bound, errors that say which codec. Memory is counted, so these tests
//! have a program of their own.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::cell::Cell;
use std::path::Path;

use zarrox_codecs::{ALL, registry};
use zarrox_core::codec::{ChunkSpec, CodecChain, CodecContext, CodecKind, CodecSpec, EncodeOptions};
use zarrox_core::data_type::{Mode, Storage};
use zarrox_core::json::Json;
use zarrox_core::strided::View;
use zarrox_core::{FillValue, Registry};
use zarrox_testkit::allocator::Counting;
use zarrox_testkit::bad_input::bad_input_suite;
use zarrox_testkit::codec::Random;
use zarrox_testkit::examples::{EXAMPLES, Example};
use zarrox_testkit::fuzz::{self, Target};
use zarrox_testkit::specimen::{LIMIT, Specimen};

thread_local! {
    /// What this thread holds now, in bytes, and the most that it ever held.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(more: isize) {
    // A thread that ends gives memory back when its own counter is gone.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + more, most.max(now + more)));
    });
}

#[global_allocator]
static ALLOCATOR: Counting = Counting(count);

/// The most memory that `work` holds at a time, beyond what was held before.
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
        assert!(known, "the example of '{}' is of no codec, or of another name of one", example.codec);
    }
}

/// What decoders may take for their own state, whatever the chunk: bzip2 sorts blocks of 900 kB.
const STATE: usize = 4 << 20;

fn assert_bounded(taken: usize, specimen: &Specimen, input: &[u8]) {
    // Buffers for the chunk, for the input and what is made of it, and for one of which only the input says the size.
    let bound = 16 * (specimen.size() + input.len()) + LIMIT + STATE;
    assert!(taken <= bound, "{}: {taken} bytes of memory for {} of input", specimen.what, input.len());
}

/// Reads bytes that are made to do harm, and demands an error.
fn assert_refused(registry: &Registry, specimen: &Specimen, input: &[u8]) {
    let mut is_chunk = false;
    let taken = peak(|| is_chunk = specimen.examine(registry, input, &mut Random::new(6)));
    assert!(!is_chunk, "{}: {} bytes that are no chunk are read", specimen.what, input.len());
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

/// The inputs with which fuzzing begins, and those that it once found.
#[test]
fn what_fuzzing_begins_with_and_once_found_is_read() {
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions");
    for name in fuzz::names() {
        let target = Target::new(registry(), &name).unwrap();
        let seeds = target.seeds();
        assert!(!seeds.is_empty(), "{name} has no inputs to begin with");
        seeds.iter().for_each(|seed| target.run(seed));
        for file in std::fs::read_dir(found.join(&name)).into_iter().flatten() {
            target.run(&std::fs::read(file.unwrap().path()).unwrap());
        }
    }
}

/// What decodes to far more than a chunk has, for each codec that can say so in few bytes.
#[test]
fn bombs_stop_where_the_chunk_ends() {
    const SIZE: usize = 8 << 20;
    let registry = registry();
    let chunk = ChunkSpec::new(&[SIZE as u64], Storage::Uint(1), FillValue::zero(1)).unwrap();
    let context = CodecContext { chunk: &chunk, registry: &registry, mode: Mode::Lenient, limit: 4 * SIZE };
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

/// The first example of a codec.
fn specimen(registry: &Registry, codec: &str) -> Specimen {
    Specimen::new(registry, EXAMPLES.iter().find(|example| example.codec == codec).unwrap()).unwrap()
}

#[test]
fn counts_and_depths_that_lie_are_refused() {
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

/// Inner chunks may share bytes, as equal ones might; they may not make anyone work without end.
#[test]
fn shards_that_lead_into_themselves_are_bounded() {
    let registry = registry();
    let entries = |entries: &[(u64, u64)]| -> Vec<u8> {
        entries.iter().flat_map(|&(offset, length)| [offset, length]).flat_map(u64::to_le_bytes).collect()
    };
    // Four shards of four inner chunks of one byte; each of them is all the object, whose end is an index for itself, too.
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
    // An inner shard's chunk that is the object's first byte: valid, however odd.
    let odd = [entries(&[(0, 1); 4]), entries(&[(0, 64); 4])].concat();
    assert!(nested.examine(&registry, &odd, &mut Random::new(7)));
    let plain = specimen(&registry, "sharding_indexed");
    let max = u64::MAX;
    for (offset, length) in
        [(0, 13), (64, 12), (0, max - 1), (max - 1, 12), (max, 12), (0, max), (1 << 40, 12)]
    {
        assert_refused(&registry, &plain, &entries(&[(0, 12), (0, 12), (0, 12), (offset, length)]));
    }
    // One long inner chunk for all: an update writes it as often as it is named, and not more than the limit.
    let all = [vec![7; 12], entries(&[(0, 12); 4])].concat();
    let mut is_chunk = false;
    assert_bounded(peak(|| is_chunk = plain.examine(&registry, &all, &mut Random::new(8))), &plain, &all);
    assert!(is_chunk);
}
