//! Suggestions for mistyped names.

/// Returns the known name that is most similar to a name, if one differs from it in at most a quarter of its characters plus one.
pub fn most_similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let nearest = known.into_iter().map(|known| (distance(known, name), known)).min();
    nearest.filter(|(distance, known)| *distance <= 1 + known.len() / 4).map(|(_, known)| known)
}

/// Returns the edit distance between two strings.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_numbers_of_changes() {
        assert_eq!(distance("allow_http", "alow_http"), 1);
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!((distance("", "abc"), distance("abc", "")), (3, 3));
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn only_similar_names_are_suggested() {
        let known = ["gzip", "zstd", "blosc"];
        assert_eq!(most_similar("gzp", known), Some("gzip"));
        assert_eq!(most_similar("zst", known), Some("zstd"));
        assert_eq!(most_similar("snappy", known), None);
    }
}
