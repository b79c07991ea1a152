//! From a URL to a store: [`StoreRegistry`].
//!
//! `text`, `stage`, `options` and `scheme` are what stores speak of URLs in; `schemes` lists the stores of this crate; `registry` has
//! these and others, and `open` stands above them.

mod check;
#[cfg(unix)]
mod directory;
mod named;
mod open;
pub(crate) mod options;
#[cfg(feature = "references")]
mod references;
mod registry;
pub(crate) mod scheme;
mod schemes;
mod stage;
mod text;

#[cfg(unix)]
pub use self::directory::{EXCLUSIVE, FOLLOW_LINKS, open_directory};
pub use self::named::NamedStore;
pub use self::options::{LOCK_TIMEOUT, OptionValue, SYNC, StorageOption, StorageOptions};
pub use self::registry::{StoreRegistry, registry};
pub use self::scheme::{FileOf, Located, OpenStore, Scheme};
pub use self::stage::is_url;
pub use self::text::StoreUrl;
