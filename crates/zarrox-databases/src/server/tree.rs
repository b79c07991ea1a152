//! The common part of the stores on file servers: WebDAV, FTP and HDFS.
//!
//! Each value is a file. Directories are created as needed, and are not values. [`async_store`] implements [`AsyncStore`] for a
//! [`FileTree`]. The crate `opendal` has clients for these servers, but supports neither conditional writes nor versions of
//! values, which are required for [`Condition`] and for consistent reads.

use std::fmt::Debug;
use std::future::Future;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use percent_encoding::percent_decode_str;

use zarrox_stores::{
    AsyncStore, Blocking, ByteRange, Capabilities, Condition, DirListing, Head, Key, Located, Pages, Prefix,
    StoreError, StoreErrorKind, StoreUrl, ValuePart, Version,
};

/// The number of attempts to write a value while other processes remove its directory because it is empty.
const ATTEMPTS: usize = 8;

/// The number of directories that are listed in parallel.
const AT_ONCE: usize = 8;

/// The files on a server, by their paths below the root of the store. A path is the text of a [`Key`], or that of a [`Prefix`]
/// without the trailing `/`; the empty path is the root.
pub(crate) trait FileTree: Clone + Debug + Send + Sync + 'static {
    /// True if [`remove_directory`](Self::remove_directory) can never remove files that another process has written to the
    /// directory in the meantime.
    const REMOVES_ONLY_EMPTY: bool;

    /// See [`AsyncStore::location`].
    fn address(&self) -> String;

    /// See [`AsyncStore::capabilities`].
    fn abilities(&self) -> Capabilities;

    /// Returns the file or directory at a path, if it exists.
    fn stat(&self, path: &str) -> impl Future<Output = Result<Option<Stat>, StoreError>> + Send;

    /// See [`AsyncStore::read`]. A directory counts as missing.
    fn read_file(
        &self,
        path: &str,
        range: Option<ByteRange>,
        version: Option<&Version>,
    ) -> impl Future<Output = Result<Option<ValuePart>, StoreError>> + Send;

    /// Writes a file. With `absent`, fails with [`StoreErrorKind::AlreadyExists`] if the file exists.
    ///
    /// Fails with [`StoreErrorKind::NotFound`] when the parent directory is missing, and with [`StoreErrorKind::Obstructed`] when
    /// a directory exists at the path, or a file above it.
    fn write_file(
        &self,
        path: &str,
        value: &Bytes,
        absent: bool,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Removes a file. Returns true if it existed. A directory is not removed.
    fn remove_file(&self, path: &str) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Creates a directory. Succeeds if it already exists. Fails with [`StoreErrorKind::NotFound`] when the parent directory does
    /// not exist.
    fn make_directory(&self, path: &str) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Removes an empty directory. Returns false if it does not exist or is not empty.
    fn remove_directory(&self, path: &str) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Removes a directory with its contents. Succeeds if it does not exist.
    fn remove_all(&self, path: &str) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Returns the entries of a directory; `None` when it does not exist.
    fn entries(&self, path: &str) -> impl Future<Output = Result<Option<Vec<Entry>>, StoreError>> + Send;
}

/// A file or directory at a path.
pub(crate) enum Stat {
    File(Head),
    Directory,
}

/// An entry of a directory.
pub(crate) struct Entry {
    /// The name, without the path of the directory.
    pub(crate) name: String,
    /// The length of a file in bytes; `None` for a directory.
    pub(crate) size: Option<u64>,
}

fn place<T: FileTree>(tree: &T, key: &str) -> impl Fn(StoreError) -> StoreError + use<T> {
    let (location, key) = (tree.address(), key.to_owned());
    move |error| error.with_location(&location).with_key(&key)
}

async fn write<T: FileTree>(tree: &T, key: &Key, value: &Bytes, absent: bool) -> Result<(), StoreError> {
    let path = key.as_str();
    for _ in 1..ATTEMPTS {
        match tree.write_file(path, value, absent).await {
            Err(error) if error.kind() == StoreErrorKind::NotFound => {
                match make_directories(tree, directory_of(path)).await {
                    // Another process has removed an empty directory in the meantime.
                    Err(error) if error.kind() == StoreErrorKind::NotFound => {}
                    made => made?,
                }
            }
            Err(error) if error.kind() == StoreErrorKind::Obstructed => {
                if !clear(tree, path).await? {
                    return Err(error);
                }
            }
            written => return written,
        }
    }
    tree.write_file(path, value, absent).await
}

/// Removes the directories above a path that have become empty.
async fn tidy<T: FileTree>(tree: &T, path: &str) -> Result<(), StoreError> {
    let mut directory = directory_of(path);
    while T::REMOVES_ONLY_EMPTY && !directory.is_empty() && tree.remove_directory(directory).await? {
        directory = directory_of(directory);
    }
    Ok(())
}

async fn erase_below<T: FileTree>(tree: &T, prefix: &Prefix) -> Result<(), StoreError> {
    let path = prefix.segments();
    if !prefix.is_root() {
        // A file at this path is not below the prefix.
        if !matches!(tree.stat(path).await?, Some(Stat::Directory)) {
            return Ok(());
        }
        tree.remove_all(path).await?;
        return tidy(tree, path).await;
    }
    for entry in tree.entries(path).await?.unwrap_or_default() {
        match entry.size {
            None => tree.remove_all(&entry.name).await?,
            Some(_) => drop(tree.remove_file(&entry.name).await?),
        }
    }
    Ok(())
}

async fn list<T: FileTree>(tree: &T, prefix: &Prefix) -> Result<DirListing, StoreError> {
    let mut listing = DirListing::default();
    for entry in tree.entries(prefix.segments()).await?.unwrap_or_default() {
        // Names that are not valid keys belong to other programs.
        match entry.size {
            Some(_) => listing.keys.extend(prefix.key(&entry.name)),
            None => listing.prefixes.extend(prefix.child(&entry.name)),
        }
    }
    if T::REMOVES_ONLY_EMPTY {
        return Ok(listing);
    }
    // Directories that are left over from erased values do not count.
    let filled = |prefix: Prefix| async move {
        let any = any_file(tree, prefix.segments()).await?;
        Ok::<_, StoreError>(any.then_some(prefix))
    };
    let prefixes = stream::iter(std::mem::take(&mut listing.prefixes)).map(filled).buffer_unordered(AT_ONCE);
    listing.prefixes = prefixes.try_filter_map(|prefix| async { Ok(prefix) }).try_collect().await?;
    Ok(listing)
}

/// Returns the store of a URL and the path within it. `open` is called with the URL without its path.
pub(crate) fn located<T: AsyncStore>(
    url: &StoreUrl<'_>,
    scheme: &str,
    open: impl FnOnce(&str) -> Result<Blocking<T>, StoreError>,
) -> Result<Located, StoreError> {
    // FTP has two roots: the initial directory of the user and, if the path begins with a second slash, the root of the server.
    let root = if url.path().starts_with("//") { "//" } else { "/" };
    let server = url.with_path(root);
    let store = open(&format!("{scheme}{}", server.strip_prefix(url.scheme()).unwrap_or(&server)))?;
    let path = percent_decode_str(url.path()).decode_utf8().map_err(|error| {
        let message = "the percent-decoded path is not UTF-8";
        StoreError::new(StoreErrorKind::InvalidKey, "opening", message).with_source(error)
    })?;
    Ok(Located::one_of_many(store, path))
}

/// Returns the parent directory of a path. The parent of the root is the root.
pub(crate) fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Creates a directory and any missing ancestors.
async fn make_directories<T: FileTree>(tree: &T, path: &str) -> Result<(), StoreError> {
    let mut missing = vec![path];
    while let Some(path) = missing.last() {
        match tree.make_directory(path).await {
            Ok(()) => break,
            Err(error) if error.kind() == StoreErrorKind::NotFound && !path.is_empty() => {
                missing.push(directory_of(path));
            }
            Err(error) => return Err(error),
        }
    }
    missing.pop();
    while let Some(path) = missing.pop() {
        tree.make_directory(path).await?;
    }
    Ok(())
}

/// Returns true if there is a file below a directory, at any depth.
async fn any_file<T: FileTree>(tree: &T, path: &str) -> Result<bool, StoreError> {
    let mut directories = vec![path.to_owned()];
    while let Some(path) = directories.pop() {
        let entries = tree.entries(&path).await?.unwrap_or_default();
        if entries.iter().any(|entry| entry.size.is_some()) {
            return Ok(true);
        }
        directories.extend(entries.iter().map(|entry| below(&path, &entry.name)));
    }
    Ok(false)
}

/// Removes a directory that contains only directories. Returns false if the path is not a directory, or contains a file.
async fn clear<T: FileTree>(tree: &T, path: &str) -> Result<bool, StoreError> {
    if !matches!(tree.stat(path).await?, Some(Stat::Directory)) || any_file(tree, path).await? {
        return Ok(false);
    }
    let mut found = vec![path.to_owned()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        let entries = tree.entries(&path).await?.unwrap_or_default();
        found.extend(entries.iter().map(|entry| below(&path, &entry.name)));
        next += 1;
    }
    for path in found.iter().rev() {
        tree.remove_directory(path).await?;
    }
    Ok(true)
}

/// Appends a name to the path of a directory.
pub(crate) fn below(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

/// Returns the error for a file whose path is obstructed.
pub(crate) fn obstructed(operation: &'static str) -> StoreError {
    let message = "the path of the value is a directory, or a parent directory is a value";
    StoreError::new(StoreErrorKind::Obstructed, operation, message)
}

/// Returns the error for a value that already exists.
pub(crate) fn exists() -> StoreError {
    StoreError::new(StoreErrorKind::AlreadyExists, "writing", "the value already exists")
}

/// Returns the error for a value that was replaced after it was opened.
#[cfg(feature = "webdav")]
pub(crate) fn changed() -> StoreError {
    StoreError::new(StoreErrorKind::Conflict, "reading", "another writer changed the value in the meantime")
}

/// See [`AsyncStore::head`].
pub(crate) async fn head<T: FileTree>(tree: &T, key: &Key) -> Result<Option<Head>, StoreError> {
    match tree.stat(key.as_str()).await.map_err(place(tree, key.as_str()))? {
        Some(Stat::File(head)) => Ok(Some(head)),
        Some(Stat::Directory) | None => Ok(None),
    }
}

/// See [`AsyncStore::read`].
pub(crate) async fn read<T: FileTree>(
    tree: &T,
    key: &Key,
    range: Option<ByteRange>,
    version: Option<&Version>,
) -> Result<Option<ValuePart>, StoreError> {
    tree.read_file(key.as_str(), range, version).await.map_err(place(tree, key.as_str()))
}

/// See [`AsyncStore::set`].
pub(crate) async fn set<T: FileTree>(
    tree: &T,
    key: &Key,
    value: Bytes,
    condition: Condition<'_>,
) -> Result<(), StoreError> {
    let write = async { write(tree, key, &value, condition.absent()?).await };
    write.await.map_err(place(tree, key.as_str()))
}

/// See [`AsyncStore::erase`].
pub(crate) async fn erase<T: FileTree>(
    tree: &T,
    key: &Key,
    condition: Condition<'_>,
) -> Result<bool, StoreError> {
    let erase = async {
        condition.unconditional()?;
        let was_there = tree.remove_file(key.as_str()).await?;
        if was_there {
            tidy(tree, key.as_str()).await?;
        }
        Ok(was_there)
    };
    erase.await.map_err(place(tree, key.as_str()))
}

/// See [`AsyncStore::erase_prefix`].
pub(crate) async fn erase_prefix<T: FileTree>(tree: &T, prefix: &Prefix) -> Result<(), StoreError> {
    erase_below(tree, prefix).await.map_err(place(tree, prefix.as_str()))
}

/// See [`AsyncStore::list_prefix`].
pub(crate) fn list_prefix<T: FileTree>(tree: &T, prefix: &Prefix) -> Pages {
    let step = |(tree, mut left): (T, Vec<Prefix>)| async move {
        let Some(prefix) = left.pop() else { return Ok(None) };
        let entries = tree.entries(prefix.segments()).await.map_err(place(&tree, prefix.as_str()))?;
        let mut page = Vec::new();
        for Entry { name, size } in entries.unwrap_or_default() {
            match size {
                Some(size) => page.extend(prefix.key(&name).map(|key| (key, size))),
                None => left.extend(prefix.child(&name)),
            }
        }
        Ok(Some((page, (tree, left))))
    };
    stream::try_unfold((tree.clone(), vec![prefix.clone()]), step).boxed()
}

/// See [`AsyncStore::list_dir`].
pub(crate) async fn list_dir<T: FileTree>(tree: &T, prefix: &Prefix) -> Result<DirListing, StoreError> {
    list(tree, prefix).await.map_err(place(tree, prefix.as_str()))
}

/// Implements [`AsyncStore`] for a [`FileTree`].
macro_rules! async_store {
    ($store:ident) => {
        impl zarrox_stores::AsyncStore for $store {
            fn location(&self) -> String {
                self.address()
            }

            fn capabilities(&self) -> zarrox_stores::Capabilities {
                self.abilities()
            }

            async fn read(
                &self,
                key: &zarrox_stores::Key,
                range: Option<zarrox_stores::ByteRange>,
                version: Option<&zarrox_stores::Version>,
            ) -> Result<Option<zarrox_stores::ValuePart>, zarrox_stores::StoreError> {
                $crate::server::tree::read(self, key, range, version).await
            }

            async fn head(
                &self,
                key: &zarrox_stores::Key,
            ) -> Result<Option<zarrox_stores::Head>, zarrox_stores::StoreError> {
                $crate::server::tree::head(self, key).await
            }

            async fn set(
                &self,
                key: &zarrox_stores::Key,
                value: bytes::Bytes,
                condition: zarrox_stores::Condition<'_>,
            ) -> Result<(), zarrox_stores::StoreError> {
                $crate::server::tree::set(self, key, value, condition).await
            }

            async fn erase(
                &self,
                key: &zarrox_stores::Key,
                condition: zarrox_stores::Condition<'_>,
            ) -> Result<bool, zarrox_stores::StoreError> {
                $crate::server::tree::erase(self, key, condition).await
            }

            async fn erase_prefix(
                &self,
                prefix: &zarrox_stores::Prefix,
            ) -> Result<(), zarrox_stores::StoreError> {
                $crate::server::tree::erase_prefix(self, prefix).await
            }

            fn list_prefix(&self, prefix: &zarrox_stores::Prefix) -> zarrox_stores::Pages {
                $crate::server::tree::list_prefix(self, prefix)
            }

            async fn list_dir(
                &self,
                prefix: &zarrox_stores::Prefix,
            ) -> Result<zarrox_stores::DirListing, zarrox_stores::StoreError> {
                $crate::server::tree::list_dir(self, prefix).await
            }
        }
    };
}

pub(crate) use async_store;
