//! `zarrox bench`: measures the read speed of an array, also with other chunks and codecs.

use std::io::Write;
use std::time::Duration;

use clap::Args;
use indicatif::HumanBytes;
use zarrox::json::{Json, json};
use zarrox::{Array, Result};
use zarrox_tools::bench::{Bench as Measuring, BenchReport, Candidate};
use zarrox_tools::copy::Copier;

use super::info::codec_json;
use super::table::print_table;
use crate::args::{ByteSize, Chunks, Global};
use crate::commands::copy::recoding::{self, Shards};
use crate::creation::{self, Compressor};
use crate::exit::{Failure, printable, usage};
use crate::interrupt;
use crate::print::{print_json, size, time, tuple};
use crate::progress::Progress;

/// Measure the read speed of an array, and compare other chunks and codecs
///
/// A sample from the middle of the array is read several times, and medians are printed: for the stored bytes alone, the
/// elements, one chunk, and one element. Candidates are the current array, and every combination of --try, --chunks and --shards.
/// They are encoded and decoded in memory, and read from memory or, with --at, from a path or URL. All threads run concurrently.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// The array
    path: String,

    /// Compressors to try, such as zstd:3,blosc:lz4,none
    #[arg(long = "try", value_name = "NAME[:LEVEL],…", value_delimiter = ',', value_parser = creation::compressor)]
    compressors: Vec<Compressor>,

    /// A chunk shape to try, such as 100,-1; can be repeated
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true)]
    chunks: Vec<Chunks>,

    /// A shard shape to try, or none; can be repeated
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true, value_parser = recoding::shards)]
    shards: Vec<Shards>,

    /// The maximum size of the sample in memory
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    sample: ByteSize,

    /// The number of repetitions of each measurement
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    turns: u32,

    /// An unused path or URL where candidates are stored for reading, and deleted at the end
    #[arg(long, value_name = "PATH")]
    at: Option<String>,

    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
}

impl Bench {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        let array = global.read_array(&self.path)?;
        let progress = Progress::new(&self.path, 0);
        let bar = progress.clone();
        let bench = Measuring::new().sample(self.sample.0).turns(self.turns as usize);
        let bench = bench.on_progress(move |done| {
            bar.set(done.done, done.total);
            interrupt::check_or(interrupt::NOTHING_CHANGED)
        });
        let bench = self.at.iter().fold(bench, Measuring::place);
        let bench =
            self.candidates()?.into_iter().fold(bench, |bench, (name, copier)| bench.candidate(name, copier));
        let report = bench.run(&array)?;
        progress.clear();
        let failed = report.candidates.iter().find_map(|candidate| candidate.as_ref().err());
        let failed = failed.map(|error| usage(format!("a candidate cannot be created: {error}")));
        if self.json {
            print_json(out, &to_json(&self.path, &report))?;
        } else {
            self.print(&array, &report, out)?;
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Returns every combination of the options to try.
    fn candidates(&self) -> Result<Vec<(String, Copier)>> {
        let mut all = vec![(Vec::new(), Copier::new())];
        all = combined(all, &self.compressors, |copier, compressor| {
            Ok(match compressor {
                Some(spec) => (spec.to_string(), copier.compressor(spec.clone())),
                None => ("no compressor".to_owned(), copier.no_compressor()),
            })
        })?;
        all = combined(all, &self.chunks, |copier, chunks| {
            let shape = recoding::shape(chunks, "--chunks")?;
            Ok((format!("chunks {}", shown(&shape)), copier.chunks(shape)))
        })?;
        all = combined(all, &self.shards, |copier, shards| match shards {
            Some(shards) => {
                let shape = recoding::shape(shards, "--shards")?;
                Ok((format!("shards {}", shown(&shape)), copier.shards(shape)))
            }
            None => Ok(("no shards".to_owned(), copier.no_shards())),
        })?;
        Ok(all
            .into_iter()
            .filter(|(names, _)| !names.is_empty())
            .map(|(names, copier)| (names.join(", "), copier))
            .collect())
    }

    fn print(&self, array: &Array, report: &BenchReport, out: &mut dyn Write) -> Result<(), Failure> {
        let BenchReport { sample_bytes, bytes_fetched, .. } = report;
        let BenchReport { first_fetch, fetch, read, .. } = report;
        let region: Vec<String> = report.sample.iter().map(|(begin, end)| format!("{begin}:{end}")).collect();
        writeln!(out, "{}: {} {}", printable(&self.path), tuple(array.shape()), array.data_type())?;
        let (part, all) = (HumanBytes(*sample_bytes), size(report.bytes));
        writeln!(
            out,
            "sample        [{}], {part} of {all}; in {} stored objects",
            region.join(", "),
            report.objects
        )?;
        writeln!(out, "measured      medians of {} turns on {} threads", report.turns, report.threads)?;
        let (first, again) = match report.is_remote {
            true => ("the first time", "from the server again"),
            false => ("the first time, cold unless in the system's cache", "again, warm"),
        };
        writeln!(
            out,
            "stored bytes  {}: {} {first}",
            size(*bytes_fetched),
            speed(*bytes_fetched, *first_fetch)
        )?;
        writeln!(out, "              {} {again}", speed(*bytes_fetched, *fetch))?;
        writeln!(
            out,
            "elements      {}; one chunk {}, one element {}",
            speed(*sample_bytes, *read),
            time(report.read_chunk.as_secs_f64()),
            time(report.read_element.as_secs_f64())
        )?;
        writeln!(out, "all elements  {} at this speed", time(report.whole(*read)))?;
        let place =
            self.at.as_deref().map_or_else(|| "memory".to_owned(), |at| format!("'{}'", printable(at)));
        writeln!(out, "\nEncoded and decoded in memory; whole array, chunk and element read from {place}:")?;
        print_table(out, &rows(report))?;
        if report.candidates.iter().flatten().any(|candidate| candidate.is_cut) {
            writeln!(
                out,
                "* Chunks or shards exceed the sample, so smaller ones were measured. See --sample."
            )?;
        }
        Ok(())
    }
}

fn rows(report: &BenchReport) -> Vec<[String; 8]> {
    let head = ["candidate", "stored", "ratio", "encode", "decode", "whole", "chunk", "element"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(report.candidates.iter().flatten().map(|candidate| {
        let star = if candidate.is_cut { " *" } else { "" };
        [
            format!("{}{star}", printable(&candidate.name)),
            HumanBytes(candidate.bytes_stored).to_string(),
            format!("{:.2}", ratio(report, candidate)),
            speed(report.sample_bytes, candidate.encode),
            speed(report.sample_bytes, candidate.decode),
            time(report.whole(candidate.read)),
            time(candidate.read_chunk.as_secs_f64()),
            time(candidate.read_element.as_secs_f64()),
        ]
    }));
    rows
}

/// A partial candidate: the names of its properties, and the copier that creates it.
type Begun = (Vec<String>, Copier);

/// Combines each candidate with each property. Without properties, the candidates are returned unchanged.
fn combined<T>(
    all: Vec<Begun>,
    properties: &[T],
    with: impl Fn(Copier, &T) -> Result<(String, Copier)>,
) -> Result<Vec<Begun>> {
    if properties.is_empty() {
        return Ok(all);
    }
    let each = all.iter().flat_map(|(names, copier)| properties.iter().map(move |one| (names, copier, one)));
    let add = |(names, copier, property): (&Vec<String>, &Copier, &T)| {
        let (name, copier) = with(copier.clone(), property)?;
        Ok((names.iter().cloned().chain([name]).collect(), copier))
    };
    each.map(add).collect()
}

fn shown(shape: &zarrox::ChunkShape) -> String {
    match shape {
        zarrox::ChunkShape::Guess => "auto".to_owned(),
        zarrox::ChunkShape::One => "false".to_owned(),
        zarrox::ChunkShape::Lengths(lengths) => {
            let length = |length: &Option<u64>| length.map_or_else(|| "-1".to_owned(), |n| n.to_string());
            lengths.iter().map(length).collect::<Vec<_>>().join(",")
        }
        other => format!("{other:?}"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio for display")]
fn ratio(report: &BenchReport, candidate: &Candidate) -> f64 {
    report.sample_bytes as f64 / candidate.bytes_stored.max(1) as f64
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a speed for display"
)]
fn speed(bytes: u64, time: Duration) -> String {
    format!("{}/s", HumanBytes((bytes as f64 / time.as_secs_f64().max(1e-9)) as u64))
}

fn to_json(path: &str, report: &BenchReport) -> Json {
    let sample = report.sample.iter().map(|&(begin, end)| Json::from(vec![begin, end]));
    let sample = Json::Array(sample.collect());
    let float = |time: Duration| time.as_secs_f64();
    let candidates = report.candidates.iter().map(|candidate| match candidate {
        Ok(candidate) => {
            let codecs = Json::Array(candidate.codecs.iter().map(codec_json).collect());
            let shards = candidate.shard_shape.as_deref().map_or(Json::Null, Json::from);
            json!({
                "name": candidate.name.as_str(), "chunk_shape": candidate.chunk_shape.as_slice(), "shard_shape": shards,
                "codecs": codecs, "chunks": candidate.chunks, "cut": candidate.is_cut,
                "bytes_stored": candidate.bytes_stored, "ratio": ratio(report, candidate),
                "encode_seconds": float(candidate.encode), "decode_seconds": float(candidate.decode),
                "read_seconds": float(candidate.read), "whole_seconds": report.whole(candidate.read),
                "chunk_seconds": float(candidate.read_chunk), "element_seconds": float(candidate.read_element),
            })
        }
        Err(error) => json!({"error": error.to_string()}),
    });
    let candidates = Json::Array(candidates.collect());
    json!({
        "path": path, "sample": sample, "sample_bytes": report.sample_bytes, "bytes": report.bytes,
        "objects": report.objects, "bytes_fetched": report.bytes_fetched, "remote": report.is_remote,
        "first_fetch_seconds": float(report.first_fetch), "fetch_seconds": float(report.fetch),
        "read_seconds": float(report.read), "whole_seconds": report.whole(report.read),
        "chunk_seconds": float(report.read_chunk), "element_seconds": float(report.read_element),
        "threads": report.threads, "turns": report.turns, "candidates": candidates,
    })
}
