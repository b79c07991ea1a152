//! Hot paths whose instructions are counted. `cargo xtask bench --guard` runs each hot path once, in its own process under
//! Callgrind, and compares the count with the accepted count in counts.json.
//!
//! All data are in memory, on one thread, and the same in every run, so that a count depends on the code and not on the load of
//! the machine; the random seeds of hash maps change the count by a hundredth of a percent. Only the work in [`counted`] is
//! counted, and not its preparation.
//!
//! The argument is the name of a case; without an argument, the program lists the cases.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reports, and stops at the first failure"
)]

mod arrays;
mod nodes;
mod reads;
#[path = "../indexing/values.rs"]
mod values;
mod writes;

use std::hint::black_box;

/// Prepared work that is counted.
type Work = Box<dyn FnOnce()>;

/// A name, and the function that prepares the work.
type Case = (&'static str, fn() -> Work);

const CASES: &[Case] = &[
    ("read-raw", reads::raw),
    ("read-zstd", reads::zstd),
    ("read-sharded-zstd", reads::sharded),
    ("read-blosc-lz4-shuffle", reads::blosc),
    ("read-big-endian", reads::big_endian),
    ("read-transposed", reads::transposed),
    ("read-windows", reads::windows),
    ("read-strided", reads::strided),
    ("read-orthogonal", reads::orthogonal),
    ("read-coordinates", reads::coordinates),
    ("read-mask", reads::mask),
    ("write-raw", writes::raw),
    ("write-zstd", writes::zstd),
    ("write-windows", writes::windows),
    ("append-rows", writes::appended),
    ("open-v2", nodes::open_v2),
    ("open-v3", nodes::open_v3),
    ("list-group", nodes::list),
    ("list-group-v2", nodes::list_v2),
];

fn main() {
    // `cargo bench` passes its own option to every target.
    let name = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let Some(name) = name else {
        return CASES.iter().for_each(|(name, _)| println!("{name}"));
    };
    let (_, prepare) = CASES.iter().find(|(known, _)| *known == name).unwrap();
    let work = prepare();
    forget_freed_memory();
    counted(work);
}

/// Returns freed memory to the system. Otherwise the allocator would do so during the measured work.
fn forget_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> i32;
        }
        // SAFETY: `malloc_trim` only returns free memory to the system.
        unsafe { malloc_trim(0) };
    }
}

/// Runs work that Callgrind counts, which gets the name of this function as an option.
#[inline(never)]
fn counted(work: Work) {
    work();
    // Otherwise a tail call could replace this function's stack frame.
    black_box(());
}
