//! Parses the options for opening and creating nodes from JSON.

use std::time::Duration;

use zarrox::json::{Json, Map};
use zarrox::{AccessOptions, Consolidated, Durability, Format, MissingChunks, OpenMode, OpenOptions, Result};

use crate::members::Members;

/// Returns the options in a JSON object. The header lists its members.
pub(crate) fn options(map: Map) -> Result<OpenOptions> {
    let mut members = Members::new("options", map);
    let mode: Option<Result<OpenMode>> =
        members.get("mode", "a text", |json| json.as_str().map(str::parse))?;
    let options = OpenOptions::new().mode(mode.transpose()?.unwrap_or_default());
    let options = format(&mut members)?.into_iter().fold(options, OpenOptions::format);
    let consolidated =
        [("auto", Consolidated::Auto), ("never", Consolidated::Never), ("require", Consolidated::Require)];
    let consolidated = members.word("consolidated", &consolidated)?;
    let options = consolidated.into_iter().fold(options, OpenOptions::consolidated);
    let durability =
        members.word("durability", &[("process", Durability::Process), ("disk", Durability::Disk)])?;
    let options = durability.into_iter().fold(options, OpenOptions::durability);
    let options = members.flag("strict")?.into_iter().fold(options, OpenOptions::strict);
    let options = members.flag("exclusive")?.into_iter().fold(options, OpenOptions::exclusive);
    let options = members.number("chunk_limit")?.into_iter().fold(options, OpenOptions::chunk_limit);
    let longest =
        members.get("lock_timeout", "seconds", |json| Duration::try_from_secs_f64(json.as_f64()?).ok())?;
    let options = longest.into_iter().fold(options, OpenOptions::lock_timeout);
    let options = options.access(&access(&mut members)?);
    let options = match members.get("storage", "an object", |json| json.as_object().cloned())? {
        Some(storage) => storage_options(options, &storage, &members)?,
        None => options,
    };
    members.finish()?;
    Ok(options)
}

/// Takes the format.
pub(crate) fn format(members: &mut Members) -> Result<Option<Format>> {
    let names: Vec<String> = Format::all().map(|format| format!("\"{format}\"")).collect();
    members.get("format", &names.join(" or "), |json| {
        let name =
            json.as_u64().map(|number| number.to_string()).or_else(|| json.as_str().map(str::to_owned))?;
        name.parse().ok()
    })
}

fn access(members: &mut Members) -> Result<AccessOptions> {
    let access = AccessOptions::new();
    let access = members.number("threads")?.into_iter().fold(access, AccessOptions::threads);
    let access = members.number("memory")?.into_iter().fold(access, AccessOptions::memory);
    let access = members.number("chunk_cache")?.into_iter().fold(access, AccessOptions::chunk_cache);
    let access = members.flag("verify_checksums")?.into_iter().fold(access, AccessOptions::verify_checksums);
    let access =
        members.flag("store_empty_chunks")?.into_iter().fold(access, AccessOptions::store_empty_chunks);
    let missing =
        members.word("missing_chunks", &[("fill", MissingChunks::Fill), ("error", MissingChunks::Error)])?;
    Ok(missing.into_iter().fold(access, AccessOptions::missing_chunks))
}

/// Adds store options, whose values are strings, numbers or booleans.
fn storage_options(options: OpenOptions, storage: &Map, members: &Members) -> Result<OpenOptions> {
    storage.iter().try_fold(options, |options, (name, value)| {
        let value = match value {
            Json::String(text) => text.clone(),
            Json::Number(_) | Json::Bool(_) => value.to_string(),
            _ => return Err(members.wrong("storage", "an object of texts, numbers and booleans", value)),
        };
        Ok(options.storage_option(name.as_str(), value))
    })
}
