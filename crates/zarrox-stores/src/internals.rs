//! Items that other crates of this workspace need beyond the public interface. They are exempt from semantic versioning and
//! change without notice.

pub use crate::local::durable::flush_name;
#[cfg(feature = "async")]
pub use crate::runtime::run_blocking;
pub use crate::url::{EXCLUSIVE, FOLLOW_LINKS, open_directory};
pub use crate::url::{FileOf, LOCK_TIMEOUT, NamedStore, OptionValue, SYNC, is_url, strip_file_scheme};
pub use crate::wrapper::forward::WrappedValue;

/// Forks of processes.
pub mod fork {
    pub use crate::fork::*;
}

/// Panics of libraries that read damaged data.
pub mod panics {
    pub use crate::panics::*;
}

/// Per-process values, which a forked process does not inherit.
pub mod per_process {
    pub use crate::per_process::*;
}

/// Items shared by stores and the macros of this crate.
pub mod store {
    pub use crate::store::*;
}

/// Items for stores in other crates.
pub mod support {
    pub use crate::support::*;
}

/// Locks and threads that a model checker can replace.
pub mod sync {
    pub use crate::sync::*;
}

/// The processes of this machine.
pub mod system {
    pub use crate::system::*;
}

/// Names of temporary files.
pub mod temporary {
    pub use crate::temporary::*;
}

/// A counting semaphore for threads.
pub mod semaphore {
    pub use crate::semaphore::*;
}

/// HTTP clients.
#[cfg(feature = "web")]
pub mod web {
    pub use crate::web::*;
}

/// Items that the expansion of `wrapped!` calls.
pub mod wrapper {
    pub use crate::wrapper::forward::get_many;
    /// The classification of errors as temporary.
    #[cfg(feature = "retry")]
    pub mod retry {
        pub use crate::wrapper::retry::*;
    }
}
