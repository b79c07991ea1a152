//! Default methods for stores without a better implementation: [`provided!`](crate::provided).

use std::ops::{ControlFlow, Range};

use bytes::Bytes;

use super::contract::{Condition, Store};
use super::ext::StoreExt;
use super::range::{ByteRange, WHOLE};
use super::value::{Stamp, Value, checked_length, out_of_range};
use crate::{Key, Prefix, StoreError, StoreErrorKind};

/// Opens a value and reads all of it.
pub fn get<S: Store + ?Sized>(store: &S, key: &Key) -> Result<Option<Bytes>, StoreError> {
    let Some(value) = store.open_with(key, Some(WHOLE))? else { return Ok(None) };
    value.read(0, value.size()).map(Some)
}

/// Opens a value with the first range, and reads the ranges.
pub fn get_ranges<S: Store + ?Sized>(
    store: &S,
    key: &Key,
    ranges: &[ByteRange],
) -> Result<Option<Vec<Bytes>>, StoreError> {
    let Some(value) = store.open_with(key, ranges.first().copied())? else { return Ok(None) };
    ranges_of(store, key, &*value, ranges).map(Some)
}

/// Implements [`Store::get_ranges`] for an open value.
///
/// # Errors
///
/// When a range lies outside the value, or cannot be read.
pub fn ranges_of<S: Store + ?Sized>(
    store: &S,
    key: &Key,
    value: &dyn Value,
    ranges: &[ByteRange],
) -> Result<Vec<Bytes>, StoreError> {
    let outside = |range: &ByteRange| {
        out_of_range(&format!("{range:?}"), value.size())
            .with_location(store.location())
            .with_key(key.as_str())
    };
    let ranges = ranges
        .iter()
        .map(|range| range.resolve(value.size()).ok_or_else(|| outside(range)))
        .collect::<Result<Vec<_>, _>>()?;
    read_ranges(value, &ranges)
}

/// Reads ranges that lie within the value. If overlapping ranges have more bytes in total than the value, the whole value is read
/// once instead, so that memory use is limited by the size of the value.
fn read_ranges(value: &dyn Value, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, StoreError> {
    let total = ranges.iter().fold(0_u64, |sum, range| sum.saturating_add(range.end - range.start));
    if total <= value.size() {
        return ranges.iter().map(|range| value.read(range.start, range.end - range.start)).collect();
    }
    let whole = value.read(0, value.size())?;
    let slice = |range: &Range<u64>| {
        let start = checked_length(value.size(), 0, range.start)?;
        let end = checked_length(value.size(), 0, range.end)?;
        Ok(whole.slice(start..end))
    };
    ranges.iter().map(slice).collect()
}

/// Returns true if `from` can be renamed to `to`, and false if they are equal.
///
/// # Errors
///
/// [`StoreErrorKind::InvalidKey`] when one of them contains the other.
pub fn check_rename(from: &Prefix, to: &Prefix) -> Result<bool, StoreError> {
    if from == to {
        return Ok(false);
    }
    if to.as_str().starts_with(from.as_str()) || from.as_str().starts_with(to.as_str()) {
        let message = format!("'{from}' and '{to}' contain one another");
        return Err(StoreError::new(StoreErrorKind::InvalidKey, "renaming", message).with_key(from.as_str()));
    }
    Ok(true)
}

/// Returns the error for an exchange in a store that does not support it.
pub fn no_exchange<S: Store + ?Sized>(store: &S, one: &Prefix, other: &Prefix) -> Result<(), StoreError> {
    check_rename(one, other)?;
    let message = "the store cannot exchange two prefixes in one step";
    let error = StoreError::new(StoreErrorKind::Unsupported, "exchanging", message);
    Err(error.with_location(store.location()).with_key(one.as_str()))
}

/// Returns the stamp of a value in a database or an archive, where opening a value determines its version.
///
/// # Errors
///
/// When the value cannot be opened.
pub fn stamp_of<S: Store + ?Sized>(store: &S, key: &Key) -> Result<Stamp, StoreError> {
    let Some(value) = store.open_with(key, Some(WHOLE))? else { return Ok(Stamp::Missing) };
    Ok(value.version().map_or(Stamp::Unknown, Stamp::Settled))
}

/// Renames by copying the values and then erasing them, for stores without a cheaper way.
pub fn copy_then_erase<S: Store + ?Sized>(store: &S, from: &Prefix, to: &Prefix) -> Result<(), StoreError> {
    if !check_rename(from, to)? {
        return Ok(());
    }
    let fail = |kind, message: &str, prefix: &Prefix| {
        let error = StoreError::new(kind, "renaming", message);
        Err(error.with_location(store.location()).with_key(prefix.as_str()))
    };
    if !store.capabilities().writable {
        return fail(StoreErrorKind::ReadOnly, "the store is read-only", from);
    }
    if any_key_below(store, to)? {
        return fail(StoreErrorKind::AlreadyExists, "the destination already exists", to);
    }
    let mut copied = 0;
    let mut result = Ok(());
    let listed = store.list_prefix(from, &mut |key, _| {
        copied += 1;
        result = copy_value(store, &key, from, to);
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    if let Err(error) = listed.and(result) {
        // The error from copying is reported, not an error from erasing.
        let _ = erase_copies(store, from, to, copied);
        return Err(error);
    }
    if copied == 0 {
        return fail(StoreErrorKind::NotFound, "nothing found", from);
    }
    store.erase_prefix(from)
}

/// Erases the copies of the first `copied` values below a prefix. Stops if a copy cannot be erased.
fn erase_copies<S: Store + ?Sized>(
    store: &S,
    from: &Prefix,
    to: &Prefix,
    mut count: u64,
) -> Result<(), StoreError> {
    store.list_prefix(from, &mut |key, _| {
        let copy = (count > 0).then(|| to.key(&key.as_str()[from.as_str().len()..]));
        count = count.saturating_sub(1);
        match copy {
            Some(Ok(copy)) if store.erase(&copy).is_ok() => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    })
}

fn any_key_below<S: Store + ?Sized>(store: &S, prefix: &Prefix) -> Result<bool, StoreError> {
    let mut any = false;
    store.list_prefix(prefix, &mut |_, _| {
        any = true;
        ControlFlow::Break(())
    })?;
    Ok(any)
}

fn copy_value<S: Store + ?Sized>(store: &S, key: &Key, from: &Prefix, to: &Prefix) -> Result<(), StoreError> {
    let Some(value) = store.get(key)? else { return Ok(()) };
    let name = &key.as_str()[from.as_str().len()..];
    store.set(&to.key(name)?, &value, Condition::Always)
}

/// Defines default methods of [`Store`](crate::Store), given by name, for stores without better implementations. Each is based on
/// other methods.
///
/// | method | based on |
/// |---|---|
/// | `directory` | nothing: returns `None` |
/// | `get`, `get_ranges` | `open_with` |
/// | `get_many` | `get` |
/// | `size` | `open_with` |
/// | `contains` | `size` |
/// | `rename_prefix` | copying each value, and `erase_prefix` |
/// | `flush` | nothing: each write is already complete |
/// | `stamp` | nothing: returns [`Stamp::Unknown`](crate::Stamp::Unknown) |
/// | `hold` | a hold among the threads of this process |
/// | `exchange` | nothing: fails as unsupported |
///
/// Any other name is a compile error, which lists these methods.
#[macro_export]
macro_rules! provided {
    (directory $($rest:ident)*) => {
        fn directory(&self) -> Option<&std::path::Path> {
            None
        }
        $crate::provided!($($rest)*);
    };
    (get $($rest:ident)*) => {
        fn get(&self, key: &$crate::Key) -> Result<Option<$crate::Bytes>, $crate::StoreError> {
            $crate::internals::store::provided::get(self, key)
        }
        $crate::provided!($($rest)*);
    };
    (get_ranges $($rest:ident)*) => {
        fn get_ranges(
            &self,
            key: &$crate::Key,
            ranges: &[$crate::ByteRange],
        ) -> Result<Option<Vec<$crate::Bytes>>, $crate::StoreError> {
            $crate::internals::store::provided::get_ranges(self, key, ranges)
        }
        $crate::provided!($($rest)*);
    };
    (get_many $($rest:ident)*) => {
        fn get_many(&self, keys: &[$crate::Key], done: &$crate::GetDone<'_>) {
            keys.iter().enumerate().for_each(|(index, key)| done(index, $crate::Store::get(self, key)));
        }
        $crate::provided!($($rest)*);
    };
    (size $($rest:ident)*) => {
        fn size(&self, key: &$crate::Key) -> Result<Option<u64>, $crate::StoreError> {
            Ok($crate::Store::open_with(self, key, None)?.map(|value| $crate::Value::size(&*value)))
        }
        $crate::provided!($($rest)*);
    };
    (contains $($rest:ident)*) => {
        fn contains(&self, key: &$crate::Key) -> Result<bool, $crate::StoreError> {
            Ok($crate::Store::size(self, key)?.is_some())
        }
        $crate::provided!($($rest)*);
    };
    (rename_prefix $($rest:ident)*) => {
        fn rename_prefix(&self, from: &$crate::Prefix, to: &$crate::Prefix) -> Result<(), $crate::StoreError> {
            $crate::internals::store::provided::copy_then_erase(self, from, to)
        }
        $crate::provided!($($rest)*);
    };
    (flush $($rest:ident)*) => {
        fn flush(&self) -> Result<(), $crate::StoreError> {
            Ok(())
        }
        $crate::provided!($($rest)*);
    };
    (stamp $($rest:ident)*) => {
        fn stamp(&self, _: &$crate::Key) -> Result<$crate::Stamp, $crate::StoreError> {
            Ok($crate::Stamp::Unknown)
        }
        $crate::provided!($($rest)*);
    };
    (hold $($rest:ident)*) => {
        fn hold(
            &self,
            prefix: &$crate::Prefix,
            how: $crate::Hold,
        ) -> Result<$crate::HoldGuard, $crate::StoreError> {
            Ok($crate::HoldGuard::in_process(&$crate::Store::location(self), prefix, how))
        }
        $crate::provided!($($rest)*);
    };
    (exchange $($rest:ident)*) => {
        fn exchange(&self, one: &$crate::Prefix, other: &$crate::Prefix) -> Result<(), $crate::StoreError> {
            $crate::internals::store::provided::no_exchange(self, one, other)
        }
        $crate::provided!($($rest)*);
    };
    () => {};
    ($other:ident $($rest:ident)*) => {
        compile_error!(concat!(
            "`", stringify!($other), "` is not a method that provided! has; write it in the `impl Store`. provided! has directory, get, get_ranges, get_many, size, contains, rename_prefix, flush, stamp, hold and exchange"
        ));
    };
}
