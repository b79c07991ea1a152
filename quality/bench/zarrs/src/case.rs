//! The work of a contestant.

use serde_json::Value;
use zarrs::array::{ArraySubset, CodecOptions};
use zarrs::config::{UseConsolidatedMetadata, global_config_mut};

use crate::outcome::Outcome;

pub(crate) struct Case {
    pub(crate) array: String,
    pub(crate) output: String,
    pub(crate) threads: usize,
    pub(crate) work: Value,
}

impl Case {
    pub(crate) fn parse(line: &str) -> Outcome<Self> {
        let case: Value = serde_json::from_str(line)?;
        Ok(Self {
            array: case["array"].as_str().ok_or("no 'array'")?.to_owned(),
            output: case["output"].as_str().unwrap_or_default().to_owned(),
            threads: usize::try_from(case["threads"].as_u64().ok_or("no 'threads'")?)?,
            work: case["work"].clone(),
        })
    }

    /// Sets the number of zarrs's threads.
    pub(crate) fn use_threads(&self) -> Outcome<()> {
        rayon::ThreadPoolBuilder::new().num_threads(self.threads).build_global()?;
        let consolidated = match self.kind() {
            "open_consolidated" => UseConsolidatedMetadata::Must,
            _ => UseConsolidatedMetadata::Never,
        };
        let mut config = global_config_mut();
        config.set_codec_concurrent_target(self.threads);
        config.set_use_consolidated_metadata(consolidated);
        Ok(())
    }

    /// Returns the options of each of several parallel calls.
    pub(crate) fn options(&self) -> CodecOptions {
        let each = (self.threads / self.at_once()).max(1);
        let options = CodecOptions::default().with_concurrent_target(each);
        if self.at_once() == 1 { options } else { options.with_chunk_concurrent_minimum(each) }
    }

    pub(crate) fn kind(&self) -> &str {
        self.work["kind"].as_str().unwrap_or_default()
    }

    pub(crate) fn repeat(&self) -> u64 {
        self.number("repeat").unwrap_or(1)
    }

    pub(crate) fn at_once(&self) -> usize {
        self.number("at_once").map_or(1, |count| usize::try_from(count).unwrap_or(usize::MAX)).max(1)
    }

    pub(crate) fn opened(&self) -> bool {
        self.work["opened"].as_bool().unwrap_or(false)
    }

    pub(crate) fn number(&self, member: &str) -> Option<u64> {
        self.work[member].as_u64()
    }

    pub(crate) fn names(&self) -> Outcome<Vec<String>> {
        Ok(serde_json::from_value(self.work["names"].clone())?)
    }

    pub(crate) fn boxes(&self) -> Outcome<Vec<ArraySubset>> {
        let boxes: Vec<Vec<[u64; 2]>> = serde_json::from_value(self.work["boxes"].clone())?;
        Ok(boxes.iter().map(|ranges| subset(ranges)).collect())
    }

    /// Returns the chunks of a block selection; `None` for other kinds of selections.
    pub(crate) fn blocks(&self) -> Outcome<Option<ArraySubset>> {
        let selection = &self.work["selection"];
        if selection["kind"] != "blocks" {
            return Ok(None);
        }
        let slices: Vec<[u64; 2]> = serde_json::from_value(selection["slices"].clone())?;
        Ok(Some(subset(&slices)))
    }
}

fn subset(ranges: &[[u64; 2]]) -> ArraySubset {
    let ranges: Vec<_> = ranges.iter().map(|&[start, stop]| start..stop).collect();
    ArraySubset::new_with_ranges(&ranges)
}
