//! `zarrox head` and `zarrox tail`: print the first and the last rows of arrays.

use std::io::Write;

use clap::Args;
use zarrox::Result;

use super::dump::Dump;
use crate::args::Global;
use crate::exit::{Failure, each, printable};
use crate::part::Part;

/// Print the first rows of arrays, along the first dimension
#[derive(Debug, Args)]
pub(crate) struct Head {
    #[command(flatten)]
    rows: Rows,
}

/// Print the last rows of arrays, along the first dimension
#[derive(Debug, Args)]
pub(crate) struct Tail {
    #[command(flatten)]
    rows: Rows,
}

#[derive(Debug, Args)]
struct Rows {
    /// The arrays
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,

    /// The number of rows
    #[arg(short = 'n', long = "rows", value_name = "N", default_value_t = 10)]
    count: u64,

    /// Print only this field of a structured data type; can be repeated
    #[arg(long = "field", value_name = "NAME")]
    fields: Vec<String>,

    /// Print CSV
    #[arg(long)]
    csv: bool,

    /// Print nested JSON lists
    #[arg(long, conflicts_with = "csv")]
    json: bool,
}

impl Head {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        self.rows.print(global, out, |count, length| (0, count.min(length)))
    }
}

impl Tail {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        self.rows.print(global, out, |count, length| (length.saturating_sub(count), length))
    }
}

impl Rows {
    /// Prints the rows in the range that `range` computes from the number of rows and the length of the array.
    fn print(
        &self,
        global: &Global,
        out: &mut dyn Write,
        range: impl Fn(u64, u64) -> (u64, u64),
    ) -> Result<(), Failure> {
        let paths = global.expanded(&self.paths)?;
        let (is_one, mut between) = (paths.len() == 1, "");
        each(out, &paths, |out, path| {
            let selection = match global.read_array(path)?.shape() {
                [] => "...".to_owned(),
                [length, ..] => {
                    let (begin, end) = range(self.count, *length);
                    format!("{begin}:{end}")
                }
            };
            if !is_one {
                writeln!(out, "{between}{}:", printable(path))?;
                between = "\n";
            }
            let part = Part::of(selection, self.fields.clone());
            Dump::new(path.clone(), part, self.csv, self.json).run(global, out)
        })
    }
}
