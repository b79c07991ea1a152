//! Reading the members of a document, with errors that name the member.

use crate::data_type::Mode;
use crate::error::{Error, Result};
use crate::json::{Json, Map, integer, kind};

/// The members of a document that have not been read yet: what is left over at the end is unknown.
pub(super) struct Members {
    map: Map,
    mode: Mode,
}

impl Members {
    pub(super) fn new(map: Map, mode: Mode) -> Self {
        Self { map, mode }
    }

    pub(super) fn lenient(&self) -> bool {
        self.mode == Mode::Lenient
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.map.get(name)
    }

    pub(super) fn optional(&mut self, name: &str) -> Option<Json> {
        self.map.shift_remove(name)
    }

    pub(super) fn required(&mut self, name: &str) -> Result<Json> {
        self.optional(name).ok_or_else(|| Error::metadata(format!("the member '{name}' is missing")))
    }

    /// A list of lengths, such as a shape.
    pub(super) fn lengths(&mut self, name: &str) -> Result<Vec<u64>> {
        let json = self.required(name)?;
        lengths(name, &json, self.mode)
    }

    /// An object; absent, and leniently `null`, is an empty one.
    pub(super) fn object(&mut self, name: &str) -> Result<Map> {
        match self.optional(name) {
            None => Ok(Map::new()),
            Some(Json::Null) if self.lenient() => Ok(Map::new()),
            Some(Json::Object(map)) => Ok(map),
            Some(other) => Err(wrong(name, "an object", &other)),
        }
    }

    /// Checks the `zarr_format` member.
    pub(super) fn zarr_format(&mut self, version: u64) -> Result<()> {
        let json = self.required("zarr_format")?;
        if integer(&json, self.mode) == Some(version) {
            return Ok(());
        }
        Err(Error::metadata(format!("zarr_format is {json}, expected {version}")))
    }

    /// All members that nobody has asked for.
    pub(super) fn rest(self) -> Map {
        self.map
    }
}

/// The error for a member of the wrong type.
pub(super) fn wrong(name: &str, wants: &str, json: &Json) -> Error {
    let shown: String = json.to_string().chars().take(80).collect();
    Error::metadata(format!("the member '{name}' must be {wants}, it is {} ({shown})", kind(json)))
}

/// A list of lengths; leniently written as floats without a fraction.
pub(super) fn lengths(name: &str, json: &Json, mode: Mode) -> Result<Vec<u64>> {
    let list = json.as_array().ok_or_else(|| wrong(name, "a list of non-negative integers", json))?;
    list.iter()
        .map(|item| integer(item, mode).ok_or_else(|| wrong(name, "a list of non-negative integers", json)))
        .collect()
}
