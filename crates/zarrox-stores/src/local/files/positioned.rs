//! Reading and writing at an offset, regardless of the file's position.

use std::fs::File;
use std::io;

#[cfg(unix)]
mod system {
    use super::{File, io};
    use std::os::unix::fs::FileExt;

    pub(super) fn read(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        file.read_exact_at(buffer, offset)
    }

    pub(super) fn write(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }
}

#[cfg(windows)]
mod system {
    use super::{File, io};
    use std::os::windows::fs::FileExt;

    pub(super) fn read(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            let count = file.seek_read(buffer, offset)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            buffer = buffer.split_at_mut(count).1;
            offset += count as u64;
        }
        Ok(())
    }

    pub(super) fn write(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = file.seek_write(bytes, offset)?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            bytes = bytes.split_at(count).1;
            offset += count as u64;
        }
        Ok(())
    }
}

#[cfg(not(any(unix, windows)))]
mod system {
    use super::{File, io};

    pub(super) fn read(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn write(_: &File, _: &[u8], _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Fills a buffer with the bytes from `offset` on.
///
/// # Errors
///
/// [`io::ErrorKind::UnexpectedEof`] if the file ends earlier.
pub fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    system::read(file, buffer, offset)
}

/// Writes all bytes from `offset` on.
///
/// # Errors
///
/// When the file cannot be written.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    system::write(file, bytes, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_and_written_at_offsets() {
        let file = tempfile::tempfile().unwrap();
        write_all_at(&file, b"world", 3).unwrap();
        write_all_at(&file, b"the", 0).unwrap();
        let mut buffer = [0; 5];
        read_exact_at(&file, &mut buffer, 2).unwrap();
        assert_eq!(&buffer, b"eworl");
        let error = read_exact_at(&file, &mut buffer, 4).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
