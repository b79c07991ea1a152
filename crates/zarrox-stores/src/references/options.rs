//! [`ReferenceOptions`].

use crate::{StorageOptions, StoreRegistry, registry};

/// The default memory limit for references, in bytes.
const MEMORY_LIMIT: u64 = 1 << 30;

/// Options for reading references.
///
/// | option | default |
/// |---|---|
/// | [`target`](Self::target) | references without a URL are errors |
/// | [`remote_protocol`](Self::remote_protocol) | paths without a scheme are files, or relative to the references |
/// | [`allow_local`](Self::allow_local) | references in a file may point to files in the same directory and below it, and other references must not point to files |
/// | [`memory_limit`](Self::memory_limit) | 1 GiB |
/// | [`storage`](Self::storage) | none |
/// | [`stores`](Self::stores) | references may point to the stores of this crate |
#[derive(Clone, Debug)]
pub struct ReferenceOptions {
    pub(super) target: Option<String>,
    pub(super) remote_protocol: Option<String>,
    pub(super) allow_local: Option<bool>,
    pub(super) memory_limit: u64,
    pub(super) storage: StorageOptions,
    pub(super) stores: StoreRegistry,
    /// True if the references are a local file.
    pub(super) is_local: bool,
}

impl Default for ReferenceOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ReferenceOptions {
    /// Creates options with the defaults.
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

    /// Sets the URL or path for references whose target is `null`.
    #[must_use]
    pub fn target(self, url: impl Into<String>) -> Self {
        Self { target: Some(url.into()), ..self }
    }

    /// Sets the scheme of targets that have no scheme, such as `s3`. With `file`, references are trusted as with
    /// [`allow_local`](Self::allow_local).
    #[must_use]
    pub fn remote_protocol(self, scheme: impl Into<String>) -> Self {
        Self { remote_protocol: Some(scheme.into()), ..self }
    }

    /// Sets whether references may point to any local file, and to stores other than buckets and web servers.
    ///
    /// By default, references in a local file may point to files in the same directory and below it, and other references must
    /// not point to files. Otherwise, untrusted references could read any file that this process can read, and a server that
    /// serves them would expose these files to its clients.
    #[must_use]
    pub fn allow_local(self, allow: bool) -> Self {
        Self { allow_local: Some(allow), ..self }
    }

    /// Sets the maximum size of the references in bytes, both of their document and in memory.
    #[must_use]
    pub fn memory_limit(self, bytes: u64) -> Self {
        Self { memory_limit: bytes, ..self }
    }

    /// Sets the options for opening targets. Options that begin with `remote_` apply only to targets, and take precedence.
    ///
    /// A `bearer_token` is only sent to the server of the references, whereas a `remote_bearer_token` is sent to the server of
    /// every target.
    #[must_use]
    pub fn storage(self, storage: StorageOptions) -> Self {
        Self { storage, ..self }
    }

    /// Sets the kinds of URLs to which references may point.
    #[must_use]
    pub fn stores(self, stores: StoreRegistry) -> Self {
        Self { stores, ..self }
    }

    /// Returns the local files to which references may point.
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

/// The local files to which references may point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Nowhere,
    /// The files in the directory of the references and below it.
    Beside,
    Everywhere,
}
