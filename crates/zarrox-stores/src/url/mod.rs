//! Opening the store at a URL: [`StoreRegistry`].
//!
//! `text`, `stage`, `options` and `scheme` define types for URLs. `schemes` lists the stores of this crate, `registry` combines
//! them with the stores of other crates, and `open` uses all of these modules.

mod check;
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

pub use self::directory::{EXCLUSIVE, FOLLOW_LINKS, open_directory};
pub use self::named::NamedStore;
pub use self::options::{LOCK_TIMEOUT, OptionValue, SYNC, StorageOption, StorageOptions};
pub use self::registry::{StoreRegistry, registry};
pub use self::scheme::{FileOf, Located, OpenStore, Scheme};
pub use self::stage::{is_url, strip_file_scheme};
pub use self::text::StoreUrl;
