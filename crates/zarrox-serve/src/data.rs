//! `/data/ROOT/KEY`: stored bytes, unchanged, and listings.

use std::path::Path;
use std::sync::Arc;

use axum::http::Uri;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use zarrox::stores::{ByteRange, Key, Prefix, Store, StoreExt, Value};

use crate::content::{self, BLOCK, BYTES, Content, JSON, Prepared, Wanted};
use crate::failure::{Answer, Failure};
use crate::file::identity;
use crate::place::Place;
use crate::query::{Count, NoParameters, Query};
use crate::ranges::{self, Asked};

/// The names of JSON documents without the extension `.json`.
const DOCUMENTS: [&str; 7] = [".zarray", ".zgroup", ".zattrs", ".zmetadata", "meta", "attrs", ".zarrox"];

/// The default number of entries in a listing.
const PAGE: u64 = 1000;
/// The maximum number of entries in a listing.
const LARGEST_PAGE: u64 = 100_000;

/// The parameters of a listing.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ListingQuery {
    /// The name after which the page begins.
    after: String,
    limit: Option<Count<LARGEST_PAGE>>,
}

/// The entries directly below a prefix.
#[derive(Debug, Serialize)]
pub(crate) struct Listing {
    pub(crate) prefix: String,
    pub(crate) keys: Vec<String>,
    pub(crate) prefixes: Vec<String>,
    /// The name after which the next page begins.
    pub(crate) next: Option<String>,
}

/// Responds to a request for stored bytes, or for a listing if the path ends with `/`.
pub(crate) async fn answer(place: Place, uri: Uri, wanted: Wanted) -> Answer<Response> {
    if place.is_directory || place.path.is_empty() {
        let Query(query) = Query::of(&uri)?;
        return place.json(wanted, move |root, path, _| listing(&*root.store, path, &query)).await;
    }
    let Query(NoParameters {}) = Query::of(&uri)?;
    let key = Key::new(place.path)?;
    let kind = kind_of(key.name());
    let (store, workers) = (place.root.store.clone(), &place.root.workers);
    let prepared = workers.run(move |_| stored(&store, &key, kind, &wanted)).await?;
    Ok(prepared.into_response(workers))
}

/// Returns the media type of a stored value.
fn kind_of(name: &str) -> &'static str {
    let is_document = name.ends_with(".json") || DOCUMENTS.contains(&name);
    if is_document { JSON } else { BYTES }
}

/// Opens a stored value, and determines which part of it is sent.
pub(crate) fn stored(
    store: &Arc<dyn Store>,
    key: &Key,
    kind: &'static str,
    wanted: &Wanted,
) -> Answer<Prepared> {
    let missing = || Failure::missing(format!("there is no '{key}'"));
    // A remote store sends the beginning of the value with its first response.
    let first = first_range(wanted).filter(|_| store.capabilities().in_flight.is_some());
    let value = store.open_unless_directory(key, first)?.ok_or_else(missing)?;
    let tag = tag(&**store, key, &*value);
    content::prepare(wanted, Content::Value(Arc::from(value)), kind, tag)
}

fn first_range(wanted: &Wanted) -> Option<ByteRange> {
    if wanted.head {
        return None;
    }
    let asked = wanted.headers.get(axum::http::header::RANGE).and_then(|range| range.to_str().ok());
    match asked.and_then(ranges::ranges).as_deref() {
        Some([Asked::From(offset, last)]) => {
            let length = last.map_or(BLOCK, |last| last.saturating_sub(*offset).saturating_add(1));
            Some(ByteRange::From { offset: *offset, length: Some(length.min(BLOCK)) })
        }
        Some([Asked::Last(length)]) => Some(ByteRange::Suffix { length: (*length).min(BLOCK) }),
        _ => Some(ByteRange::From { offset: 0, length: Some(BLOCK) }),
    }
}

/// Returns the strong entity tag of a value: from its version, or from the file that contains it.
pub(crate) fn tag(store: &dyn Store, key: &Key, value: &dyn Value) -> Option<String> {
    let place = store.location();
    let identity = match value.version() {
        Some(version) => version.as_bytes().to_vec(),
        // The file of an archive or a database.
        None => identity(Path::new(place.split_once("://").map_or(place.as_str(), |(_, path)| path)))?,
    };
    let size = value.size().to_le_bytes();
    Some(content::tag_of(&[place.as_bytes(), key.as_str().as_bytes(), &identity, &size]))
}

/// Returns the entries directly below a prefix whose names come after a name.
fn listing(store: &dyn Store, path: &str, query: &ListingQuery) -> Answer<Listing> {
    if !store.capabilities().listable {
        return Err(Failure::unsupported(format!("{} cannot list its keys", store.location())));
    }
    let prefix = if path.is_empty() { Prefix::root() } else { Prefix::new(format!("{path}/"))? };
    let found = store.list_dir(&prefix)?;
    if found.keys.is_empty() && found.prefixes.is_empty() && !path.is_empty() {
        return Err(Failure::missing(format!("there is nothing below '{path}/'")));
    }
    let keys = found.keys.iter().map(|key| (key.name(), false));
    let mut entries: Vec<(&str, bool)> =
        keys.chain(found.prefixes.iter().map(|prefix| (prefix.name(), true))).collect();
    entries.retain(|(name, _)| *name > query.after.as_str());
    entries.sort_unstable();
    let limit = usize::try_from(query.limit.map_or(PAGE, Count::get)).unwrap_or(usize::MAX);
    let rest = entries.len().saturating_sub(limit);
    entries.truncate(limit);
    let next = entries.last().filter(|_| rest > 0).map(|(name, _)| (*name).to_owned());
    let named = |is_prefix: bool| {
        let chosen = entries.iter().filter(|(_, other)| *other == is_prefix);
        chosen.map(|(name, _)| (*name).to_owned()).collect()
    };
    Ok(Listing { prefix: prefix.as_str().to_owned(), keys: named(false), prefixes: named(true), next })
}
