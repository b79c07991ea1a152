//! Options for opening nodes: the mode, and the settings of all nodes that are opened with these options.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use zarrox_core::Strictness;
use zarrox_core::{Error, ErrorKind, Format, NodePath, Registry, Result};
use zarrox_stores::internals::{EXCLUSIVE, FOLLOW_LINKS, LOCK_TIMEOUT, SYNC};
use zarrox_stores::{Key, Prefix, ReadOnlyStore, StorageOptions, Store, StoreRegistry};

use crate::access::AccessOptions;
use crate::array::{Array, ArrayBuilder};
use crate::group::{Child, Group, Node};
use crate::locate;
use crate::location::{Address, Context, Location, Purpose};
use crate::place::{Kind, Place, is_elsewhere};
use crate::policy::{Consolidated, Durability, MissingChunks, Upkeep};
use crate::pool::Pool;
use crate::stores::registry;

/// The modes for opening an existing or a missing node, as in zarr-python and h5py.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OpenMode {
    /// `r`: the node must exist, and is read-only.
    Read,
    /// `r+`: the node must exist.
    #[default]
    ReadWrite,
    /// `a`: creates a group if there is no node.
    Append,
    /// `w`: deletes an existing node, and creates a group.
    Write,
    /// `w-`: creates a group; fails if anything exists.
    CreateNew,
}

impl std::str::FromStr for OpenMode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(match text {
            "r" => Self::Read,
            "r+" => Self::ReadWrite,
            "a" => Self::Append,
            "w" => Self::Write,
            "w-" | "x" => Self::CreateNew,
            _ => {
                let message = format!("'{text}' is not a mode; the modes are r, r+, a, w and w-");
                return Err(Error::new(ErrorKind::InvalidArgument, message));
            }
        })
    }
}

/// Options for opening and creating nodes.
///
/// ```no_run
/// use zarrox::{MissingChunks, OpenMode, OpenOptions};
///
/// let complete = OpenOptions::new().mode(OpenMode::Read).missing_chunks(MissingChunks::Error);
/// let array = complete.open_array("archive.zarr/temperature")?;
/// # Ok::<(), zarrox::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct OpenOptions {
    mode: OpenMode,
    format: Option<Format>,
    consolidated: Consolidated,
    metadata_only: bool,
    storage: StorageOptions,
    /// The supported URLs; `None` for the URLs that this library supports.
    stores: Option<StoreRegistry>,
    context: Context,
}

/// The debug form, one line with the most common settings.
impl fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mode, format, consolidated, metadata_only, storage, stores: _, context } = self;
        write!(f, "OpenOptions {{ mode: {mode:?}, format: {format:?}, consolidated: {consolidated:?}, ")?;
        write!(f, "strictness: {:?}, metadata_only: {metadata_only}, ", context.strictness)?;
        write!(f, "threads: {}, storage: {storage:?}, .. }}", context.pool.threads())
    }
}

impl OpenOptions {
    /// Creates options for existing nodes of any format, for reading and writing, with lenient parsing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates options with the settings of another node, except that missing chunks are read as the fill value, and that there
    /// is no chunk cache.
    pub(crate) fn within(context: &Context) -> Self {
        let options = Self { context: context.clone(), ..Self::default() };
        options.missing_chunks(MissingChunks::Fill).chunk_cache(0)
    }

    /// Sets the mode, which determines how an existing or a missing node is handled.
    #[must_use]
    pub fn mode(mut self, mode: OpenMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the format of existing and new nodes. By default, an existing node may have any format, and a new node has the format
    /// of the group above; without a group above, it is N5 in a directory named `*.n5`, and v3 elsewhere.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets an option for the store of a URL, such as `endpoint` or `region`; options that are not set are taken from the
    /// environment. The value never appears in messages.
    /// [`StoreRegistry::storage_options`](crate::stores::StoreRegistry::storage_options) of
    /// [`stores::registry`](crate::stores::registry) returns all options.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "callers pass values and references alike")]
    pub fn storage_option(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.storage = self.storage.with(name, value.to_string());
        self
    }

    /// Sets whether a completed write survives only the end of the process, or also a crash of the machine. An error while
    /// flushing is an error of the write.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.storage = match durability {
            Durability::Process => self.storage.without(SYNC),
            Durability::Disk => self.storage.with(SYNC, "true"),
        };
        self
    }

    /// Declares whether the directory has no other writers, that is, no other processes or handles that write to it; `false` by
    /// default.
    ///
    /// Parts of chunks, attributes and shapes are changed under file locks, so that concurrent writers to the same hierarchy lose
    /// no changes. On a file system without locks, a change that needs a lock is an error unless this option is set.
    #[must_use]
    pub fn exclusive(self, exclusive: bool) -> Self {
        self.storage_option(EXCLUSIVE, exclusive.to_string())
    }

    /// Sets how long a change waits for a lock of another process, in directories, SQLite and LMDB; one minute by default. For a
    /// database that only one process can have open at a time (redb and GDBM), this is how long opening it waits; 0.1 s by
    /// default. After this time, the operation fails with [`ErrorKind::TimedOut`](crate::ErrorKind::TimedOut) in directories and
    /// LMDB, and with [`ErrorKind::Unreachable`](crate::ErrorKind::Unreachable) in the other databases, and nothing is written.
    #[must_use]
    pub fn lock_timeout(self, longest: Duration) -> Self {
        self.storage_option(LOCK_TIMEOUT, longest.as_secs_f64().to_string())
    }

    /// Sets whether any violation of the specifications in a document is an error; by default, common deviations are accepted.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.context.strictness = if strict { Strictness::Strict } else { Strictness::Lenient };
        self
    }

    /// Sets the supported URLs; by default, the URLs that this library supports.
    #[must_use]
    pub fn stores(mut self, stores: StoreRegistry) -> Self {
        self.stores = Some(stores);
        self
    }

    /// Sets the known data types and codecs; by default, all of those in this library.
    #[must_use]
    pub fn registry(mut self, registry: Registry) -> Self {
        self.context.registry = Arc::new(registry);
        self
    }

    /// Sets whether arrays with an unknown data type or unknown codecs can be opened, in order to read and change their metadata.
    /// Reading and writing their elements is an error; [`ArrayInfo::unreadable`](crate::ArrayInfo) gives the reason.
    #[must_use]
    pub fn metadata_only(mut self, metadata_only: bool) -> Self {
        self.metadata_only = metadata_only;
        self
    }

    /// Sets whether an array with an unknown data type is opened with the fallback type that its metadata names, as the 2022
    /// draft of v3 allows. The values of its elements then differ from those that their writer intended, so this is off by
    /// default. [`ArrayMetadata::fallback_from`](crate::ArrayMetadata::fallback_from) is the unknown type.
    #[must_use]
    pub fn data_type_fallback(mut self, allow: bool) -> Self {
        self.context.data_type_fallback = allow;
        self
    }

    /// Sets whether nodes may be created in directories with files that do not belong to any node, as zarr-python allows. These
    /// files are not changed, but a file with the name of a chunk is read as that chunk.
    #[must_use]
    #[doc(hidden)]
    pub fn allow_foreign_files(mut self, allow: bool) -> Self {
        self.context.allow_foreign_files = allow;
        self
    }

    /// Sets whether hierarchies are opened from their consolidated metadata, which is a copy of the documents of all nodes below
    /// a group. A single read is then enough to open and list all nodes.
    ///
    /// The copy may be out of date. Elements are never read or written based on an out-of-date copy: the first access to an
    /// array's elements compares the copy with the array's own document. [`Group::check_consolidated`] compares the documents of
    /// all nodes.
    #[must_use]
    pub fn consolidated(mut self, policy: Consolidated) -> Self {
        self.consolidated = policy;
        self
    }

    /// Sets what happens to the consolidated metadata of groups above when a node is created, moved, deleted or resized, or when
    /// its attributes change. By default, the consolidated metadata is updated.
    #[must_use]
    pub fn consolidated_upkeep(mut self, upkeep: Upkeep) -> Self {
        self.context.upkeep = upkeep;
        self
    }

    /// Sets the number of threads; 0, the default, means one for each core.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        self.access(&AccessOptions::new().threads(threads))
    }

    /// Sets the memory limit in bytes, not counting results and values; the default is 4 GiB.
    #[must_use]
    pub fn memory(self, bytes: usize) -> Self {
        self.access(&AccessOptions::new().memory(bytes))
    }

    /// Sets the size of the cache of decoded chunks in bytes. See [`AccessOptions::chunk_cache`].
    #[must_use]
    pub fn chunk_cache(self, bytes: usize) -> Self {
        self.access(&AccessOptions::new().chunk_cache(bytes))
    }

    /// Sets the options for reading and writing elements, which [`Array::with_options`](crate::Array::with_options) can override
    /// for an array.
    #[must_use]
    pub fn access(mut self, options: &AccessOptions) -> Self {
        options.apply(&mut self.context);
        self
    }

    /// Sets the largest size of a decoded chunk in bytes; the default is 4 GiB. Metadata that requires more is probably damaged
    /// or malicious.
    #[must_use]
    pub fn chunk_limit(mut self, bytes: usize) -> Self {
        self.context.chunk_limit = bytes;
        self
    }

    /// Sets how missing chunks are read.
    #[must_use]
    pub fn missing_chunks(self, policy: MissingChunks) -> Self {
        self.access(&AccessOptions::new().missing_chunks(policy))
    }

    /// Sets whether chunks that contain only the fill value are stored. By default, they are not stored, which saves space, since
    /// missing chunks are read as the fill value.
    #[must_use]
    pub fn store_empty_chunks(self, store: bool) -> Self {
        self.access(&AccessOptions::new().store_empty_chunks(store))
    }

    /// Opens the node at a location, according to the mode.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is no node, [`ErrorKind::AlreadyExists`] when a node exists in mode `w-`; otherwise the
    /// reason why it cannot be opened.
    pub fn open(&self, place: impl Into<Place>) -> Result<Node> {
        let creates = !matches!(self.mode, OpenMode::Read | OpenMode::ReadWrite);
        self.open_at(&self.placed(place.into(), creates)?)
    }

    /// Opens the array at a location, according to the mode.
    ///
    /// # Errors
    /// The errors of [`OpenOptions::open`], and an error when the node is a group.
    pub fn open_array(&self, place: impl Into<Place>) -> Result<Array> {
        self.open(place)?.into_array()
    }

    /// Opens the group at a location, according to the mode.
    ///
    /// # Errors
    /// The errors of [`OpenOptions::open`], and an error when the node is an array.
    pub fn open_group(&self, place: impl Into<Place>) -> Result<Group> {
        self.open(place)?.into_group()
    }

    fn open_at(&self, location: &Location) -> Result<Node> {
        match self.mode {
            OpenMode::Read | OpenMode::ReadWrite => self.by_copy(location)?.open_node(),
            OpenMode::Append => match self.by_copy(location)?.find()? {
                Some(found) => Ok(Node::new(found.location, found.node)?),
                None => {
                    let location = location.probed_above();
                    let format = location.new_format()?;
                    Group::create_or_find(&location, format)
                }
            },
            OpenMode::Write | OpenMode::CreateNew => self.create_group_at(location).map(Node::Group),
        }
    }

    /// Creates a group at an empty location; in mode `w`, an existing node is replaced.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] when the location is not empty.
    pub fn create_group(&self, place: impl Into<Place>) -> Result<Group> {
        self.create_group_at(&self.new_place(place)?)
    }

    /// Creates a group together with the nodes that `fill` creates in it.
    ///
    /// If the process is killed, a journal ([`JOURNAL`](crate::internals::JOURNAL)) that names the `source` of the nodes remains in
    /// the group. A call with the same path and source then continues the work: `fill` is called with `true`, and may keep or replace
    /// the existing nodes.
    ///
    /// # Errors
    /// The errors of [`OpenOptions::create_group`] and of `fill`.
    #[doc(hidden)]
    pub fn create_group_with(
        &self,
        place: impl Into<Place>,
        source: &str,
        fill: impl FnOnce(&Group, bool) -> Result<()>,
    ) -> Result<Group> {
        let location = self.new_place(place)?.probed_above();
        let format = location.new_format()?;
        Group::create_with(location, format, self.mode == OpenMode::Write, source, fill)
    }

    fn create_group_at(&self, location: &Location) -> Result<Group> {
        let location = location.probed_above();
        let format = location.new_format()?;
        Group::create(location, format, self.mode == OpenMode::Write)
    }

    /// Returns a builder for an array at a location; in mode `w`, an existing node is replaced.
    pub fn create_array(&self, place: impl Into<Place>) -> ArrayBuilder {
        self.builder(self.new_place(place))
    }

    /// Opens the store of a location with these options, and returns the store and the path of the node in it. In [mode
    /// `r`](OpenMode::Read) the store is read-only.
    ///
    /// # Errors
    /// When the path is invalid, the URL is not supported, or the store cannot be opened.
    pub fn store(&self, place: impl Into<Place>) -> Result<(Arc<dyn Store>, NodePath)> {
        let Address { store, path, .. } = self.place(place)?.address;
        Ok((store, path))
    }

    /// Lists the hierarchies directly inside a directory, a bucket, or another location that is not itself a hierarchy, sorted by
    /// name: directories with a node at their root, and archives named `*.zip`. A hierarchy that cannot be opened is listed with
    /// the reason.
    ///
    /// # Errors
    /// When the location cannot be listed.
    pub fn hierarchies(&self, place: impl Into<Place>) -> Result<Vec<Child>> {
        let place = place.into();
        let location = self.place(&place)?;
        let prefix = Prefix::new(location.path.prefix())?;
        let listing = location.store.list_dir(&prefix)?;
        let archives = listing.keys.iter().map(Key::name).filter(|name| name.ends_with(".zip"));
        let names: BTreeSet<&str> = listing.prefixes.iter().map(Prefix::name).chain(archives).collect();
        let mut children = Vec::new();
        for name in names {
            match self.open(place.join(name)) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                node => children.push(Child { name: name.to_owned(), node }),
            }
        }
        Ok(children)
    }

    /// Deletes the node at a location, with everything below it, whether or not its documents can be parsed. If the path is a
    /// symbolic link, only the link is deleted.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is no node; a directory with other files is never deleted.
    pub fn delete(&self, place: impl Into<Place>) -> Result<()> {
        self.delete_by(&place.into(), Location::delete)
    }

    /// Deletes like [`delete`](Self::delete), for a caller that holds the node exclusively.
    #[doc(hidden)]
    pub fn delete_held(&self, place: &Place) -> Result<()> {
        self.delete_by(place, |location| location.for_change()?.delete_alone())
    }

    fn delete_by(&self, place: &Place, delete: impl FnOnce(&Location) -> Result<()>) -> Result<()> {
        let Some(path) = place.as_path() else { return delete(&self.place(place)?) };
        if let Some(link) = locate::link(path) {
            return self.delete_link(link);
        }
        let location = self.place(path)?;
        let flush = || location.store.flush().map_err(Error::from);
        let deleted = delete(&location).and_then(|()| flush());
        deleted.map_err(|error| error.at(format!("deleting '{}'", path.display())))?;
        if location.path.is_root() && !is_elsewhere(path) {
            // The store does not remove its own directory. This keeps a directory that is not empty, and a link.
            let _ = std::fs::remove_dir(locate::plain(path));
        }
        Ok(())
    }

    /// Deletes a link to a node.
    fn delete_link(&self, link: &Path) -> Result<()> {
        // The link may point anywhere, so its target is not changed.
        let there = self.clone().storage_option(FOLLOW_LINKS, "true").place(link)?;
        there.check_deletable()?;
        std::fs::remove_file(link).map_err(|error| {
            let message = format!("deleting the link '{}' failed: {error}", link.display());
            Error::new(ErrorKind::Forbidden, message).with_source(error)
        })
    }

    /// Moves the node at a location, with everything below it, to another location in the same hierarchy; or moves a whole
    /// hierarchy on disk to a path outside all other hierarchies. In mode `w`, an existing node at the new location is replaced:
    /// it is deleted after the move if the store can rename, otherwise immediately before.
    ///
    /// # Errors
    /// When there is no node at `from`, when `to` is occupied and the mode is not `w`, or when the two locations are in different
    /// hierarchies.
    pub fn move_node(&self, from: impl Into<Place>, to: impl Into<Place>) -> Result<()> {
        self.move_between(&from.into(), &to.into(), false)
    }

    /// Moves like [`move_node`](Self::move_node), for a caller that holds the replaced node exclusively.
    #[doc(hidden)]
    pub fn move_held(&self, from: &Place, to: &Place) -> Result<()> {
        self.move_between(from, to, true)
    }

    /// Replaces a directory by another directory on the same file system, which contains a new node, and deletes the old
    /// directory. The nodes in the old directory are held exclusively in the meantime. If the system supports it, the two
    /// directories are exchanged atomically, so that the path always exists; otherwise the old directory is moved aside first.
    /// Links to the path are kept, and point to the new node. Consolidated metadata of groups above is not updated.
    ///
    /// # Errors
    /// When other writers do not stop, or the directories cannot be renamed; the old directory is then unchanged.
    #[doc(hidden)]
    pub fn replace_directory(&self, new: impl AsRef<Path>, old: impl AsRef<Path>) -> Result<()> {
        let (new, old) = (new.as_ref(), old.as_ref());
        let failed = |error: std::io::Error| {
            let message = format!("replacing {} by {} failed: {error}", old.display(), new.display());
            Error::new(ErrorKind::Unreachable, message).with_source(error)
        };
        let _holds = self.place(old)?.hold_alone()?;
        if !locate::exchange(new, old)? {
            return locate::rename(new, old, true).map_err(failed);
        }
        locate::remove(new).map_err(|error| {
            let message = format!(
                "the new node was moved to its path, but the old directory could not be deleted and is at {}: {error}",
                new.display()
            );
            Error::new(ErrorKind::Unreachable, message).with_source(error)
        })
    }

    /// Returns true if a move was interrupted after the node had reached its new path, or after the replaced node had been moved
    /// aside.
    #[doc(hidden)]
    pub fn is_half_moved(&self, from: &Location, to: &Location) -> Result<bool> {
        match from.is_in_store_of(to) {
            true => from.is_half_moved(&from.at(to.path.clone())),
            false => from.is_root_moved(to),
        }
    }

    fn move_between(&self, from: &Place, to: &Place, is_held: bool) -> Result<()> {
        let (source, target) = (self.place(from)?, self.place(to)?);
        let (here, there) = (source.store.location(), target.store.location());
        let overwrite = self.mode == OpenMode::Write;
        if source.is_in_store_of(&target) {
            let target = source.at(target.address.path);
            match is_held {
                true => source.move_held_node(&target, overwrite)?,
                false => source.move_node(&target, overwrite)?,
            }
            return source.store.flush().map_err(Error::from);
        }
        let roots = source.path.is_root() && target.path.is_root();
        let Some((from, to)) = from.as_path().zip(to.as_path()).filter(|_| roots) else {
            let message = format!("{here} and {there} are different hierarchies");
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        };
        if self.mode == OpenMode::Read {
            return Err(Error::new(ErrorKind::ReadOnly, format!("{here} was opened for reading only")));
        }
        let failed = |error: std::io::Error| {
            Error::new(ErrorKind::Unreachable, format!("moving {here} to {there} failed: {error}"))
                .with_source(error)
        };
        if source.is_root_moved(&target)? {
            locate::remove(from).map_err(failed)?;
            return target.erase_root_renaming();
        }
        // Holds of nodes in different stores do not exclude each other.
        let mut holds = Vec::new();
        if !is_held {
            holds.extend(source.hold_alone()?);
            holds.extend(if overwrite { target.hold_alone()? } else { Vec::new() });
        }
        let replaces = source.check_move_to(&target, overwrite)?;
        locate::check_same_kind(from, to)?;
        if replaces && locate::are_directories(from, to) {
            source.put_root_renaming(&target)?;
            if locate::exchange(from, to)? {
                locate::remove(from).map_err(failed)?;
                return target.erase_root_renaming();
            }
            source.erase_root_renaming()?;
        }
        locate::rename(from, to, replaces).map_err(failed)
    }

    fn builder(&self, location: Result<Location>) -> ArrayBuilder {
        ArrayBuilder::new(location, self.format).overwrite(self.mode == OpenMode::Write)
    }

    /// Returns the location for opening, with its consolidated metadata if it is to be used.
    fn by_copy(&self, location: &Location) -> Result<Location> {
        // Some stores are read-only in every mode.
        let reading = self.mode == OpenMode::Read || !location.store.capabilities().writable;
        let purpose = match (self.consolidated, reading) {
            (Consolidated::Require, _) => Purpose::OpenOnlyByCopy,
            (Consolidated::Auto, true) => Purpose::OpenByCopy,
            _ => Purpose::Open,
        };
        location.probed(purpose).consolidated(self.consolidated, reading)
    }

    /// Returns the location of an existing node.
    #[doc(hidden)]
    pub fn place(&self, place: impl Into<Place>) -> Result<Location> {
        self.placed(place.into(), false)
    }

    /// Returns the location of a new node.
    #[doc(hidden)]
    pub fn new_place(&self, place: impl Into<Place>) -> Result<Location> {
        self.placed(place.into(), true)
    }

    fn placed(&self, place: Place, create: bool) -> Result<Location> {
        let path = match place.0 {
            Kind::Path(path) => path,
            Kind::Store(store, path) => return self.location(store, &path),
        };
        let stores = self.stores.clone().unwrap_or_else(registry);
        let (store, node, named) = locate::store_for(&path, &self.storage.clone().create(create), &stores)?;
        let location = self.location(store, node.as_str())?;
        Ok(location.expecting(self.format.or(named)))
    }

    /// Returns the location of a node in a store.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for an invalid path.
    #[doc(hidden)]
    pub fn location(&self, store: Arc<dyn Store>, path: &str) -> Result<Location> {
        let store = match self.mode {
            OpenMode::Read => Arc::new(ReadOnlyStore::new(store)) as Arc<dyn Store>,
            _ => store,
        };
        let path = NodePath::new(path)?;
        let capabilities = store.capabilities();
        let mut context = Context { last_chain: Arc::default(), ..self.context.clone() };
        context.requests = capabilities.in_flight.map(Pool::waiting);
        if capabilities.one_at_a_time {
            context.pool = context.pool.for_one_at_a_time();
        }
        if self.metadata_only {
            context.registry = Arc::new((*context.registry).clone().with_unknown());
        }
        let address = Address { store, path, format: self.format, expected: self.format, layout: None };
        Ok(Location::new(address, context))
    }
}
