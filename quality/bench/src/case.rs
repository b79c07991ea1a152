//! A case: the array, the number of threads, and the work.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::failure::Failure;
use crate::region::Region;
use crate::values::Formula;

/// A case for a contestant.
pub(crate) struct Case {
    pub(crate) array: PathBuf,
    pub(crate) output: PathBuf,
    pub(crate) threads: usize,
    pub(crate) work: Work,
    /// The number of times that one run repeats the work.
    pub(crate) repeat: usize,
}

pub(crate) enum Work {
    Read { boxes: Vec<Region>, at_once: usize, opened: bool },
    Write { boxes: Vec<Region>, at_once: usize },
    Copy,
    Rechunk { memory: usize },
    Select { selection: Arc<Selection>, opened: bool },
    SelectWrite { selection: Arc<Selection> },
    Append { count: usize, rows: usize },
    Open { names: Vec<String> },
    OpenConsolidated { names: Vec<String> },
    List,
    Info,
    Fill(Formula),
}

/// Positions along an axis.
pub(crate) struct Strided {
    pub(crate) start: usize,
    pub(crate) stop: usize,
    pub(crate) step: usize,
}

pub(crate) enum Selection {
    Strided(Vec<Strided>),
    Orthogonal(Vec<Vec<i64>>),
    Coordinates(Vec<Vec<i64>>),
    Mask { seed: u64 },
    Blocks(Region),
}

impl Case {
    pub(crate) fn parse(line: &str) -> Result<Self, Failure> {
        let case: Value = serde_json::from_str(line)?;
        let work = &case["work"];
        Ok(Self {
            array: text(&case["array"])?.into(),
            output: case["output"].as_str().unwrap_or_default().into(),
            threads: number(&case["threads"]).unwrap_or(1),
            repeat: number(&work["repeat"]).unwrap_or(1),
            work: Work::parse(work)?,
        })
    }
}

impl Work {
    fn parse(work: &Value) -> Result<Self, Failure> {
        let opened = work["opened"].as_bool().unwrap_or(false);
        let at_once = number(&work["at_once"]).unwrap_or(1);
        let boxes = || list(&work["boxes"])?.iter().map(region).collect::<Result<_, Failure>>();
        let names = || list(&work["names"])?.iter().map(text).collect::<Result<_, Failure>>();
        let selection = || Selection::parse(&work["selection"]).map(Arc::new);
        Ok(match text(&work["kind"])?.as_str() {
            "read" => Self::Read { boxes: boxes()?, at_once, opened },
            "write" => Self::Write { boxes: boxes()?, at_once },
            "copy" => Self::Copy,
            "rechunk" => Self::Rechunk { memory: number(&work["memory"])? },
            "select" => Self::Select { selection: selection()?, opened },
            "select_write" => Self::SelectWrite { selection: selection()? },
            "append" => Self::Append { count: number(&work["count"])?, rows: number(&work["rows"])? },
            "open" => Self::Open { names: names()? },
            "open_consolidated" => Self::OpenConsolidated { names: names()? },
            "list" => Self::List,
            "info" => Self::Info,
            "fill" => Self::Fill(Formula::parse(&text(&work["values"])?)?),
            other => return Err(Failure::Unsupported(format!("work of the kind {other}"))),
        })
    }
}

impl Selection {
    fn parse(selection: &Value) -> Result<Self, Failure> {
        let indices = || list(&selection["indices"])?.iter().map(integers).collect::<Result<_, Failure>>();
        let slices = || list(&selection["slices"]);
        Ok(match text(&selection["kind"])?.as_str() {
            "strided" => Self::Strided(slices()?.iter().map(strided).collect::<Result<_, _>>()?),
            "orthogonal" => Self::Orthogonal(indices()?),
            "coordinates" => Self::Coordinates(indices()?),
            "mask" => Self::Mask { seed: number(&selection["seed"])? as u64 },
            "blocks" => Self::Blocks(slices()?.iter().map(range).collect::<Result<_, _>>()?),
            other => return Err(Failure::Unsupported(format!("selections by {other}"))),
        })
    }
}

/// Returns true if a mask selects the element at a flat index.
pub(crate) fn is_masked(index: u64, seed: u64) -> bool {
    index.wrapping_add(seed).wrapping_mul(2_654_435_761) & 0xFFFF_FFFF < 1 << 31
}

fn invalid(what: &str, value: &Value) -> Failure {
    Failure::Error(format!("{value} is not a valid {what}"))
}

fn text(value: &Value) -> Result<String, Failure> {
    value.as_str().map(str::to_owned).ok_or_else(|| invalid("text", value))
}

fn number(value: &Value) -> Result<usize, Failure> {
    value.as_u64().map(|number| number as usize).ok_or_else(|| invalid("number", value))
}

fn list(value: &Value) -> Result<&Vec<Value>, Failure> {
    value.as_array().ok_or_else(|| invalid("list", value))
}

fn integers(value: &Value) -> Result<Vec<i64>, Failure> {
    let integer = |value: &Value| value.as_i64().ok_or_else(|| invalid("integer", value));
    list(value)?.iter().map(integer).collect()
}

fn range(value: &Value) -> Result<Range<usize>, Failure> {
    Ok(number(&value[0])?..number(&value[1])?)
}

fn region(value: &Value) -> Result<Region, Failure> {
    list(value)?.iter().map(range).collect()
}

fn strided(value: &Value) -> Result<Strided, Failure> {
    Ok(Strided { start: number(&value[0])?, stop: number(&value[1])?, step: number(&value[2])?.max(1) })
}
