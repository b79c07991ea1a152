//! The byte order of stored numbers.

use super::storage::{Leaf, Storage};
use crate::json::Json;

/// The byte order of stored numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endian {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

impl Endian {
    /// The native byte order of the machine.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };

    /// Returns the name in v3 metadata.
    #[doc(hidden)]
    pub fn name(self) -> &'static str {
        match self {
            Self::Little => "little",
            Self::Big => "big",
        }
    }

    /// Returns the byte order with this name.
    #[doc(hidden)]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Little, Self::Big].into_iter().find(|endian| endian.name() == name)
    }

    /// Returns the character in v2 metadata.
    #[doc(hidden)]
    pub fn character(self) -> char {
        match self {
            Self::Little => '<',
            Self::Big => '>',
        }
    }
}

/// The byte order of stored elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ByteOrder {
    /// All numbers have the same byte order.
    One(Endian),
    /// The numbers of a structured element have separate byte orders, one for each of its [leaves](Storage::leaves) to which a
    /// byte order applies.
    Each(Vec<Endian>),
}

impl ByteOrder {
    /// Returns the byte order in the form of the `endian` member of the `bytes` codec. A list exists only in the model: v3
    /// metadata cannot contain it.
    pub fn to_json(&self) -> Json {
        match self {
            Self::One(endian) => endian.name().into(),
            Self::Each(endians) => endians.iter().map(|endian| endian.name()).collect::<Vec<_>>().into(),
        }
    }

    /// Parses a byte order in the form of [`ByteOrder::to_json`].
    pub fn from_json(json: &Json) -> Option<Self> {
        let one = |json: &Json| json.as_str().and_then(Endian::parse);
        match json {
            Json::Array(list) => list.iter().map(one).collect::<Option<_>>().map(Self::Each),
            single => one(single).map(Self::One),
        }
    }

    /// Returns the leaves of an element whose bytes must be reversed between memory and the store.
    pub fn swapped(&self, storage: &Storage) -> Vec<Leaf> {
        let ordered = storage.leaves().into_iter().filter(|leaf| leaf.word > 1).enumerate();
        let endian = |index| match self {
            Self::One(endian) => Some(*endian),
            Self::Each(endians) => endians.get(index).copied(),
        };
        ordered.filter(|(index, _)| endian(*index) != Some(Endian::NATIVE)).map(|(_, leaf)| leaf).collect()
    }
}
