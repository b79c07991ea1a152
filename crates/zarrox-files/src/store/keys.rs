//! [`Keys`]: the chunk keys of the arrays in a file.

/// The chunk key encoding, which depends on the Zarr format of the metadata documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Keys {
    /// Zarr v3: `c/0/1`.
    #[default]
    Slashes,
    /// Zarr v2: `0.1`.
    Dots,
}

impl Keys {
    /// Returns every possible split of a key into an array path and a chunk key.
    pub(crate) fn split(self, key: &str) -> impl Iterator<Item = (&str, &str)> {
        let begins_chunk = move |at: &usize| match self {
            Self::Slashes => key[at + 1..].starts_with('c'),
            Self::Dots => !key[at + 1..].contains('/'),
        };
        let ends = key.match_indices('/').map(|(at, _)| at).filter(begins_chunk);
        let at_root = match self {
            Self::Slashes => key.starts_with('c'),
            Self::Dots => !key.contains('/'),
        };
        let whole = at_root.then_some(("", key));
        ends.map(|at| (&key[..at], &key[at + 1..])).chain(whole)
    }

    /// Parses a chunk key, without the path of the array, into a chunk index.
    pub(crate) fn position(self, key: &str, ndim: usize) -> Option<Vec<u64>> {
        let number = |part: &str| {
            let is_plain = part == "0" || !part.starts_with(['0', '+']);
            part.parse().ok().filter(|_| is_plain)
        };
        let position: Vec<u64> = match self {
            Self::Slashes => {
                let mut parts = key.split('/');
                parts.next().filter(|first| *first == "c")?;
                parts.map(number).collect::<Option<_>>()?
            }
            Self::Dots if ndim == 0 => return (key == "0").then(Vec::new),
            Self::Dots => key.split('.').map(number).collect::<Option<_>>()?,
        };
        (position.len() == ndim).then_some(position)
    }

    /// Returns the full key of a chunk, including the path of the array.
    pub(crate) fn key(self, path: &str, chunk: &[u64]) -> String {
        let numbers = || chunk.iter().map(u64::to_string);
        let name = match self {
            Self::Slashes => std::iter::once("c".to_owned()).chain(numbers()).collect::<Vec<_>>().join("/"),
            Self::Dots if chunk.is_empty() => "0".to_owned(),
            Self::Dots => numbers().collect::<Vec<_>>().join("."),
        };
        if path.is_empty() { name } else { format!("{path}/{name}") }
    }

    /// Returns the common prefix of the chunk keys of an array.
    pub(crate) fn common(self, path: &str) -> String {
        match self {
            Self::Slashes => self.key(path, &[]),
            Self::Dots if path.is_empty() => String::new(),
            Self::Dots => format!("{path}/"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_formats() {
        for (keys, path, chunk, key) in [
            (Keys::Slashes, "", &[0, 12][..], "c/0/12"),
            (Keys::Slashes, "a/c", &[3], "a/c/c/3"),
            (Keys::Slashes, "a", &[], "a/c"),
            (Keys::Dots, "", &[0, 12], "0.12"),
            (Keys::Dots, "a/b", &[3], "a/b/3"),
            (Keys::Dots, "a", &[], "a/0"),
        ] {
            assert_eq!(keys.key(path, chunk), key);
            assert!(key.starts_with(&keys.common(path)));
            let found = keys.split(key).filter(|(of, _)| *of == path);
            let found: Vec<_> = found.map(|(_, rest)| keys.position(rest, chunk.len())).collect();
            assert_eq!(found, [Some(chunk.to_vec())], "{key}");
        }
        for (keys, key) in
            [(Keys::Slashes, "c/00"), (Keys::Slashes, "d/0"), (Keys::Dots, "+1"), (Keys::Dots, "c/0")]
        {
            assert_eq!(keys.position(key, 1), None, "{key}");
        }
    }
}
