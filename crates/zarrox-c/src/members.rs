//! JSON objects with known members.

use zarrox::Result;
use zarrox::internals::argument;
use zarrox::json::{Json, Map};

/// The members of an argument. Each known member is taken once; a member that remains is unknown.
pub(crate) struct Members {
    name: &'static str,
    map: Map,
    known: Vec<&'static str>,
}

impl Members {
    /// Creates the members of the argument called `name`.
    pub(crate) fn new(name: &'static str, map: Map) -> Self {
        Self { name, map, known: Vec::new() }
    }

    /// Takes a member. A null member counts as missing.
    pub(crate) fn take(&mut self, member: &'static str) -> Option<Json> {
        self.take_any(member).filter(|json| !json.is_null())
    }

    /// Takes a member, which may be null.
    pub(crate) fn take_any(&mut self, member: &'static str) -> Option<Json> {
        self.known.push(member);
        self.map.remove(member)
    }

    /// Takes a member and converts it. `wanted` completes the sentence "must be".
    pub(crate) fn get<T>(
        &mut self,
        member: &'static str,
        wanted: &str,
        convert: impl FnOnce(&Json) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(json) = self.take(member) else { return Ok(None) };
        convert(&json).map(Some).ok_or_else(|| self.wrong(member, wanted, &json))
    }

    /// Takes a member that must be one of the given words.
    pub(crate) fn word<T: Copy>(&mut self, member: &'static str, words: &[(&str, T)]) -> Result<Option<T>> {
        let names: Vec<String> = words.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        self.get(member, &names.join(" or "), |json| {
            let text = json.as_str()?;
            words.iter().find(|(name, _)| *name == text).map(|(_, value)| *value)
        })
    }

    pub(crate) fn flag(&mut self, member: &'static str) -> Result<Option<bool>> {
        self.get(member, "true or false", Json::as_bool)
    }

    pub(crate) fn number(&mut self, member: &'static str) -> Result<Option<usize>> {
        self.get(member, "an integer that is not negative", |json| usize::try_from(json.as_u64()?).ok())
    }

    pub(crate) fn lengths(&mut self, member: &'static str) -> Result<Option<Vec<u64>>> {
        self.get(member, "a list of lengths", |json| json.as_array()?.iter().map(Json::as_u64).collect())
    }

    pub(crate) fn wrong(&self, member: &str, wanted: &str, json: &Json) -> zarrox::Error {
        argument(format!("'{member}' of '{}' must be {wanted}, not {json}", self.name))
    }

    /// Returns an error if a member remains.
    pub(crate) fn finish(self) -> Result<()> {
        let Some(unknown) = self.map.keys().next() else { return Ok(()) };
        let known = self.known.join(", ");
        Err(argument(format!("unknown member '{unknown}' of '{}'; the members are {known}", self.name)))
    }
}
