//! The default methods for stores without a better implementation.

use std::sync::Arc;

use zarrox_stores::{Key, MemoryStore, Store, StoreError, Value, Wrapper, provided, wrapped};
use zarrox_testkit::store::store_suite;

/// A store with nothing but the required methods, whose values are not in memory.
#[derive(Clone, Debug, Default)]
struct Plain(Arc<MemoryStore>);

struct PlainValue(Box<dyn Value>);

impl Value for PlainValue {
    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        self.0.read_at(offset, buffer)
    }
}

impl Wrapper for Plain {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn value(&self, _key: &Key, value: Box<dyn Value>) -> Box<dyn Value> {
        Box::new(PlainValue(value))
    }
}

impl Store for Plain {
    wrapped!(location open_with put);
    wrapped!(erase_if erase_prefix list_prefix list_dir lock);
    provided!(directory get get_ranges get_many size contains rename_prefix flush stamp hold exchange);

    fn capabilities(&self) -> zarrox_stores::Capabilities {
        let mut capabilities = self.0.capabilities();
        // The values of this store have no versions.
        capabilities.set_if_unchanged = false;
        capabilities.erase_if_unchanged = false;
        capabilities.locks_everyone = false;
        capabilities
    }
}

#[test]
fn passes_the_suite() {
    store_suite(|| Box::new(Plain::default()));
}
