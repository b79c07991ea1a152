//! [`External`]: access to files that are named in other files, such as the targets of external links.

use std::io;
use std::path::{Path, PathBuf};
#[cfg(any(test, feature = "tiff"))]
use std::sync::Arc;

use zarrox::{Error, ErrorKind, Result};

#[cfg(any(test, feature = "tiff"))]
use crate::input::Input;
use crate::input::failed;

/// The directories from which files named in another file may be opened.
///
/// The directory of the naming file and all its subdirectories are always allowed.
#[derive(Debug, Clone, Default)]
pub(crate) struct External {
    /// Additional allowed directories.
    pub(crate) directories: Vec<PathBuf>,
    /// True for files in memory, which may not refer to other files.
    pub(crate) is_closed: bool,
}

impl External {
    /// Returns the canonical path of a file named in `source`.
    ///
    /// A relative name is resolved against the directory of `source`, as HDF5 and OME-TIFF define.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the file does not exist; [`ErrorKind::Forbidden`] if it is outside the allowed
    /// directories, or if `source` is in memory.
    pub(crate) fn resolve(&self, source: &Path, name: &str) -> Result<PathBuf> {
        if self.is_closed {
            let message = format!(
                "'{}' is in memory and refers to the file '{name}', which cannot be opened",
                source.display()
            );
            return Err(Error::new(ErrorKind::Forbidden, message));
        }
        let directory =
            source.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let named = directory.join(name);
        let path = std::fs::canonicalize(&named).map_err(|error| unopened(source, &named, error))?;
        let allowed = std::iter::once(directory).chain(self.directories.iter().map(PathBuf::as_path));
        let mut allowed = allowed.filter_map(|directory| std::fs::canonicalize(directory).ok());
        if allowed.any(|directory| path.starts_with(directory)) {
            return if path.is_file() { Ok(path) } else { Err(missing(source, &path)) };
        }
        let message = format!(
            "'{}' refers to the file '{name}' outside its directory; --external DIR allows a directory",
            source.display()
        );
        Err(Error::new(ErrorKind::Forbidden, message))
    }

    /// Opens a file named in `source`.
    ///
    /// # Errors
    /// The errors of [`External::resolve`], and any error from opening the file.
    #[cfg(any(test, feature = "tiff"))]
    pub(crate) fn open(&self, source: &Path, name: &str) -> Result<Arc<Input>> {
        Ok(Arc::new(Input::open(&self.resolve(source, name)?)?))
    }
}

/// Returns the error for a file named in `source` that cannot be opened.
fn unopened(source: &Path, named: &Path, error: io::Error) -> Error {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    match error.kind() {
        // No file can have such a name.
        NotFound | NotADirectory | InvalidFilename | InvalidInput => {
            missing(source, named).with_source(error)
        }
        _ => failed(&format!("opening '{}', which '{}' names,", named.display(), source.display()), error),
    }
}

fn missing(source: &Path, named: &Path) -> Error {
    let message = format!(
        "'{}' refers to the file '{}', which is missing: put a copy of the file there",
        source.display(),
        named.display()
    );
    Error::new(ErrorKind::NotFound, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_allowed_directories_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let (inside, outside) = (directory.path().join("a"), directory.path().join("b"));
        std::fs::create_dir_all(inside.join("below")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        for file in [inside.join("source"), inside.join("below/one"), outside.join("two")] {
            std::fs::write(file, "x").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.join("two"), inside.join("link")).unwrap();
        let source = inside.join("source");
        let none = External::default();
        assert_eq!(none.open(&source, "below/one").unwrap().length(), 1);
        assert_eq!(none.open(&source, "below/../below/one").unwrap().length(), 1);
        let long = "x".repeat(300);
        for name in ["gone", "source/part", "below", "nul\0", &long] {
            let error = none.resolve(&source, name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
            assert!(error.to_string().contains("put a copy of the file there"), "{error}");
        }
        let absolute = outside.join("two");
        for name in [
            "../b/two",
            absolute.to_str().unwrap(),
            #[cfg(unix)]
            "link",
        ] {
            assert_eq!(none.resolve(&source, name).unwrap_err().kind(), ErrorKind::Forbidden, "{name}");
        }
        let both = External { directories: vec![outside], is_closed: false };
        assert_eq!(both.open(&source, "../b/two").unwrap().length(), 1);
    }
}
