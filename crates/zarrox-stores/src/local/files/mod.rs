//! The primitives with which directories are read and changed, for the code above them, which exists once for all systems.
//!
//! There are two implementations with the same interface: `unix` names files relative to open directories, so that no other
//! process can swap a directory for a link between a check and a use. `portable` uses only the standard library, for Windows.
//! With `--cfg zarrox_portable_fs`, Unix uses `portable` as well, so that the tests on Unix cover it.

mod common;
#[cfg(any(not(unix), zarrox_portable_fs))]
mod identity;
#[cfg(any(not(unix), zarrox_portable_fs))]
mod lock_file;
mod names;
#[cfg(any(not(unix), zarrox_portable_fs))]
mod portable;
mod positioned;
#[cfg(all(unix, not(zarrox_portable_fs)))]
mod unix;

pub use self::common::Identity;
pub(crate) use self::common::{ATTEMPTS, Entry, Kind, Opening, Target, Tree, not_a_file};
pub(crate) use self::names::canonicalize;
#[cfg(any(not(unix), zarrox_portable_fs))]
pub use self::portable::*;
pub use self::positioned::{read_exact_at, write_all_at};
#[cfg(all(unix, not(zarrox_portable_fs)))]
pub use self::unix::*;
