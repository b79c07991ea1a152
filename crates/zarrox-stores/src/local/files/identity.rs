//! The identities of files, without the calls of one system.

#[cfg(unix)]
use std::fs;
use std::fs::File;
#[cfg(windows)]
use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use super::common::Identity;

/// The flag without which Windows does not open directories.
#[cfg(windows)]
pub(super) const BACKUP_SEMANTICS: u32 = 0x0200_0000;

/// Returns the identity of an open file.
#[cfg(unix)]
pub fn identity(file: &File) -> io::Result<Identity> {
    Ok(identity_in(&file.metadata()?))
}

/// Returns the identity of an open file.
#[cfg(windows)]
pub fn identity(file: &File) -> io::Result<Identity> {
    let information = winapi_util::file::information(file)?;
    Ok((information.volume_serial_number(), information.file_index()))
}

#[cfg(unix)]
fn identity_in(metadata: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Returns the identity of the file or directory to which a path leads.
#[cfg(unix)]
pub(super) fn identity_of(path: &Path) -> io::Result<Identity> {
    Ok(identity_in(&fs::metadata(path)?))
}

/// Returns the identity of the file or directory to which a path leads.
#[cfg(windows)]
pub(super) fn identity_of(path: &Path) -> io::Result<Identity> {
    use std::os::windows::fs::OpenOptionsExt;

    identity(&OpenOptions::new().access_mode(0).custom_flags(BACKUP_SEMANTICS).open(path)?)
}
