//! Reading the members of a document, with errors that name the member.

use std::borrow::Cow;

use crate::data_type::Mode;
use crate::error::{Error, Result};
use crate::json::{Json, Map, integer, kind};

/// The members of a document: what nobody has asked for at the end is unknown.
pub(super) struct Members<'a> {
    map: Cow<'a, Map>,
    /// The names of those that were there when they were asked for.
    read: Vec<&'static str>,
    mode: Mode,
}

impl<'a> Members<'a> {
    pub(super) fn new(map: Cow<'a, Map>, mode: Mode) -> Self {
        let read = Vec::with_capacity(map.len());
        Self { map, read, mode }
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

    /// A member, once: borrowed or owned, as the document is. What is taken out of a document leaves its place, since closing
    /// gaps would move all members behind.
    pub(super) fn optional(&mut self, name: &'static str) -> Option<Cow<'a, Json>> {
        if self.read.contains(&name) {
            return None;
        }
        let json = match &mut self.map {
            Cow::Borrowed(map) => Cow::Borrowed(map.get(name)?),
            Cow::Owned(map) => Cow::Owned(map.get_mut(name)?.take()),
        };
        self.read.push(name);
        Some(json)
    }

    /// The same, for those who change it or keep it.
    pub(super) fn take(&mut self, name: &'static str) -> Option<Json> {
        self.optional(name).map(Cow::into_owned)
    }

    pub(super) fn required(&mut self, name: &'static str) -> Result<Cow<'a, Json>> {
        self.optional(name).ok_or_else(|| Error::metadata(format!("the member '{name}' is missing")))
    }

    /// A list of lengths, such as a shape.
    pub(super) fn lengths(&mut self, name: &'static str) -> Result<Vec<u64>> {
        let json = self.required(name)?;
        lengths(name, &json, self.mode)
    }

    /// An object; absent, and leniently `null`, is an empty one.
    pub(super) fn object(&mut self, name: &'static str) -> Result<Map> {
        match self.take(name) {
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
        if self.read.len() == self.map.len() {
            return Map::new();
        }
        let mut map = self.map.into_owned();
        map.retain(|name, _| !self.read.contains(&name.as_str()));
        map
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
