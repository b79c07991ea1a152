//! [`ReferenceOptions`].

use crate::{StorageOptions, StoreRegistry, registry};

/// The bytes that references may take when nothing else is said.
const MEMORY_LIMIT: u64 = 1 << 30;

/// Options with which references are read.
///
/// | option | when not set |
/// |---|---|
/// | [`target`](Self::target) | references without a URL are errors |
/// | [`remote_protocol`](Self::remote_protocol) | paths without a scheme are files, or lie beside the references |
/// | [`allow_local`](Self::allow_local) | references that are a file lead to files in its directory and below; others to none |
/// | [`memory_limit`](Self::memory_limit) | 1 GiB |
/// | [`storage`](Self::storage) | none |
/// | [`stores`](Self::stores) | references lead to the stores of this crate |
#[derive(Clone, Debug)]
pub struct ReferenceOptions {
    pub(super) target: Option<String>,
    pub(super) remote_protocol: Option<String>,
    pub(super) allow_local: Option<bool>,
    pub(super) memory_limit: u64,
    pub(super) storage: StorageOptions,
    pub(super) stores: StoreRegistry,
    /// True if the references are a file of this machine.
    pub(super) is_local: bool,
}

impl Default for ReferenceOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ReferenceOptions {
    /// Nothing is set.
    #[must_use]
    pub fn new() -> Self {
        Self {
            target: None,
            remote_protocol: None,
            allow_local: None,
            memory_limit: MEMORY_LIMIT,
            storage: StorageOptions::new(),
            stores: registry(),
            is_local: false,
        }
    }

    /// The URL or path that references mean which have `null` in its place.
    #[must_use]
    pub fn target(self, url: impl Into<String>) -> Self {
        Self { target: Some(url.into()), ..self }
    }

    /// The scheme, such as `s3`, that is put before targets that have none. With `file`, references are trusted as
    /// [`allow_local`](Self::allow_local) says.
    #[must_use]
    pub fn remote_protocol(self, scheme: impl Into<String>) -> Self {
        Self { remote_protocol: Some(scheme.into()), ..self }
    }

    /// Sets whether references may lead to any file of this machine, and to any other kind of store than buckets
    /// and web servers.
    ///
    /// When not set, references that are a file of this machine may lead to files in the same directory and below it, and no others
    /// may. References that somebody else has written could otherwise read any file that this process can read; and who serves them
    /// to others would serve these files.
    #[must_use]
    pub fn allow_local(self, allow: bool) -> Self {
        Self { allow_local: Some(allow), ..self }
    }

    /// Sets the number of bytes the references may take, in their document and in memory.
    #[must_use]
    pub fn memory_limit(self, bytes: u64) -> Self {
        Self { memory_limit: bytes, ..self }
    }

    /// The options that targets are opened with. Those that begin with `remote_` are for targets alone, and go before others.
    ///
    /// A `bearer_token` is sent to the server only that the references come from, a `remote_bearer_token` to that of every target.
    #[must_use]
    pub fn storage(self, storage: StorageOptions) -> Self {
        Self { storage, ..self }
    }

    /// Sets the kinds of URLs to which references may lead.
    #[must_use]
    pub fn stores(self, stores: StoreRegistry) -> Self {
        Self { stores, ..self }
    }

    /// Returns how far references may lead on this machine.
    pub(super) fn reach(&self) -> Reach {
        let has_files = matches!(self.remote_protocol.as_deref(), Some("file" | "local"));
        match self.allow_local {
            Some(false) => Reach::Nowhere,
            None if !has_files && self.is_local => Reach::Beside,
            None if !has_files => Reach::Nowhere,
            Some(true) | None => Reach::Everywhere,
        }
    }
}

/// The files of this machine to which references may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Nowhere,
    /// Those in the directory of the references, and below it.
    Beside,
    Everywhere,
}
