//! Bad input to every codec: no panic, no memory beyond a bound, errors that say which codec. Memory is counted, so these tests
//! have a program of their own.

#![expect(clippy::unwrap_used, clippy::undocumented_unsafe_blocks, reason = "see each")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;

use zarrox_codecs::{ALL, registry};
use zarrox_testkit::bad_input::bad_input_suite;
use zarrox_testkit::examples::EXAMPLES;
use zarrox_testkit::fuzz::{self, Target};
use zarrox_testkit::specimen::LIMIT;

thread_local! {
    /// What this thread holds now, in bytes, and the most that it ever held.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

/// The system's allocator, with what each thread takes of it counted.
struct Counting;

fn count(more: isize) {
    // A thread that ends gives memory back when its own counter is gone.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + more, most.max(now + more)));
    });
}

// SAFETY: all is done by the system's allocator; counting takes no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.cast_signed() - layout.size().cast_signed());
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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

#[test]
fn bad_input_is_an_error_and_takes_bounded_memory() {
    let registry = registry();
    for example in EXAMPLES {
        let suite = bad_input_suite(&registry, example, |specimen, input, work| {
            let taken = peak(work);
            // Buffers for the chunk, for the input and what is made of it, and for one of which only the input says the size.
            let bound = 16 * (specimen.size() + input.len()) + LIMIT + STATE;
            assert!(taken <= bound, "{}: {taken} bytes of memory for {} of input", specimen.what, input.len());
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
