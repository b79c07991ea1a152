//! Programs of mutations: each is a byte for its kind, one for a key, and what the kind needs.

use crate::contents::Contents;
use crate::input::Input;
use crate::keys::{self, Place};
use crate::values;

/// The most mutations of one input.
const MOST: usize = 24;

/// One kind of damage.
enum Mutation {
    /// Bytes of a value are changed.
    Bytes(fn(&mut Input<'_>, &mut [u8])),
    /// A value gets another length.
    Value(fn(&mut Input<'_>, &mut Vec<u8>)),
    /// A value is lost, or lies where it does not belong.
    Key(fn(&mut Input<'_>, &mut Place<'_>)),
}

/// All kinds. Inputs name them by their numbers.
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

/// Damages the values whose keys have this prefix, and adds others there, in the way that the input tells.
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

/// Programs to begin with: none, and each mutation of some key.
pub(crate) fn seeds() -> impl Iterator<Item = Vec<u8>> {
    let kinds = (0_u8..).take(MUTATIONS.len());
    let each = kinds.flat_map(|kind| (0..3).map(move |key| vec![kind, key * 5, kind, 7, 3, 1, 2]));
    std::iter::once(Vec::new()).chain(each)
}
