//! The filters of LZMA as in Python's `lzma` module: `[{"id": 3, "dist": 4}, {"id": 33, "preset": 6}]`.

use liblzma::stream::{Filters, LzmaOptions, MatchFinder, Mode, PRESET_DEFAULT};
use zarrox_core::codec::CodecError;
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};

use crate::config::{Config, wrong};

const LZMA1: u64 = 0x4000_0000_0000_0001;
const LZMA2: u64 = 0x21;
const DELTA: u64 = 3;

/// A function that adds a filter for machine code. The filters for machine code have the numbers 4 to 11 and the option
/// `start_offset`.
type Branch = fn(&mut Filters, &[u8]) -> Option<()>;
const BRANCHES: [Branch; 8] = [
    |filters, offset| filters.x86_properties(offset).ok().map(drop),
    |filters, offset| filters.powerpc_properties(offset).ok().map(drop),
    |filters, offset| filters.ia64_properties(offset).ok().map(drop),
    |filters, offset| filters.arm_properties(offset).ok().map(drop),
    |filters, offset| filters.arm_thumb_properties(offset).ok().map(drop),
    |filters, offset| filters.sparc_properties(offset).ok().map(drop),
    |filters, offset| filters.arm64_properties(offset).ok().map(drop),
    |filters, offset| filters.riscv_properties(offset).ok().map(drop),
];

/// The maximum size of a dictionary, in bytes. Decoding allocates this much memory.
const DICTIONARY: u32 = 1 << 30;

const LZMA_OPTIONS: &[&str] = &["preset", "dict_size", "lc", "lp", "pb", "mode", "nice_len", "mf", "depth"];

/// A filter: its number, and the options that were given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filter {
    id: u64,
    options: Vec<(&'static str, u32)>,
}

impl Filter {
    fn parse(json: &Json, config: Config<'_>) -> Result<Self, CodecError> {
        let map = json.as_object().ok_or_else(|| wrong("filters", json, "a list of objects"))?;
        let id = map.get("id").ok_or_else(|| wrong("filters", json, "a list of objects with an 'id'"))?;
        let number = id.as_u64().or_else(|| config.to_integer(id).and_then(|n| u64::try_from(n).ok()));
        let id = number.ok_or_else(|| wrong("id", id, "the number of a filter"))?;
        let known: &[&str] = match id {
            LZMA1 | LZMA2 => LZMA_OPTIONS,
            DELTA => &["dist"],
            4..=11 => &["start_offset"],
            other => return Err(CodecError::unsupported(format!("LZMA has no filter {other}"))),
        };
        let options = read_options(map, known, config)?;
        Ok(Self { id, options })
    }

    fn option(&self, name: &str) -> Option<u32> {
        self.options.iter().find(|(option, _)| *option == name).map(|(_, value)| *value)
    }

    fn lzma_options(&self) -> Result<LzmaOptions, CodecError> {
        let mut options = preset_options(self.option("preset").unwrap_or(PRESET_DEFAULT))?;
        for &(name, value) in &self.options {
            let done = match name {
                "dict_size" if value > DICTIONARY => None,
                "dict_size" => Some(options.dict_size(value)),
                "lc" => Some(options.literal_context_bits(value)),
                "lp" => Some(options.literal_position_bits(value)),
                "pb" => Some(options.position_bits(value)),
                "nice_len" => Some(options.nice_len(value)),
                "depth" => Some(options.depth(value)),
                "mode" => mode(value).map(|mode| options.mode(mode)),
                "mf" => match_finder(value).map(|finder| options.match_finder(finder)),
                _ => Some(&mut options),
            };
            done.map(drop).ok_or_else(|| refused(name, value))?;
        }
        Ok(options)
    }

    fn push(&self, filters: &mut Filters) -> Result<(), CodecError> {
        let branch = self.id.checked_sub(4).and_then(|index| usize::try_from(index).ok());
        match (self.id, branch.and_then(|index| BRANCHES.get(index))) {
            (LZMA1, _) => drop(filters.lzma1(&self.lzma_options()?)),
            (LZMA2, _) => drop(filters.lzma2(&self.lzma_options()?)),
            (_, Some(branch)) => {
                let offset = self.option("start_offset").unwrap_or(0);
                branch(filters, &offset.to_le_bytes()).ok_or_else(|| refused("start_offset", offset))?;
            }
            _ => {
                let distance = self.option("dist").unwrap_or(1);
                let byte = distance.checked_sub(1).and_then(|byte| u8::try_from(byte).ok());
                let byte = byte.ok_or_else(|| refused("dist", distance))?;
                filters.delta_properties(&[byte]).map_err(|_| refused("dist", distance))?;
            }
        }
        Ok(())
    }

    fn to_json(&self) -> Json {
        let mut map = Map::default();
        map.insert("id".to_owned(), self.id.into());
        map.extend(self.options.iter().map(|&(name, value)| (name.to_owned(), json!(value))));
        map.into()
    }
}

fn read_options(
    map: &Map,
    known: &[&'static str],
    config: Config<'_>,
) -> Result<Vec<(&'static str, u32)>, CodecError> {
    let mut options = Vec::new();
    for (name, json) in map.iter().filter(|(name, _)| *name != "id") {
        let option = known.iter().find(|known| **known == name).ok_or_else(|| {
            CodecError::invalid(format!(
                "unknown option '{name}' of a filter; known are {}",
                known.join(", ")
            ))
        })?;
        let value = config.to_integer(json).and_then(|n| u32::try_from(n).ok());
        options.push((*option, value.ok_or_else(|| wrong(name, json, "a non-negative integer"))?));
    }
    Ok(options)
}

fn mode(value: u32) -> Option<Mode> {
    match value {
        1 => Some(Mode::Fast),
        2 => Some(Mode::Normal),
        _ => None,
    }
}

fn match_finder(value: u32) -> Option<MatchFinder> {
    match value {
        3 => Some(MatchFinder::HashChain3),
        4 => Some(MatchFinder::HashChain4),
        18 => Some(MatchFinder::BinaryTree2),
        19 => Some(MatchFinder::BinaryTree3),
        20 => Some(MatchFinder::BinaryTree4),
        _ => None,
    }
}

fn refused(name: &str, value: u32) -> CodecError {
    CodecError::invalid(format!("a filter's '{name}' cannot be {value}"))
}

/// Reads a list of filters.
pub(crate) fn parse(json: &Json, config: Config<'_>) -> Result<Vec<Filter>, CodecError> {
    let list = json.as_array().ok_or_else(|| wrong("filters", json, "null or a list of objects"))?;
    list.iter().map(|json| Filter::parse(json, config)).collect()
}

/// Returns the list as it is written to metadata.
pub(crate) fn to_json(filters: &[Filter]) -> Json {
    filters.iter().map(Filter::to_json).collect()
}

/// Builds the library's filter chain.
pub(crate) fn build(filters: &[Filter]) -> Result<Filters, CodecError> {
    let mut chain = Filters::new();
    filters.iter().try_for_each(|filter| filter.push(&mut chain))?;
    Ok(chain)
}

/// Returns the options of a preset.
pub(crate) fn preset_options(preset: u32) -> Result<LzmaOptions, CodecError> {
    LzmaOptions::new_preset(preset).map_err(|_| {
        CodecError::invalid(format!(
            "unknown 'preset' {preset}; expected 0 to 9, or 2^31 more for the slower search"
        ))
    })
}

/// Returns the options of the first filter.
pub(crate) fn first_options(filters: &[Filter]) -> Result<LzmaOptions, CodecError> {
    let first = filters.first().ok_or_else(|| CodecError::invalid("'filters' is empty"))?;
    first.lzma_options()
}

/// Returns true if a legacy `.lzma` stream can have these filters.
pub(crate) fn is_lzma1_alone(filters: &[Filter]) -> bool {
    matches!(filters, [Filter { id: LZMA1, .. }])
}
