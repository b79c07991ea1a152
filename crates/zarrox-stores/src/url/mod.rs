//! From a URL to a store: [`open_url`].
//!
//! `text`, `stage`, `options` and `scheme` are what stores speak of URLs in; `schemes` lists the stores; `open` stands above them.

mod check;
#[cfg(unix)]
mod directory;
#[cfg(any(
    feature = "sqlite",
    feature = "lmdb",
    feature = "redb",
    feature = "gdbm",
    all(unix, feature = "berkeley-db")
))]
mod files;
mod named;
mod open;
pub(crate) mod options;
#[cfg(feature = "references")]
mod references;
pub(crate) mod scheme;
mod schemes;
mod stage;
mod text;

pub use self::check::storage_options;
#[cfg(unix)]
pub use self::directory::{EXCLUSIVE, FOLLOW_LINKS, open_directory};
pub use self::named::NamedStore;
pub use self::open::open_url;
pub use self::options::{LOCK_TIMEOUT, OptionValue, SYNC, StorageOption, StorageOptions};
pub use self::scheme::Located;
pub use self::schemes::file_of;
pub use self::stage::is_url;
pub use self::text::StoreUrl;
