//! Array names derived from column names.

use std::collections::BTreeSet;

/// Returns the array names for the columns of a table. Slashes are replaced, since they would separate group names, and
/// duplicate names are numbered.
///
/// Zarr reserves names that begin with two underscores. Index columns written by pandas have such names; their
/// underscores are removed.
pub(super) fn of_columns<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut all = Vec::new();
    for (nth, name) in names.into_iter().enumerate() {
        let name = name.trim();
        let name = if name.starts_with("__") { name.trim_matches('_').trim() } else { name };
        let name = name.replace('/', "_");
        let is_usable = !name.is_empty() && name.chars().any(|c| c != '.') && !name.starts_with("__");
        let name = if is_usable { name } else { format!("column_{nth}") };
        let mut found = name.clone();
        let mut number = 0;
        while !taken.insert(found.clone()) {
            number += 1;
            found = format!("{name}.{number}");
        }
        all.push(found);
    }
    all
}

/// Returns notes on the columns whose names differ from those in the file.
pub(super) fn notes<'n>(stored: impl IntoIterator<Item = &'n str>, names: &[String]) -> Vec<String> {
    let renamed = stored.into_iter().zip(names).filter(|(stored, name)| stored != name);
    renamed.map(|(stored, name)| format!("/{name}: the column is named '{stored}' in the file")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_stay_in_the_group() {
        let names = ["a", "", "a", "x/y", "..", " b ", "a.1", "__x", "__index_level_0__", "___"];
        let found = of_columns(names);
        assert_eq!(
            found,
            ["a", "column_1", "a.1", "x_y", "column_4", "b", "a.1.1", "x", "index_level_0", "column_9"]
        );
    }
}
