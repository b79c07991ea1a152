//! Opening the store of a URL: [`StoreRegistry`].
//!
//! `text`, `stage`, `options` and `scheme` are the types of URLs; `schemes` lists the stores of this crate; `registry` combines
//! these with the stores of other crates, and `open` builds on all of them.

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
