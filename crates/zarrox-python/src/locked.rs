//! A store whose objects are changed while Python locks are held.

use std::sync::Arc;

use pyo3::prelude::*;
use zarrox::stores::{
    Capabilities, Key, LockGuard, Store, StoreError, StoreErrorKind, Wrapper, provided, wrapped,
};

/// A wrapper that holds the lock `locks[key]` while an object is read, changed and stored.
#[derive(Debug, Clone)]
pub(crate) struct LockedStore {
    inner: Arc<dyn Store>,
    locks: Arc<Py<PyAny>>,
}

impl LockedStore {
    pub(crate) fn new(inner: Arc<dyn Store>, locks: Py<PyAny>) -> Self {
        Self { inner, locks: Arc::new(locks) }
    }
}

/// A context manager that was entered. It is exited when this value is dropped.
struct Entered(Py<PyAny>);

impl Drop for Entered {
    fn drop(&mut self) {
        Python::attach(|py| {
            let none = py.None();
            if let Err(error) = self.0.bind(py).call_method1("__exit__", (&none, &none, &none)) {
                error.write_unraisable(py, Some(self.0.bind(py)));
            }
        });
    }
}

impl Wrapper for LockedStore {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }
}

impl Store for LockedStore {
    wrapped!(location open_with get get_ranges get_many size contains put);
    wrapped!(erase_if erase_prefix list_prefix list_dir rename_prefix flush stamp hold exchange);
    provided!(directory);

    fn capabilities(&self) -> Capabilities {
        // Every change acquires and relies on the Python locks.
        let mut capabilities = self.inner.capabilities();
        (capabilities.locks_everyone, capabilities.set_if_unchanged) = (false, false);
        capabilities
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        // The Python lock is acquired first: a thread that holds it for a write of its own must not wait for a thread that waits
        // for it.
        let entered = Python::attach(|py| {
            let lock = self.locks.bind(py).get_item(key.as_str())?;
            lock.call_method0("__enter__")?;
            Ok(Entered(lock.unbind()))
        });
        let failed = |error: PyErr| {
            let text = error.to_string();
            StoreError::new(StoreErrorKind::Other, "locking", text)
                .with_location(self.location())
                .with_key(key.as_str())
                .with_source(error)
        };
        let entered = entered.map_err(failed)?;
        let inner = match self.inner.lock(key) {
            // The Python locks replace those that the file system lacks.
            Err(error) if error.kind() == StoreErrorKind::Unsupported => {
                LockGuard::in_process(&self.location(), key)
            }
            guard => guard?,
        };
        Ok(inner.with(entered))
    }
}
