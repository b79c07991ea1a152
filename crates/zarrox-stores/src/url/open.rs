//! Opening the store at a URL or a chain of stores: [`StoreRegistry::open`].

#[cfg(feature = "zip")]
use super::options::SYNC;
use super::options::StorageOptions;
#[cfg(feature = "references")]
use super::references;
use super::registry::StoreRegistry;
use super::scheme::Located;
#[cfg(feature = "references")]
use super::scheme::OpenUrl;
use super::stage::{Stage, joined, local, split};
use super::text::StoreUrl;
use crate::{Key, StoreError, StoreErrorKind};

impl StoreRegistry {
    /// Opens the store at a URL. A missing store is detected on first use.
    ///
    /// | URL | store |
    /// |---|---|
    /// | `file:///path` | a directory |
    /// | `memory://path` | memory that is shared by all such URLs in this process |
    /// | `s3://bucket/path` | S3; `endpoint`, `region`, `anonymous`, `profile` … are storage options or are taken from the environment |
    /// | `az://container/path`, `abfss://container@account.dfs.core.windows.net/path` | Azure Blob Storage |
    /// | `gs://bucket/path` | a bucket of Google Cloud Storage; options `endpoint`, `token`, `credentials_file`, `anonymous` |
    /// | `https://host/path` | a web server, read-only |
    /// | `simplecache::URL`, `filecache::URL` | any of these, behind a cache on disk (`cache_directory`, or `~/.cache/zarrox`); `filecache` checks on each access whether the copy is up to date |
    /// | `URL/archive.zip/node`, `URL\|zip:node`, `zip://node::URL` | a zip archive in any of these, and a node in it |
    /// | `reference://node::URL`, `URL\|reference:node`, `reference://node` with the option `fo` | kerchunk references at a URL or path, and a node in them; options `target`, `remote_protocol`, `allow_local`, `memory_limit` and `remote_*` |
    ///
    /// The stores of zarrox-databases add:
    ///
    /// | URL | store |
    /// |---|---|
    /// | `sqlite:///path/data.db/node`, `lmdb://`, `redb://`, `gdbm://` | a database file, and a node in it |
    /// | `bdb:///path/data.bdb/node` | a Berkeley DB file, read-only, and a node in it |
    /// | `redis://user:password@host:port/database/node?prefix=` | a Redis database, and a node in it |
    /// | `mongodb://user:password@host:port/database/collection/node?options` | a MongoDB collection, and a node in it |
    /// | `webdav://user:password@host/path`, `webdavs://` with TLS | the files of a WebDAV server; options `user`, `password`, `token` |
    /// | `ftp://user:password@host/path` | the files of an FTP server; options `user`, `password` |
    /// | `hdfs://user@namenode:8020/path` | the files of a Hadoop cluster; other options are settings of the Hadoop client |
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Unsupported`] for a scheme that is unknown or not included in this build, [`StoreErrorKind::InvalidKey`]
    /// for an unknown option, and the errors of the store.
    pub fn open(&self, url: &str, options: &StorageOptions) -> Result<Located, StoreError> {
        self.check(options)?;
        self.open_chain(url, options)
    }

    /// Returns [`open`](Self::open) as a function object, for stores that open other URLs.
    #[cfg(feature = "references")]
    pub(crate) fn opener(&self) -> OpenUrl {
        let registry = self.clone();
        std::sync::Arc::new(move |url, options| registry.open(url, options))
    }

    fn open_chain(&self, text: &str, options: &StorageOptions) -> Result<Located, StoreError> {
        let Some((stage, outer)) = split(text) else {
            return archive_by_name(self.open_single(text, options)?);
        };
        match stage.name {
            "zip" => self.open_archive(outer, stage.path, options),
            #[cfg(feature = "references")]
            "reference" => references::open(outer, stage.path, options, self.opener()),
            #[cfg(not(feature = "references"))]
            "reference" => {
                let message = "references need the feature `references` of zarrox";
                let error = StoreError::new(StoreErrorKind::Unsupported, "opening", message);
                Err(error.with_location(shown(outer)))
            }
            "simplecache" | "filecache" => archive_by_name(self.open_cached(text, options)?),
            // A format is not a store. It is detected when the node is opened.
            "zarr" | "zarr2" | "zarr3" | "n5" => {
                let mut located = self.open_chain(outer, options)?;
                located.path = joined(&located.path, stage.path);
                Ok(located)
            }
            name => {
                let message = format!(
                    "unknown adapter '{name}' of a URL; expected one of 'zip', 'reference', 'simplecache' and 'filecache'"
                );
                let error = StoreError::new(StoreErrorKind::Unsupported, "opening", message);
                Err(error.with_location(shown(outer)))
            }
        }
    }

    /// Opens the store at a URL that is not a chain.
    fn open_single(&self, text: &str, options: &StorageOptions) -> Result<Located, StoreError> {
        let url = StoreUrl::parse(text)?;
        #[cfg(feature = "references")]
        if references::NAMES.contains(&url.scheme()) {
            return references::open_option(&url, options, self.opener());
        }
        self.open_scheme(&url, options)
    }

    /// Opens the store at a URL, behind a disk cache if the URL says so.
    fn open_cached(&self, text: &str, options: &StorageOptions) -> Result<Located, StoreError> {
        match split(text) {
            Some((Stage { name: "simplecache", .. }, outer)) => {
                cached(self.open_cached(outer, options)?, false, options)
            }
            Some((Stage { name: "filecache", .. }, outer)) => {
                cached(self.open_cached(outer, options)?, true, options)
            }
            _ => self.open_single(text, options),
        }
    }

    /// Opens an archive that is a local file or a value of any store.
    fn open_archive(&self, outer: &str, path: &str, options: &StorageOptions) -> Result<Located, StoreError> {
        if let Some(file) = local(outer) {
            return archive_at(file, path, options);
        }
        let located = self.open_cached(outer, options)?;
        let archive = located.path.clone();
        archive_in(&located, &archive, path)
    }
}

#[cfg(all(unix, feature = "cache"))]
fn cached(located: Located, validate: bool, options: &StorageOptions) -> Result<Located, StoreError> {
    use std::path::PathBuf;
    let own = || Some(PathBuf::from(std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty())?));
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let given = options.get("cache_directory").map(PathBuf::from);
    let directory = given.or_else(|| Some(own().or_else(home)?.join("zarrox"))).ok_or_else(|| {
        let message = "the cache has no directory; set the storage option 'cache_directory'";
        StoreError::new(StoreErrorKind::NotFound, "opening", message)
    })?;
    let cache = crate::DiskCacheOptions::new().validate(validate).open(located.store, directory)?;
    Ok(Located { store: std::sync::Arc::new(cache), ..located })
}

#[cfg(not(all(unix, feature = "cache")))]
#[expect(clippy::needless_pass_by_value, reason = "as with the feature")]
fn cached(located: Located, _: bool, _: &StorageOptions) -> Result<Located, StoreError> {
    let message = "caches on disk need the feature `cache` of zarrox, and Unix";
    let error = StoreError::new(StoreErrorKind::Unsupported, "opening", message);
    Err(error.with_location(located.store.location()))
}

/// Opens the archive in a store if a segment of the path is named like an archive. Otherwise returns the store.
fn archive_by_name(located: Located) -> Result<Located, StoreError> {
    if located.whole || !cfg!(feature = "zip") {
        return Ok(located);
    }
    let ends = located.path.match_indices('/').map(|(at, _)| at).chain([located.path.len()]);
    let named = ends.map(|end| located.path.split_at(end)).find(|(path, _)| path.ends_with(".zip"));
    let Some((archive, rest)) = named.map(|(archive, rest)| (archive.to_owned(), rest.to_owned())) else {
        return Ok(located);
    };
    match archive_in(&located, &archive, &rest) {
        // A prefix may be named like an archive too.
        Err(error) if error.kind() == StoreErrorKind::NotFound => Ok(located),
        opened => opened,
    }
}

#[cfg(feature = "zip")]
fn archive_at(file: &str, path: &str, options: &StorageOptions) -> Result<Located, StoreError> {
    use crate::{ZipMode, ZipStore};
    let mode = if options.creates() { ZipMode::Append } else { ZipMode::ReadWrite };
    let store = ZipStore::open(file, mode)?.sync(options.flag(SYNC)?.unwrap_or_default());
    Ok(Located::whole(store, path))
}

#[cfg(feature = "zip")]
fn archive_in(located: &Located, archive: &str, path: &str) -> Result<Located, StoreError> {
    let store = crate::ZipStore::open_in(located.store.clone(), &Key::new(archive)?)?;
    Ok(Located::whole(store, path))
}

#[cfg(not(feature = "zip"))]
fn archive_at(file: &str, _: &str, _: &StorageOptions) -> Result<Located, StoreError> {
    Err(no_archives().with_location(file))
}

#[cfg(not(feature = "zip"))]
fn archive_in(located: &Located, archive: &str, _: &str) -> Result<Located, StoreError> {
    Err(no_archives().with_location(located.store.location()).with_key(Key::new(archive)?.as_str()))
}

#[cfg(not(feature = "zip"))]
fn no_archives() -> StoreError {
    StoreError::new(StoreErrorKind::Unsupported, "opening", "zip archives need the feature `zip` of zarrox")
}

/// Returns a URL or path without secrets.
fn shown(text: &str) -> String {
    StoreUrl::parse(text).map_or_else(|_| text.to_owned(), |url| url.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn unsupported_urls_are_refused_without_secrets() {
        let error =
            registry().open("gopher://me:secret@host/a?token=secret", &StorageOptions::new()).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unsupported);
        let text = format!("{error} {error:?}");
        assert!(text.contains("gopher://host/a") && !text.contains("secret"), "{text}");
    }

    #[test]
    #[cfg(all(feature = "s3", feature = "gcs", feature = "azure"))]
    fn urls_of_clouds_need_a_bucket() {
        for scheme in ["s3", "gs", "gcs", "az"] {
            let options = StorageOptions::new().with("anonymous", "true");
            let error = registry().open(&format!("{scheme}:///a"), &options).unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::InvalidKey, "{scheme}: {error}");
        }
    }

    #[test]
    fn memory_is_shared_by_all_urls() {
        use crate::{Condition, Key, StoreExt};
        let key = Key::new("shared/a").unwrap();
        let open = || registry().open("memory://shared/b", &StorageOptions::new()).unwrap();
        open().store.set(&key, b"1", Condition::Always).unwrap();
        assert_eq!(open().store.get(&key).unwrap().unwrap(), "1");
        assert_eq!(open().path, "shared/b");
    }
}
