//! Concurrent writers during a repair: their elements are kept, whenever they write.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use zarrox::OpenOptions;
use zarrox::codecs::{Bytes, Crc32c, Sharding};
use zarrox::stores::{
    Call, Condition, DirectoryStore, Key, MemoryStore, Operation, Store, StoreError, StoreExt, Wrapper,
    provided, wrapped,
};
use zarrox::{Array, prelude::*, s};
use zarrox_tools::check::{Check, CheckSummary, Finding, Repair};

use super::run;

const REPAIR: Repair = Repair { dry_run: false, refill: false };

/// An operation of another process.
type Work = Box<dyn FnOnce() + Send>;

/// A store in which another process runs an operation just before the n-th operation on a key.
#[derive(Clone)]
struct Beside {
    inner: Arc<dyn Store>,
    key: &'static str,
    left: Arc<AtomicUsize>,
    work: Arc<Mutex<Option<Work>>>,
}

impl fmt::Debug for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Beside({:?})", self.inner)
    }
}

impl Wrapper for Beside {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn around<T>(
        &self,
        call: &Call<'_>,
        run: &mut dyn FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if call.key() == self.key {
            let is_due = self.left.fetch_sub(1, Relaxed) == 1;
            let work = self.work.lock().unwrap().take_if(|_| is_due);
            work.into_iter().for_each(|work| work());
            // The holder of the lock excludes other processes.
            if call.operation() == Operation::Lock {
                self.work.lock().unwrap().take();
            }
        }
        run()
    }
}

impl Store for Beside {
    wrapped!(location capabilities open_with get get_ranges get_many size contains);
    wrapped!(put erase_if erase_prefix list_prefix list_dir rename_prefix flush lock stamp hold exchange);
    provided!(directory);
}

/// Runs repairs with an operation of another process: before the first operation on a key, then before the second one, and so
/// on, until the operation would come after the lock. `prepare` creates the damaged hierarchy, `work` is the operation, and
/// `judge` checks the state afterwards.
fn at_every_moment(
    key: &'static str,
    prepare: impl Fn(&Arc<dyn Store>),
    work: fn(&Arc<dyn Store>),
    judge: impl Fn(&Arc<dyn Store>, (CheckSummary, Vec<Finding>), usize),
) {
    for in_memory in [true, false] {
        for nth in 1.. {
            let directory = tempfile::tempdir().unwrap();
            let inner: Arc<dyn Store> = match in_memory {
                true => Arc::new(MemoryStore::new()),
                false => Arc::new(DirectoryStore::create(directory.path().join("h.zarr")).unwrap()),
            };
            prepare(&inner);
            let (done, store) = (Arc::new(AtomicUsize::new(0)), inner.clone());
            let told = done.clone();
            let work: Work = Box::new(move || {
                work(&store);
                told.store(1, Relaxed);
            });
            let left = Arc::new(AtomicUsize::new(nth));
            let beside = Beside { inner: inner.clone(), key, left, work: Arc::new(Mutex::new(Some(work))) };
            let result =
                run(&Check::open_with(&OpenOptions::new(), (Arc::new(beside), "")).unwrap().repair(REPAIR));
            if done.load(Relaxed) == 0 {
                assert!(nth > 3, "the repair has looked at the object before");
                break;
            }
            judge(&inner, result, nth);
        }
    }
}

fn array(store: &Arc<dyn Store>) -> Array {
    OpenOptions::new().open((store.clone(), "a")).unwrap().into_array().unwrap()
}

#[test]
fn a_write_to_a_damaged_shard_is_there_after_its_repair() {
    let prepare = |store: &Arc<dyn Store>| {
        let root = OpenOptions::new().create_group((store.clone(), "")).unwrap();
        let sharding = Sharding::new([2], [Bytes::little().into(), Crc32c::default().into()]);
        let builder = root.create_array("a").shape([8]).chunks([8]).data_type(DataType::Int32);
        builder.codecs([sharding.into()]).create().unwrap().write(.., 7).unwrap();
        let key = Key::new("a/c/0").unwrap();
        let mut bytes = store.get(&key).unwrap().unwrap().to_vec();
        bytes[0] ^= 1;
        store.set(&key, &bytes, Condition::Always).unwrap();
    };
    at_every_moment(
        "a/c/0",
        prepare,
        // The shard has as many bytes as before.
        |store| array(store).write(s![5..6], 99).unwrap(),
        |store, (_, found), nth| {
            let read = array(store).read::<ArrayD<i32>>(s![2..]).unwrap();
            assert_eq!(
                read,
                ndarray::arr1(&[7, 7, 7, 99, 7, 7]).into_dyn(),
                "before operation {nth}: {found:?}"
            );
        },
    );
}

#[test]
fn a_chunk_that_was_written_anew_is_not_moved_away() {
    let prepare = |store: &Arc<dyn Store>| {
        let root = OpenOptions::new().create_group((store.clone(), "")).unwrap();
        let builder = root.create_array("a").shape([4]).chunks([4]).data_type(DataType::Int32);
        let builder = builder.codecs([Bytes::little().into(), Crc32c::default().into()]);
        builder.create().unwrap().write(.., 7).unwrap();
        let key = Key::new("a/c/0").unwrap();
        let mut bytes = store.get(&key).unwrap().unwrap().to_vec();
        bytes[0] ^= 1;
        store.set(&key, &bytes, Condition::Always).unwrap();
    };
    at_every_moment(
        "a/c/0",
        prepare,
        |store| array(store).write(.., 99).unwrap(),
        |store, (_, found), nth| {
            let read = array(store).read::<ArrayD<i32>>(..).unwrap();
            assert_eq!(read, ndarray::arr1(&[99; 4]).into_dyn(), "before operation {nth}: {found:?}");
        },
    );
}

#[test]
fn a_document_that_was_written_anew_is_not_replaced() {
    let prepare = |store: &Arc<dyn Store>| {
        let root = OpenOptions::new().create_group((store.clone(), "")).unwrap();
        let array = root.create_array("a").shape([4]).chunks([4]).data_type(DataType::Int32);
        array.create().unwrap();
        root.consolidate_metadata().unwrap();
        store.set(&Key::new("a/zarr.json").unwrap(), b"{", Condition::Always).unwrap();
    };
    at_every_moment(
        "a/zarr.json",
        prepare,
        |store| {
            let other = OpenOptions::new().create_array((store.clone(), "b")).shape([5]).chunks([4]);
            other.data_type(DataType::Int32).create().unwrap();
            let document = store.get(&Key::new("b/zarr.json").unwrap()).unwrap().unwrap();
            store.set(&Key::new("a/zarr.json").unwrap(), &document, Condition::Always).unwrap();
        },
        |store, (_, found), nth| {
            assert_eq!(array(store).shape(), [5], "before operation {nth}: {found:?}");
        },
    );
}
