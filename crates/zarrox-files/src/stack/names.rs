//! [`Names`]: the file names of a stack.

use std::path::{Path, PathBuf};

use zarrox::{Error, ErrorKind, Result};

/// The minimum number of digits in names without a pattern.
const DIGITS: usize = 4;

/// The file names of a stack: a directory, and the parts of the name before and after the image number.
///
/// ```
/// use zarrox_files::Names;
///
/// for pattern in ["slices/z%03d.png", "slices/z{:03}.png", "slices/z{:03d}.png"] {
///     let names = Names::of_pattern(pattern)?.unwrap();
///     assert_eq!(names.path(7, 100), std::path::Path::new("slices/z007.png"));
/// }
/// assert_eq!(Names::in_directory("slices", "png").path(7, 100), std::path::Path::new("slices/0007.png"));
/// # Ok::<(), zarrox::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    directory: PathBuf,
    before: String,
    behind: String,
    /// The minimum number of digits; `None` for as many as the largest number has, but at least 4.
    digits: Option<usize>,
}

impl Names {
    /// Returns the names for a path whose last component contains a placeholder for a number: `%d`, `%04d`, `{}`, `{:04}`
    /// or `{:04d}`; `None` for any other path.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if a directory contains a placeholder, or if the name contains several placeholders.
    pub fn of_pattern(path: impl AsRef<Path>) -> Result<Option<Self>> {
        let path = path.as_ref();
        let bad =
            |what: &str| Error::new(ErrorKind::InvalidArgument, format!("'{}': {what}", path.display()));
        let directory = path.parent().unwrap_or(Path::new(""));
        if directory.to_str().is_some_and(|text| placeholder(text).is_some()) {
            return Err(bad("the name of a directory cannot contain a placeholder for a number"));
        }
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Ok(None) };
        let Some((start, end, digits)) = placeholder(name) else { return Ok(None) };
        let (before, behind) = (&name[..start], &name[end..]);
        if placeholder(behind).is_some() {
            return Err(bad("the name has several placeholders for a number"));
        }
        Ok(Some(Self {
            directory: directory.to_owned(),
            before: before.to_owned(),
            behind: behind.to_owned(),
            digits: Some(digits),
        }))
    }

    /// Returns names in a directory that consist of a number and a suffix.
    pub fn in_directory(directory: impl Into<PathBuf>, suffix: &str) -> Self {
        Self {
            directory: directory.into(),
            before: String::new(),
            behind: format!(".{suffix}"),
            digits: None,
        }
    }

    /// Returns the path of image `number` out of `count` images.
    pub fn path(&self, number: u64, count: u64) -> PathBuf {
        self.directory().join(self.name(number, count))
    }

    /// Returns the directory that contains all images.
    pub(super) fn directory(&self) -> &Path {
        if self.directory.as_os_str().is_empty() { Path::new(".") } else { &self.directory }
    }

    pub(super) fn name(&self, number: u64, count: u64) -> String {
        let needed = count.saturating_sub(1).to_string().len();
        let digits = self.digits.unwrap_or_else(|| needed.max(DIGITS));
        format!("{}{number:0digits$}{}", self.before, self.behind)
    }
}

/// Finds the first number placeholder in a name. Returns its start, its end, and the minimum number of digits.
fn placeholder(name: &str) -> Option<(usize, usize, usize)> {
    let forms = [("%", "d"), ("{:", "d}"), ("{:", "}"), ("{", "}")];
    let found = forms.into_iter().filter_map(|(open, close)| {
        name.match_indices(open).find_map(|(start, _)| {
            let inner = &name[start + open.len()..];
            let digits = inner.len() - inner.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let width = &inner[..digits];
            let is_padded = width.is_empty() || (width.starts_with('0') && width.len() <= 3);
            let is_one = is_padded && inner[digits..].starts_with(close) && (open != "{" || digits == 0);
            let end = start + open.len() + digits + close.len();
            is_one.then(|| (start, end, width.parse().unwrap_or(1)))
        })
    });
    found.min_by_key(|found| found.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_one_place_for_a_number() {
        let of = |pattern: &str| Names::of_pattern(pattern).unwrap().map(|names| names.name(12, 99));
        assert_eq!(of("a_%d.png").unwrap(), "a_12.png");
        assert_eq!(of("a/%04d.png").unwrap(), "0012.png");
        assert_eq!(of("a{:03}b.tif").unwrap(), "a012b.tif");
        assert_eq!(of("{}.jpg").unwrap(), "12.jpg");
        for none in ["a.png", "100%.png", "a{b}.png", "%5d.png", "{3}.png"] {
            assert_eq!(of(none), None, "{none}");
        }
        for bad in ["%d/%d.png", "%d/a.png", "%d_%d.png", "{}%d.png"] {
            assert_eq!(Names::of_pattern(bad).unwrap_err().kind(), ErrorKind::InvalidArgument, "{bad}");
        }
        assert_eq!(Names::in_directory("a", "png").name(5, 100_001), "000005.png");
    }
}
