//! The targets of references: the stores for their URLs and paths, and the rules by which targets may be opened.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::options::{Reach, ReferenceOptions};
use crate::url::options::REMOTE;
use crate::url::scheme::OpenUrl;
use crate::url::{is_url, strip_file_scheme};
use crate::{Key, Prefix, StorageOptions, Store, StoreError, StoreErrorKind, StoreUrl};

/// The schemes of stores to which any reference may point.
const PUBLIC: [&str; 10] = ["http", "https", "s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss"];
/// The stages of a URL chain that may surround the URL of a public store.
const AROUND: [&str; 3] = ["filecache", "simplecache", "zip"];
/// The maximum number of stores that are kept open.
const OPEN: usize = 64;
/// The option that must only be sent to the server of the references.
const TOKEN: &str = "bearer_token";

/// The stores to which references point.
pub(super) struct Targets {
    options: ReferenceOptions,
    /// The store that contains the references, and their prefix in it.
    beside: (Arc<dyn Store>, Prefix),
    /// The scheme and host in the URL of the references.
    origin: Option<String>,
    open: Mutex<HashMap<String, Opened>>,
    /// The function that opens the store at any URL.
    open_url: OpenUrl,
}

/// A store, and a path in it.
type Opened = (Arc<dyn Store>, String);

impl fmt::Debug for Targets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Targets").finish_non_exhaustive()
    }
}

/// The target of a reference.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    File(PathBuf),
    /// A path relative to the directory of the references.
    Beside(String),
    Url(String),
}

/// Returns the key of a relative path.
fn key_of(path: &std::path::Path) -> Result<Key, StoreError> {
    let segments: Option<Vec<&str>> = path.iter().map(|segment| segment.to_str()).collect();
    Key::new(segments.unwrap_or_default().join("/"))
}

impl Targets {
    pub(super) fn new(
        options: ReferenceOptions,
        beside: (Arc<dyn Store>, Prefix),
        origin: Option<&str>,
        open_url: OpenUrl,
    ) -> Self {
        let origin = origin.and_then(|url| StoreUrl::parse(url).ok()).map(|url| origin_of(&url));
        Self { options, beside, origin, open: Mutex::default(), open_url }
    }

    /// Returns the store to which a reference points, and the key in it.
    pub(super) fn find(&self, url: Option<&str>) -> Result<(Arc<dyn Store>, Key), StoreError> {
        let Some(url) = url.or(self.options.target.as_deref()) else {
            let message = "the reference has no target; set the storage option 'target'";
            return Err(StoreError::new(StoreErrorKind::NotFound, "reading", message));
        };
        match place(url, &self.options)? {
            Target::File(path) => self.file(&path),
            Target::Beside(path) => Ok((Arc::clone(&self.beside.0), self.beside.1.key(&path)?)),
            Target::Url(url) => self.object(&url),
        }
    }

    /// Returns true if a target is local according to its URL.
    pub(super) fn is_near(&self, url: Option<&str>) -> bool {
        let Some(url) = url.or(self.options.target.as_deref()) else { return true };
        match place(url, &self.options) {
            Err(_) | Ok(Target::File(_)) => true,
            Ok(Target::Beside(_)) => self.beside.0.capabilities().in_flight.is_none(),
            Ok(Target::Url(_)) => false,
        }
    }

    fn file(&self, path: &std::path::Path) -> Result<(Arc<dyn Store>, Key), StoreError> {
        let fail =
            |error| StoreError::from_io("reading", error).with_location(path.to_string_lossy().into_owned());
        let path = crate::local::directory::resolve(path).map_err(fail)?;
        if self.options.reach() == Reach::Beside {
            return self.below(&path);
        }
        let volume = path.ancestors().last().unwrap_or(&path);
        let root = || Ok((Arc::new(crate::DirectoryStore::open(volume)?) as Arc<dyn Store>, String::new()));
        let (store, _) = self.opened(&volume.to_string_lossy(), root)?;
        Ok((store, key_of(path.strip_prefix(volume).unwrap_or(&path))?))
    }

    /// Opens a file below the directory of the references. The store does not follow links out of the directory.
    fn below(&self, path: &std::path::Path) -> Result<(Arc<dyn Store>, Key), StoreError> {
        let (store, _) = &self.beside;
        let below = store.directory().and_then(|directory| path.strip_prefix(directory).ok());
        match below {
            Some(below) => Ok((Arc::clone(store), key_of(below)?)),
            None => Err(refused(&format!("'{}', outside its own directory", path.display()))),
        }
    }

    fn object(&self, text: &str) -> Result<(Arc<dyn Store>, Key), StoreError> {
        let url = StoreUrl::parse(text).ok().filter(|url| PUBLIC.contains(&url.scheme()) && !is_chain(text));
        let Some(url) = url else { return self.elsewhere(text) };
        let user = url.user_info().map(|user| format!("{user}@")).unwrap_or_default();
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let root = format!("{}://{user}{}/{query}", url.scheme(), url.authority());
        let is_own = self.options.is_local || self.origin.as_ref() == Some(&origin_of(&url));
        let (store, _) = self.opened(&root, || self.located(&root, is_own))?;
        let invalid = |error: StoreError| {
            let message = "the path of the target does not name a file";
            StoreError::new(error.kind(), "reading", message).with_location(url.to_string())
        };
        Ok((store, Key::new(path_of(&url)).map_err(invalid)?))
    }

    /// Opens a target in any other kind of store. The kind itself parses the URL.
    fn elsewhere(&self, text: &str) -> Result<(Arc<dyn Store>, Key), StoreError> {
        let (store, path) = self.opened(text, || self.located(text, self.options.is_local))?;
        Ok((store, Key::new(path)?))
    }

    fn located(&self, url: &str, is_own: bool) -> Result<Opened, StoreError> {
        let located = (self.open_url)(url, &self.storage(is_own))?;
        Ok((located.store, located.path))
    }

    /// Returns the store with a name, opening it if necessary.
    fn opened(
        &self,
        name: &str,
        open: impl FnOnce() -> Result<Opened, StoreError>,
    ) -> Result<Opened, StoreError> {
        let mut all = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = all.get(name) {
            return Ok(opened.clone());
        }
        let opened = open()?;
        if all.len() == OPEN {
            all.clear();
        }
        all.insert(name.to_owned(), opened.clone());
        Ok(opened)
    }

    /// Returns the options for a target. A token is only sent to the server of the references, unless it is meant for targets.
    fn storage(&self, is_own: bool) -> StorageOptions {
        let given = &self.options.storage;
        let shared = given.iter().filter(|(name, _)| !name.starts_with(REMOTE));
        let shared = shared.filter(|(name, _)| is_own || *name != TOKEN);
        let own = given.iter().filter_map(|(name, value)| Some((name.strip_prefix(REMOTE)?, value)));
        shared.chain(own).collect()
    }
}

fn origin_of(url: &StoreUrl<'_>) -> String {
    format!("{}://{}", url.scheme(), url.authority())
}

/// Returns the path of an object relative to the root of its server or bucket.
fn path_of(url: &StoreUrl<'_>) -> String {
    let path = url.path().strip_prefix('/').unwrap_or_default();
    #[cfg(feature = "http")]
    if matches!(url.scheme(), "http" | "https") {
        return percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned();
    }
    path.to_owned()
}

/// Returns true if a URL is a chain of stores.
fn is_chain(text: &str) -> bool {
    text.contains("::") || text.contains('|')
}

/// Returns true if a URL refers to a public store, possibly through a cache or an archive.
fn is_public(text: &str) -> bool {
    let (stages, inner) = text.rsplit_once("::").unwrap_or(("", text));
    let mut parts = inner.split('|');
    let url = parts.next().unwrap_or_default();
    let named = |part: &str| part.split(':').next().is_some_and(|name| AROUND.contains(&name));
    StoreUrl::parse(url).is_ok_and(|url| PUBLIC.contains(&url.scheme()))
        && parts.all(named)
        && (stages.is_empty() || stages.split("::").all(named))
}

/// Returns true if the target is itself a set of references, so that references could even point to themselves.
fn is_reference(text: &str) -> bool {
    let inner = text.split("::").any(|part| part == "reference" || part.starts_with("reference://"));
    inner || text.split('|').skip(1).any(|part| part.starts_with("reference:"))
}

/// Returns the target of a reference if references may point to it.
fn place(text: &str, options: &ReferenceOptions) -> Result<Target, StoreError> {
    if is_reference(text) {
        let message = "a reference points to other references, which is not supported";
        return Err(StoreError::new(StoreErrorKind::Unsupported, "reading", message));
    }
    if let Some(path) = strip_file_scheme(text).or_else(|| text.strip_prefix("local://")) {
        return file(path, options);
    }
    if !is_url(text) {
        return path(text, options);
    }
    let may = match options.reach() {
        Reach::Everywhere => true,
        Reach::Beside => is_public(text),
        Reach::Nowhere => is_public(text) && !is_chain(text),
    };
    if may {
        Ok(Target::Url(text.to_owned()))
    } else {
        Err(refused("a store other than a bucket or a web server"))
    }
}

fn path(path: &str, options: &ReferenceOptions) -> Result<Target, StoreError> {
    match options.remote_protocol.as_deref() {
        Some("file" | "local") => file(path, options),
        Some(protocol) => place(
            &format!("{protocol}://{path}"),
            &ReferenceOptions { remote_protocol: None, ..options.clone() },
        ),
        None if options.is_local || path.starts_with('/') => file(path, options),
        None => Ok(Target::Beside(path.strip_prefix("./").unwrap_or(path).to_owned())),
    }
}

fn file(path: &str, options: &ReferenceOptions) -> Result<Target, StoreError> {
    match options.reach() {
        Reach::Nowhere => Err(refused("a file on this machine")),
        Reach::Beside | Reach::Everywhere => Ok(Target::File(path.into())),
    }
}

fn refused(what: &str) -> StoreError {
    let message = format!(
        "the reference points to {what}; only the storage option 'allow_local' allows that (set it to 'true' if you trust the references),"
    );
    StoreError::new(StoreErrorKind::Forbidden, "reading", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryStore;

    fn kind(text: &str, options: &ReferenceOptions) -> Result<Target, StoreErrorKind> {
        place(text, options).map_err(|error| error.kind())
    }

    fn url(text: &str) -> Result<Target, StoreErrorKind> {
        Ok(Target::Url(text.to_owned()))
    }

    #[test]
    fn references_from_elsewhere_lead_to_nothing_on_this_machine() {
        let options = ReferenceOptions::new();
        for text in [
            "/etc/passwd",
            "file:///etc/passwd",
            "local:///etc/passwd",
            "file://etc/passwd",
            "memory://a",
            "sqlite:///a/b.db",
            "simplecache::file:///etc/passwd",
            "simplecache::/etc/passwd",
            "zip://a::/b.zip",
            "https://h/a|zip:b",
            "redis://localhost/0",
            "zip://a::https://h/b.zip",
            "FILE:///etc/passwd",
        ] {
            assert_eq!(kind(text, &options), Err(StoreErrorKind::Forbidden), "{text}");
        }
        for text in ["https://h/a?b=c", "s3://b/c", "gs://b/c", "abfss://c@a.dfs.core.windows.net/d"] {
            assert_eq!(kind(text, &options), url(text));
        }
        assert_eq!(kind("./a/b.nc", &options), Ok(Target::Beside("a/b.nc".into())));
        assert_eq!(kind("a/b.nc", &options), Ok(Target::Beside("a/b.nc".into())));
        let trusting = ReferenceOptions::new().allow_local(true);
        assert_eq!(kind("/a", &trusting), Ok(Target::File("/a".into())));
        assert_eq!(kind("memory://a", &trusting), url("memory://a"));
        assert_eq!(kind("a/b.nc", &trusting), Ok(Target::Beside("a/b.nc".into())));
    }

    #[test]
    fn local_references_lead_to_files_and_to_public_stores_and_not_to_references() {
        let options = ReferenceOptions { is_local: true, ..ReferenceOptions::new() };
        for (text, path) in [("/a b", "/a b"), ("a/b.nc", "a/b.nc"), ("file:///a?b", "/a?b")] {
            assert_eq!(kind(text, &options), Ok(Target::File(path.into())));
        }
        for text in [
            "zip://a::s3://b/c.zip",
            "simplecache::s3://b/c",
            "https://h/a.zip|zip:b",
            "zip://a::filecache::s3://b/c.zip",
        ] {
            assert_eq!(kind(text, &options), url(text));
        }
        for text in [
            "zip://a::/b.zip",
            "simplecache::file:///etc/passwd",
            "memory://a",
            "sqlite:///a/b.db",
            "file://a::s3://b/c",
        ] {
            assert_ne!(kind(text, &options), url(text));
        }
        for text in
            ["reference::a.json", "/a.json|reference:b", "reference://", "simplecache::reference://a::b"]
        {
            assert_eq!(kind(text, &options), Err(StoreErrorKind::Unsupported), "{text}");
        }
        let strict = options.allow_local(false);
        assert_eq!(kind("a/b.nc", &strict), Err(StoreErrorKind::Forbidden));
    }

    #[test]
    fn a_protocol_is_put_before_paths() {
        let options = ReferenceOptions::new().remote_protocol("s3");
        assert_eq!(kind("b/c", &options), url("s3://b/c"));
        assert_eq!(kind("gs://b/c", &options), url("gs://b/c"));
        let options = ReferenceOptions::new().remote_protocol("file");
        assert_eq!(kind("b/c", &options), Ok(Target::File("b/c".into())));
        assert_eq!(
            kind("b", &ReferenceOptions::new().remote_protocol("memory")),
            Err(StoreErrorKind::Forbidden)
        );
    }

    #[test]
    fn tokens_stay_with_the_server_of_the_references() {
        let storage = StorageOptions::new().with(TOKEN, "a").with("endpoint", "b");
        let targets = |storage: &StorageOptions, origin| {
            let options = ReferenceOptions::new().storage(storage.clone());
            Targets::new(
                options,
                (Arc::new(MemoryStore::new()), Prefix::root()),
                origin,
                crate::registry().opener(),
            )
        };
        let all = targets(&storage, Some("https://h/a.json"));
        assert_eq!(all.origin.as_deref(), Some("https://h"));
        assert_eq!((all.storage(true).get(TOKEN), all.storage(true).get("endpoint")), (Some("a"), Some("b")));
        assert_eq!((all.storage(false).get(TOKEN), all.storage(false).get("endpoint")), (None, Some("b")));
        let own = targets(&storage.with("remote_bearer_token", "c"), Some("https://h/a.json"));
        assert_eq!(own.storage(false).get(TOKEN), Some("c"));
    }
}
