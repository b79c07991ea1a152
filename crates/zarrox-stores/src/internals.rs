//! What the crates of this workspace need of this one beyond its public interface. It is outside of semantic versioning and changes
//! without notice.

pub use crate::local::durable::flush_name;
#[cfg(feature = "async")]
pub use crate::runtime::run_blocking;
#[cfg(unix)]
pub use crate::url::{EXCLUSIVE, FOLLOW_LINKS, open_directory};
pub use crate::url::{FileOf, LOCK_TIMEOUT, NamedStore, OptionValue, SYNC, is_url};
pub use crate::wrapper::forward::WrappedValue;

/// Processes that fork.
pub mod fork {
    pub use crate::fork::*;
}

/// Values of one process, which a fork does not inherit.
pub mod per_process {
    pub use crate::per_process::*;
}

/// What stores and the macros of this crate share.
pub mod store {
    pub use crate::store::*;
}

/// What stores in other crates need.
pub mod support {
    pub use crate::support::*;
}

/// Locks and threads, which a model checker can replace.
pub mod sync {
    pub use crate::sync::*;
}

/// The processes of this machine.
pub mod system {
    pub use crate::system::*;
}

/// Names of files that are being written.
pub mod temporary {
    pub use crate::temporary::*;
}

/// Turns of threads.
pub mod turns {
    pub use crate::turns::*;
}

/// Clients of web servers.
#[cfg(feature = "web")]
pub mod web {
    pub use crate::web::*;
}

/// What `wrapped!` writes calls of.
pub mod wrapper {
    pub use crate::wrapper::forward::get_many;
    /// Which errors pass.
    #[cfg(feature = "retry")]
    pub mod retry {
        pub use crate::wrapper::retry::*;
    }
}
