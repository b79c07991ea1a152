//! Locations of hierarchies, in each kind of store.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use zarrox::OpenOptions;
use zarrox::stores::{StorageOptions, Store};

use crate::outcome::Outcome;

/// The location of one hierarchy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) url: String,
    /// The options of the store.
    pub(crate) options: BTreeMap<String, String>,
    /// A local file beside the hierarchy, for the temporary data of operations.
    pub(crate) scratch: PathBuf,
}

/// A hierarchy whose store is open.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) path: String,
}

impl Place {
    /// Opens the store, and creates it if it does not exist yet.
    pub(crate) fn open(&self) -> Outcome<Opened> {
        let options = self
            .options
            .iter()
            .fold(StorageOptions::new(), |options, (name, value)| options.with(name, value));
        let (store, path) =
            zarrox::internals::locate(&self.url, &options.create(true)).map_err(|error| error.to_string())?;
        Ok(Opened { store, path: path.as_str().to_owned() })
    }
}

impl Opened {
    /// Returns the root of the hierarchy.
    pub(crate) fn root(&self) -> zarrox::Result<zarrox::Group> {
        self.open_with(&OpenOptions::new())
    }

    /// Returns the path of a node in the store from its path in the hierarchy.
    pub(crate) fn below(&self, path: &str) -> String {
        format!("{}/{path}", self.path).trim_start_matches('/').to_owned()
    }

    /// Returns true if appending processes reserve rows, since the store compares versions instead of locking. If a process is
    /// killed after a later one is done, its rows have fill values.
    pub(crate) fn reserves(&self) -> bool {
        let capabilities = self.store.capabilities();
        capabilities.set_if_unchanged && !capabilities.locks_everyone
    }

    /// Returns true if a node can replace another one in one step.
    pub(crate) fn exchanges(&self) -> bool {
        self.store.directory().is_some()
    }

    /// Opens the root with options.
    pub(crate) fn open_with(&self, options: &OpenOptions) -> zarrox::Result<zarrox::Group> {
        options.open((self.store.clone(), &self.path))?.into_group()
    }
}

/// A kind of store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Directory,
    Sqlite,
    Lmdb,
    Redb,
    Zip,
    S3,
    Redis,
}

impl Kind {
    pub(crate) const ALL: [Self; 7] =
        [Self::Directory, Self::Sqlite, Self::Lmdb, Self::Redb, Self::Zip, Self::S3, Self::Redis];

    /// Returns the name on the command line, and in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::Sqlite => "sqlite",
            Self::Lmdb => "lmdb",
            Self::Redb => "redb",
            Self::Zip => "zip",
            Self::S3 => "s3",
            Self::Redis => "redis",
        }
    }

    pub(crate) fn from_name(name: &str) -> Outcome<Self> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("unknown store '{name}'; expected one of {names}")
        })
    }

    /// Returns true if only one process can open the store for writing.
    pub(crate) fn is_of_one_process(self) -> bool {
        matches!(self, Self::Redb | Self::Zip)
    }

    /// Returns which other users may write into a node while it is moved, replaced or rechunked, as `docs/safety.md` documents.
    pub(crate) fn company(self) -> Company {
        match self {
            Self::Directory => Company::Processes,
            Self::Sqlite | Self::Lmdb | Self::Redb => Company::Threads,
            Self::Zip | Self::S3 | Self::Redis => Company::None,
        }
    }

    /// Returns true if an operation sends requests to a server.
    pub(crate) fn is_remote(self) -> bool {
        matches!(self, Self::S3 | Self::Redis)
    }
}

/// The users that a node may have while it is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    /// All processes: a hold of the node is shared among them.
    Processes,
    /// The threads of one process.
    Threads,
    /// No users: documents are compared only once.
    None,
}

/// The locations of the hierarchies of a run.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    /// The directory of everything that is in files.
    directory: PathBuf,
    /// The unique name of the run on servers.
    run: String,
}

impl Site {
    /// Creates a site in a directory; the name of the run must be unused on the servers.
    pub(crate) fn new(directory: &Path, run: &str) -> Self {
        Self { directory: directory.to_owned(), run: run.to_owned() }
    }

    /// Returns a location that was not used before.
    ///
    /// # Errors
    /// When the server of the store was not started.
    pub(crate) fn place(&self, kind: Kind, name: &str) -> Outcome<Place> {
        let scratch = self.directory.join(format!("{name}.scratch"));
        let (url, options) = self.url(kind, name)?;
        let options = options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Place { url, options, scratch })
    }

    /// Writes a text into the directory.
    pub(crate) fn write(&self, name: &str, text: &str) -> Outcome {
        let path = self.directory.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Returns the URL of a location, and the options of its store.
    fn url(&self, kind: Kind, name: &str) -> Outcome<(String, Vec<(&'static str, String)>)> {
        let file = |extension: &str| format!("{}/{name}.{extension}", self.directory.display());
        let local = |url: String| (url, Vec::new());
        Ok(match kind {
            Kind::Directory => local(file("zarr")),
            Kind::Zip => local(file("zip")),
            Kind::Sqlite => local(format!("sqlite://{}", file("db"))),
            Kind::Lmdb => local(format!("lmdb://{}", file("lmdb"))),
            Kind::Redb => local(format!("redb://{}", file("redb"))),
            Kind::S3 => {
                let options = vec![
                    ("endpoint", server("S3")?),
                    ("access_key_id", "AKIAEXAMPLE".to_owned()),
                    ("secret_access_key", "secretkey".to_owned()),
                    ("allow_http", "true".to_owned()),
                ];
                (format!("s3://zarrox/{}-{name}.zarr", self.run), options)
            }
            Kind::Redis => {
                let prefix = ("prefix", format!("{}-{name}", self.run));
                (format!("{}/3", server("REDIS")?), vec![prefix])
            }
        })
    }
}

/// Returns the address of a server, which `cargo xtask torture` has started.
fn server(name: &str) -> Outcome<String> {
    let variable = format!("ZARROX_TEST_{name}");
    std::env::var(&variable)
        .map_err(|_| format!("{variable} is not set: `cargo xtask torture` starts the servers"))
}
