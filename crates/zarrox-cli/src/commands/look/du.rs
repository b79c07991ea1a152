//! `zarrox du`: prints the disk usage of nodes.

use std::io::Write;

use clap::{Args, ValueEnum};
use indicatif::HumanBytes;
use zarrox::Result;
use zarrox::json::{Json, json};
use zarrox_tools::usage::{ChunkUsage, InnerUsage, NodeUsage, Usage};

use super::table::print_table;
use crate::args::Global;
use crate::exit::{Failure, each, note, printable};
use crate::interrupt;
use crate::print::print_json;
use crate::progress::Progress;

/// Print the disk usage of nodes: stored and logical bytes, their ratio, and stored chunks
///
/// The numbers of a group include all nodes below it. Chunks are not read: only listings, and with --inner the shard indexes.
/// Stored objects that do not belong to a node or a chunk are orphans.
#[derive(Debug, Args)]
pub(crate) struct Du {
    /// The arrays and groups
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<String>,

    /// Print nodes to this depth; 0 for the total alone
    #[arg(short, long, value_name = "N")]
    depth: Option<usize>,

    /// The sort order of nodes
    #[arg(long, value_name = "BY", default_value = "path")]
    sort: Sort,

    /// Print exact numbers of bytes
    #[arg(short, long)]
    bytes: bool,

    /// Read the shard indexes, and count the inner chunks
    #[arg(long)]
    inner: bool,

    /// Print a histogram of the sizes of stored chunks
    #[arg(long)]
    histogram: bool,

    /// Print a JSON list of nodes with their own numbers and, in `total`, those including all nodes below
    #[arg(long)]
    json: bool,
}

/// The sort order of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// In the order of the hierarchy
    Path,
    /// The largest first
    Size,
}

/// The numbers for a node, which can be added up.
#[derive(Debug, Clone, Default)]
struct Sum {
    path: String,
    stored: u64,
    logical: u64,
    chunks: u64,
    possible: u64,
    orphans: (u64, u64),
    inner: Option<InnerUsage>,
    sizes: Vec<u64>,
    is_array: bool,
}

impl Sum {
    fn of(node: &NodeUsage) -> Self {
        let chunks = node.chunks.as_ref();
        let number = |number: fn(&ChunkUsage) -> u64| chunks.map_or(0, number);
        Self {
            path: node.path.clone(),
            stored: node.bytes(),
            logical: number(|chunks| chunks.logical.unwrap_or(u64::MAX)),
            chunks: number(|chunks| chunks.stored),
            possible: number(|chunks| chunks.possible.unwrap_or(u64::MAX)),
            orphans: node.orphans,
            inner: chunks.and_then(|chunks| chunks.inner),
            sizes: chunks.map_or_else(Vec::new, |chunks| chunks.sizes.clone()),
            is_array: chunks.is_some(),
        }
    }

    fn add(&mut self, other: &Self) {
        self.stored += other.stored;
        self.logical = self.logical.saturating_add(other.logical);
        self.chunks += other.chunks;
        self.possible = self.possible.saturating_add(other.possible);
        self.orphans = (self.orphans.0 + other.orphans.0, self.orphans.1 + other.orphans.1);
        if let Some(inner) = other.inner {
            let own = self.inner.get_or_insert_default();
            own.stored += inner.stored;
            own.empty += inner.empty;
            own.bytes += inner.bytes;
        }
        self.sizes.resize(self.sizes.len().max(other.sizes.len()), 0);
        self.sizes.iter_mut().zip(&other.sizes).for_each(|(own, other)| *own += other);
    }

    fn depth(&self) -> usize {
        if self.path == "/" { 0 } else { self.path.matches('/').count() }
    }

    fn is_below(&self, above: &str) -> bool {
        above == "/" || self.path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
    }

    #[expect(clippy::cast_precision_loss, reason = "a ratio for display")]
    fn ratio(&self) -> Option<f64> {
        (self.stored > 0 && self.logical < u64::MAX).then(|| self.logical as f64 / self.stored as f64)
    }
}

impl Du {
    pub(crate) fn run(mut self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        self.paths = global.expanded(&self.paths)?;
        interrupt::catch();
        let (is_one, mut lists) = (self.paths.len() == 1, Vec::new());
        let result = each(out, &self.paths, |out, path| {
            let totals = self.totals(global, path)?;
            if self.json {
                let nodes = Json::Array(totals.iter().map(|(own, total)| to_json(own, total)).collect());
                lists.push(json!({"path": path.as_str(), "nodes": nodes}));
                return Ok(());
            }
            if !is_one {
                writeln!(out, "{}:", printable(path))?;
            }
            Ok(self.print(&totals, out)?)
        });
        if self.json && !lists.is_empty() {
            let all = if is_one { lists.remove(0) } else { Json::Array(lists) };
            print_json(out, &all)?;
        }
        result
    }

    /// Returns the numbers for each node, once excluding and once including all nodes below it.
    fn totals(&self, global: &Global, path: &str) -> Result<Vec<(Sum, Sum)>> {
        let node = if self.inner { global.read(path)? } else { global.look(path)? };
        let progress = Progress::new(path, 0);
        let bar = progress.clone();
        let usage = Usage::new().inner(self.inner).on_progress(move |done| {
            bar.set(done.done, done.total);
            interrupt::check()
        });
        // The total of a node is complete when the next node is not below it.
        let (mut open, mut all): (Vec<usize>, Vec<(Sum, Sum)>) = (Vec::new(), Vec::new());
        usage.run(&node, |node| {
            let own = Sum::of(&node);
            while open.last().is_some_and(|&last| !own.is_below(&all[last].0.path)) {
                open.pop();
            }
            for &above in &open {
                all[above].1.add(&own);
            }
            open.push(all.len());
            all.push((own.clone(), own));
            Ok(())
        })?;
        progress.finish(None);
        Ok(all)
    }

    fn print(&self, totals: &[(Sum, Sum)], out: &mut dyn Write) -> std::io::Result<()> {
        let mut shown: Vec<&Sum> = totals.iter().map(|(_, total)| total).collect();
        shown.retain(|total| self.depth.is_none_or(|depth| total.depth() <= depth));
        if self.sort == Sort::Size {
            shown.sort_by_key(|total| std::cmp::Reverse(total.stored));
        }
        let head = ["stored", "logical", "ratio", "chunks", "path"].map(str::to_owned);
        let rows: Vec<[String; 5]> =
            [head].into_iter().chain(shown.iter().map(|sum| self.row(sum))).collect();
        print_table(out, &rows)?;
        let Some((_, total)) = totals.first() else { return Ok(()) };
        if let Some(inner) = total.inner {
            let bytes = self.size(inner.bytes);
            writeln!(
                out,
                "inside of shards: {} chunks stored ({bytes}), {} empty",
                inner.stored, inner.empty
            )?;
        }
        if self.histogram {
            self.print_histogram(total, out)?;
        }
        out.flush()?;
        if total.orphans.0 > 0 {
            let bytes = self.size(total.orphans.1);
            note(&format!("{} objects ({bytes}) do not belong to a node or a chunk", total.orphans.0));
        }
        Ok(())
    }

    fn row(&self, sum: &Sum) -> [String; 5] {
        let many = |number: u64, shown: String| if number == u64::MAX { "many".to_owned() } else { shown };
        let chunks = format!("{}/{}", sum.chunks, many(sum.possible, sum.possible.to_string()));
        let ratio = sum.ratio().filter(|_| sum.possible > 0);
        let path = printable(&sum.path);
        [
            self.size(sum.stored),
            many(sum.logical, self.size(sum.logical)),
            ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
            chunks,
            if sum.is_array || sum.path == "/" { path } else { format!("{path}/") },
        ]
    }

    fn size(&self, bytes: u64) -> String {
        if self.bytes { bytes.to_string() } else { HumanBytes(bytes).to_string() }
    }

    fn print_histogram(&self, total: &Sum, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "sizes of chunks")?;
        for (power, &count) in total.sizes.iter().enumerate().filter(|(_, count)| **count > 0) {
            let below = 1_u64.checked_shl(u32::try_from(power + 1).unwrap_or(u32::MAX)).unwrap_or(u64::MAX);
            writeln!(out, "  below {:>10}  {count}", self.size(below))?;
        }
        Ok(())
    }
}

fn to_json(own: &Sum, total: &Sum) -> Json {
    let numbers = |sum: &Sum| {
        let inner = sum.inner.map_or(
            Json::Null,
            |inner| json!({"stored": inner.stored, "empty": inner.empty, "bytes": inner.bytes}),
        );
        let many = |number: u64| if number == u64::MAX { Json::Null } else { Json::from(number) };
        let (logical, possible) = (many(sum.logical), many(sum.possible));
        json!({
            "bytes_stored": sum.stored, "bytes": logical, "chunks_stored": sum.chunks, "chunks": possible,
            "inner_chunks": inner, "orphans": sum.orphans.0, "orphan_bytes": sum.orphans.1,
            "chunk_sizes": sum.sizes.as_slice(),
        })
    };
    let mut json = numbers(own);
    json["path"] = Json::from(own.path.as_str());
    json["node_type"] = Json::from(if own.is_array { "array" } else { "group" });
    json["total"] = numbers(total);
    json
}
