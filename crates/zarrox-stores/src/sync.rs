//! Locks of threads: those of the standard library.

use std::sync::PoisonError;

pub(crate) use std::{
    sync::{Condvar, LazyLock, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard},
    thread::sleep,
    thread_local,
};

/// For mutexes under which a panic leaves things whole.
pub(crate) fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
