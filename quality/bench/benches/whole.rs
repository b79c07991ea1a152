//! Reads 1 GiB as a whole, compared with a bare loop that does the same work by hand in the same run; and checks and digests the
//! same array, compared with reading it.
//!
//! The loop reads (or decompresses) each file in blocks that stay in a core's cache, with two threads, and copies the rows into a
//! fresh output of huge pages: the limit of the hardware. Both run alternately, so that noise of the machine affects both; the
//! ratio of the medians is the result.
//!
//! `cargo bench -p zarrox-bench --bench whole [-- --scale small] [--case zstd] [--require 1.3]`. The limit applies to reading;
//! with a limit, a check may take at most 1.25 of the time of reading.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reports, and stops at the first failure"
)]

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ndarray::Array3;
use zarrox::codecs::Zstd;
use zarrox::{Array, prelude::*};
use zarrox_tools::Digester;
use zarrox_tools::check::Check;

const THREADS: usize = 2;
const REPETITIONS: usize = 9;
/// The largest ratio of the time of a check of all chunks to the time of reading them.
const CHECK: f64 = 1.25;
const CHUNK: usize = 256;
const INNER: usize = 64;
/// The number of bytes that a bare loop reads at a time, which stay in the L2 cache.
const BLOCK: usize = 256 << 10;

/// A layout in which the array is stored.
#[derive(Clone, Copy, PartialEq)]
enum Case {
    Raw,
    Zstd,
    ZstdSharded,
}

impl Case {
    fn name(self) -> &'static str {
        match self {
            Self::Raw => "read all, raw",
            Self::Zstd => "read all, zstd",
            Self::ZstdSharded => "read all, zstd in shards",
        }
    }

    fn create(self, path: &Path, shape: [usize; 3]) -> Array {
        let builder = zarrox::create_array(path).shape(shape.map(|n| n as u64)).data_type(DataType::UInt16);
        let (chunk, inner) = ([CHUNK as u64; 3], [INNER as u64; 3]);
        let builder = match self {
            Self::Raw => builder.chunks(chunk).no_compressor(),
            Self::Zstd => builder.chunks(chunk).compressor(Zstd::level(0)),
            Self::ZstdSharded => builder.chunks(inner).shards(chunk).compressor(Zstd::level(0)),
        };
        builder.create().unwrap()
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let depth = if option("--scale").as_deref() == Some("small") { 256 } else { 512 };
    let required: Option<f64> = option("--require").map(|limit| limit.parse().unwrap());
    let shape = [depth, 1024, 1024];
    let values = public_benchmark(shape);
    let directory = tempfile::tempdir_in(std::env::current_dir().unwrap().join("target"))
        .unwrap_or_else(|_| tempfile::tempdir().unwrap());
    println!(
        "{} MiB of uint16, chunks (or shards) of 256³, {THREADS} threads, warm page cache,",
        (values.len() * 2) >> 20
    );
    println!("medians of {REPETITIONS} interleaved repetitions\n");
    println!(
        "| case | zarrox (s) | bare loop (s) | ratio | check / read | digest / read | stored digest / read |"
    );
    println!("|---|---|---|---|---|---|---|");
    let (mut worst, mut worst_check): (f64, f64) = (0.0, 0.0);
    let only = option("--case").unwrap_or_default();
    let cases = [Case::Raw, Case::Zstd, Case::ZstdSharded];
    for case in cases.into_iter().filter(|case| case.name().ends_with(&only)) {
        let path = directory.path().join("array");
        case.create(&path, shape).write(.., &values).unwrap();
        let (ratio, check) = compare(case, &path, &values);
        worst_check = worst_check.max(check);
        // The bound applies to whole chunks; shards are only reported.
        if case != Case::ZstdSharded {
            worst = worst.max(ratio);
        }
        std::fs::remove_dir_all(&path).unwrap();
    }
    let Some(limit) = required else { return };
    let limits = [("reading", worst, limit), ("a check", worst_check, CHECK)];
    if let Some((work, ratio, limit)) = limits.into_iter().find(|(_, ratio, limit)| ratio > limit) {
        println!("\na ratio of {ratio:.2} of {work} is above the limit of {limit}");
        std::process::exit(1);
    }
}

/// Returns the values of the public benchmark (zarrs/zarr_benchmarks): (x + y²/32 + z³) mod 65536.
fn public_benchmark(shape: [usize; 3]) -> Array3<u16> {
    Array3::from_shape_fn(shape, |(x, y, z)| u16::try_from((x + y * y / 32 + z * z * z) % 65536).unwrap())
}

/// Returns two ratios of times: of reading to the bare loop, and of a check to reading.
fn compare(case: Case, path: &Path, values: &Array3<u16>) -> (f64, f64) {
    let options = zarrox::OpenOptions::new().threads(THREADS);
    let node = options.open(path).unwrap();
    let array = options.open(path).unwrap().into_array().unwrap();
    let check = Check::open_with(&options, path).unwrap();
    let digester = Digester::new();
    let shape = [values.shape()[0], values.shape()[1], values.shape()[2]];
    let mut times: [Vec<Duration>; 5] = Default::default();
    for repetition in 0..=REPETITIONS {
        let (read, result) = timed(|| array.read::<ArrayD<u16>>(..).unwrap());
        let (bare, expected) = timed(|| bare_loop(case, path, shape));
        let (checked, summary) = timed(|| check.run(|_| Ok(())).unwrap());
        let (digested, digest) = timed(|| digester.content(&node).unwrap());
        let (of_stored, stored) = timed(|| digester.stored(&node).unwrap());
        if repetition == 0 {
            // A warm-up, and a check of the results.
            assert!(result.as_slice().unwrap() == values.as_slice().unwrap());
            assert!(expected.as_slice() == values.as_slice().unwrap());
            assert!(summary.findings.is_empty() && digest != stored);
            continue;
        }
        let took = [read, bare, checked, digested, of_stored];
        times.iter_mut().zip(took).for_each(|(times, took)| times.push(took));
    }
    let [read, bare, check, digest, stored] = times.each_mut().map(|times| median(times));
    println!(
        "| {} | {read:.3} | {bare:.3} | {:.2} | {:.2} | {:.2} | {:.2} |",
        case.name(),
        read / bare,
        check / read,
        digest / read,
        stored / read
    );
    (read / bare, check / read)
}

fn timed<R>(work: impl FnOnce() -> R) -> (Duration, R) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

/// Fresh memory in huge pages.
struct Output {
    pointer: *mut u16,
    length: usize,
}

// SAFETY: the threads of the bare loop write disjoint chunks.
unsafe impl Sync for Output {}

impl Output {
    fn new(length: usize) -> Self {
        use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
        let size = length * 2;
        // SAFETY: a new anonymous mapping.
        let pointer = unsafe {
            let pointer = mmap_anonymous(
                std::ptr::null_mut(),
                size,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
            .unwrap();
            let _ = madvise(pointer, size, Advice::LinuxHugepage);
            pointer
        };
        Self { pointer: pointer.cast(), length }
    }

    fn as_slice(&self) -> &[u16] {
        // SAFETY: this value owns the mapping, which is zeroed at first.
        unsafe { std::slice::from_raw_parts(self.pointer, self.length) }
    }

    /// Copies consecutive rows of bytes to their positions in a box of side `side`.
    ///
    /// # Safety
    /// The box must lie inside the output, and no other thread may write to it.
    unsafe fn scatter(
        &self,
        bytes: &[u8],
        first_row: usize,
        side: usize,
        corner: [usize; 3],
        shape: [usize; 3],
    ) {
        for (index, row) in bytes.chunks_exact(side * 2).enumerate() {
            let (z, y) = ((first_row + index) / side, (first_row + index) % side);
            let at = ((corner[0] + z) * shape[1] + corner[1] + y) * shape[2] + corner[2];
            // SAFETY: the caller guarantees this.
            unsafe { std::ptr::copy_nonoverlapping(row.as_ptr(), self.pointer.add(at).cast(), row.len()) };
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, and no slice of it exists any more.
        let _ = unsafe { rustix::mm::munmap(self.pointer.cast(), self.length * 2) };
    }
}

fn bare_loop(case: Case, path: &Path, shape: [usize; 3]) -> Output {
    let output = Output::new(shape.iter().product());
    let grid = shape.map(|n| n / CHUNK);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut block = vec![0; BLOCK.max(INNER.pow(3) * 2)];
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= grid.iter().product() {
                        return;
                    }
                    let chunk = [index / (grid[1] * grid[2]), index / grid[2] % grid[1], index % grid[2]];
                    let file: PathBuf = [path, Path::new("c")].iter().collect();
                    let file = chunk.iter().fold(file, |path, i| path.join(i.to_string()));
                    let corner = chunk.map(|i| i * CHUNK);
                    match case {
                        Case::Raw => bare_raw(&file, &mut block, &output, corner, shape),
                        Case::Zstd => bare_zstd(&file, &mut block, &output, corner, shape),
                        Case::ZstdSharded => bare_shard(&file, &mut block, &output, corner, shape),
                    }
                }
            });
        }
    });
    output
}

fn bare_raw(file: &Path, block: &mut [u8], output: &Output, corner: [usize; 3], shape: [usize; 3]) {
    let file = File::open(file).unwrap();
    for offset in (0..CHUNK.pow(3) * 2).step_by(BLOCK) {
        file.read_exact_at(&mut block[..BLOCK], offset as u64).unwrap();
        // SAFETY: only this thread writes the rows of this chunk.
        unsafe { output.scatter(&block[..BLOCK], offset / (CHUNK * 2), CHUNK, corner, shape) };
    }
}

fn bare_zstd(file: &Path, block: &mut [u8], output: &Output, corner: [usize; 3], shape: [usize; 3]) {
    let mut decoder = zstd::stream::read::Decoder::new(File::open(file).unwrap()).unwrap();
    for offset in (0..CHUNK.pow(3) * 2).step_by(BLOCK) {
        decoder.read_exact(&mut block[..BLOCK]).unwrap();
        // SAFETY: only this thread writes the rows of this chunk.
        unsafe { output.scatter(&block[..BLOCK], offset / (CHUNK * 2), CHUNK, corner, shape) };
    }
}

fn bare_shard(file: &Path, block: &mut [u8], output: &Output, corner: [usize; 3], shape: [usize; 3]) {
    let bytes = std::fs::read(file).unwrap();
    let per_side = CHUNK / INNER;
    let entries = per_side.pow(3);
    let index = &bytes[bytes.len() - entries * 16 - 4..];
    let number =
        |at: usize| usize::try_from(u64::from_le_bytes(index[at..at + 8].try_into().unwrap())).unwrap();
    let mut decompressor = zstd::bulk::Decompressor::new().unwrap();
    for entry in 0..entries {
        let (offset, length) = (number(entry * 16), number(entry * 16 + 8));
        let size =
            decompressor.decompress_to_buffer(&bytes[offset..offset + length], &mut block[..]).unwrap();
        let inner = [entry / (per_side * per_side), entry / per_side % per_side, entry % per_side];
        let corner = [0, 1, 2].map(|dim| corner[dim] + inner[dim] * INNER);
        // SAFETY: only this thread writes the rows of this chunk.
        unsafe { output.scatter(&block[..size], 0, INNER, corner, shape) };
    }
}
