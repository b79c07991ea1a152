//! Programs of mutations: each mutation has a byte for its kind, a byte for a key, and the bytes that its kind needs.

use crate::contents::Contents;
use crate::input::Input;
use crate::keys::{self, Place};
use crate::values;

/// The largest number of mutations of one input.
const MOST: usize = 24;

/// A kind of damage.
enum Mutation {
    /// Changes bytes of a value.
    Bytes(fn(&mut Input<'_>, &mut [u8])),
    /// Changes the length of a value.
    Value(fn(&mut Input<'_>, &mut Vec<u8>)),
    /// Removes or misplaces a value.
    Key(fn(&mut Input<'_>, &mut Place<'_>)),
}

/// All kinds. Inputs refer to them by their numbers.
const MUTATIONS: [Mutation; 16] = [
    Mutation::Bytes(values::change),
    Mutation::Value(values::cut),
    Mutation::Value(values::grow),
    Mutation::Bytes(values::fill),
    Mutation::Bytes(values::entry),
    Mutation::Value(values::number),
    Mutation::Key(keys::remove),
    Mutation::Key(keys::swap),
    Mutation::Key(keys::add),
    Mutation::Value(values::replace),
    Mutation::Key(keys::copy),
    Mutation::Key(keys::rename),
    Mutation::Key(keys::empty),
    Mutation::Key(keys::mark),
    Mutation::Value(values::string),
    Mutation::Value(values::clear),
];

/// Damages the values whose keys have this prefix, and adds others, as the input says.
pub(crate) fn damage(input: &mut Input<'_>, contents: &mut Contents, prefix: &str) {
    for _ in 0..MOST {
        let Some(kind) = input.next() else { return };
        let keys: Vec<String> = contents.keys().filter(|key| key.starts_with(prefix)).cloned().collect();
        if keys.is_empty() {
            return;
        }
        let key = input.one_of(&keys);
        match (&MUTATIONS[usize::from(kind) % MUTATIONS.len()], contents.get_mut(key)) {
            (Mutation::Bytes(mutate), Some(value)) => mutate(input, value),
            (Mutation::Value(mutate), Some(value)) => mutate(input, value),
            (Mutation::Key(mutate), _) => mutate(input, &mut Place { contents, prefix, keys: &keys, key }),
            _ => {}
        }
    }
}

/// Returns the seeds: an empty program, and each mutation of some key.
pub(crate) fn seeds() -> impl Iterator<Item = Vec<u8>> {
    let kinds = (0_u8..).take(MUTATIONS.len());
    let each = kinds.flat_map(|kind| (0..3).map(move |key| vec![kind, key * 5, kind, 7, 3, 1, 2]));
    std::iter::once(Vec::new()).chain(each)
}
