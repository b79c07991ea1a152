//! Arrays that grow together: their new shapes are stored after all of their new elements.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use ndarray::arr1;
use zarrox::internals::GrownArray;
use zarrox::prelude::*;
use zarrox::stores::{DirectoryStore, MemoryStore, Operation, Store, StoreErrorKind};
use zarrox::{Array, Error, ErrorKind, OpenOptions, s};
use zarrox_testkit::faults::{Fault, FaultyStore};
use zarrox_testkit::remote::Remote;

/// Returns two arrays of three elements each, in chunks of two.
fn dataset(store: &Arc<dyn Store>) -> Vec<Array> {
    OpenOptions::new().create_group((store.clone(), "")).unwrap();
    let create = |name| {
        let builder = OpenOptions::new().create_array((store.clone(), name));
        let array = builder.shape([3]).chunks([2]).data_type(DataType::Int32).create().unwrap();
        array.write(.., arr1(&[1, 2, 3])).unwrap();
        array
    };
    vec![create("x"), create("a")]
}

fn values(store: &Arc<dyn Store>, name: &str) -> Vec<i32> {
    let array = OpenOptions::new().open((store.clone(), name)).unwrap().into_array().unwrap();
    array.read::<ArrayD<i32>>(..).unwrap().into_raw_vec_and_offset().0
}

fn stores() -> (tempfile::TempDir, Vec<Arc<dyn Store>>) {
    let directory = tempfile::tempdir().unwrap();
    let there = DirectoryStore::open(directory.path()).unwrap();
    (directory, vec![Arc::new(MemoryStore::new()), Arc::new(there), Remote::default().blocking()])
}

fn stopped() -> Error {
    Error::new(ErrorKind::Interrupted, "stopped")
}

#[test]
fn arrays_that_grow_together_show_nothing_before_all_is_written() {
    let (_directory, stores) = stores();
    for store in stores {
        let mut arrays = dataset(&store);
        let shapes = [vec![5], vec![5]];
        Array::grow_together(&mut arrays, &shapes, |grown| {
            for array in grown {
                array.write(s![3..], arr1(&[4, 5]))?;
            }
            assert_eq!(values(&store, "x"), [1, 2, 3]);
            assert_eq!(values(&store, "a"), [1, 2, 3]);
            Ok(())
        })
        .unwrap();
        assert!(arrays.iter().all(|array| array.shape() == [5]));
        assert_eq!(values(&store, "x"), [1, 2, 3, 4, 5]);
        assert_eq!(values(&store, "a"), [1, 2, 3, 4, 5]);
    }
}

#[test]
fn arrays_whose_growth_fails_are_unchanged_and_expose_nothing_later() {
    let (_directory, stores) = stores();
    for store in stores {
        let mut arrays = dataset(&store);
        let failed = Array::grow_together(&mut arrays, &[vec![7], vec![7]], |grown| {
            grown[0].write(s![3..], arr1(&[9, 9, 9, 9]))?;
            Err(stopped())
        });
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Interrupted);
        assert_eq!(values(&store, "x"), [1, 2, 3]);
        Array::grow_together(&mut arrays, &[vec![7], vec![7]], |_| Ok(())).unwrap();
        assert_eq!(values(&store, "x"), [1, 2, 3, 0, 0, 0, 0]);
    }
}

#[test]
fn an_array_whose_shape_has_changed_does_not_grow() {
    let (_directory, stores) = stores();
    for store in stores {
        let mut arrays = dataset(&store);
        arrays[1].clone().append(arr1(&[4]), 0).unwrap();
        let failed = Array::grow_together(&mut arrays, &[vec![5], vec![5]], |_| Err(stopped()));
        assert!(failed.unwrap_err().to_string().contains("[4]"));
        assert_eq!(values(&store, "x"), [1, 2, 3]);
        assert_eq!(values(&store, "a"), [1, 2, 3, 4]);
    }
}

#[test]
fn stored_shapes_are_restored_when_another_one_cannot_be_stored() {
    // The shape of the last array is stored first.
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut arrays = dataset(&store);
    let faulty = FaultyStore::new(store.clone());
    faulty.inject(Fault::fail(StoreErrorKind::StorageFull).on(&[Operation::Set]).key("x/zarr.json"));
    let other: Arc<dyn Store> = Arc::new(faulty);
    for array in &mut arrays {
        let path = array.path().as_str().to_owned();
        *array = OpenOptions::new().open((other.clone(), &path)).unwrap().into_array().unwrap();
    }
    Array::grow_together(&mut arrays, &[vec![5], vec![5]], |_| Ok(())).unwrap_err();
    assert_eq!(values(&store, "x"), [1, 2, 3]);
    assert_eq!(values(&store, "a"), [1, 2, 3]);
}

/// Returns the group of the dataset.
fn group(store: &Arc<dyn Store>) -> zarrox::Group {
    OpenOptions::new().open((store.clone(), "")).unwrap().into_group().unwrap()
}

/// Returns both arrays of the dataset, which grow by two.
fn by_two(before: u64) -> Vec<GrownArray> {
    let longer = |path: &str| GrownArray { path: path.to_owned(), axis: 0, before, after: before + 2 };
    vec![longer("x"), longer("a")]
}

/// Returns the keys of marks of the dataset.
fn marks(store: &Arc<dyn Store>) -> Vec<String> {
    let all = zarrox_testkit::store::list(&**store, "").into_iter().map(|(key, _)| key);
    all.filter(|key| key.contains("unfinished.dataset")).collect()
}

#[test]
fn one_writer_at_a_time_lets_a_dataset_grow() {
    let (_directory, stores) = stores();
    for store in stores {
        dataset(&store);
        std::thread::scope(|scope| {
            for number in 0..4 {
                let store = &store;
                scope.spawn(move || {
                    let grown = group(store).grow_with(
                        || Ok(()),
                        |growth| {
                            assert_eq!(growth.left(), []);
                            let open = |name| OpenOptions::new().open((store.clone(), name))?.into_array();
                            let mut arrays = [open("x")?, open("a")?];
                            let before = arrays[0].shape()[0];
                            growth.note(&by_two(before), true)?;
                            let shapes = [vec![before + 2], vec![before + 2]];
                            Array::grow_together(&mut arrays, &shapes, |grown| {
                                grown
                                    .iter()
                                    .try_for_each(|array| array.write(s![before..], arr1(&[number; 2])))
                            })
                        },
                    );
                    grown.unwrap();
                });
            }
        });
        let mut written = values(&store, "x").split_off(3);
        assert_eq!(written, values(&store, "a").split_off(3));
        assert!(written.chunks(2).all(|pair| pair[0] == pair[1]));
        written.sort_unstable();
        assert_eq!(written, [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(marks(&store), Vec::<String>::new());
    }
}

#[test]
fn waiting_for_another_append_can_be_interrupted() {
    let (_directory, stores) = stores();
    for store in stores {
        dataset(&store);
        let interrupt = zarrox::Interrupt::new();
        let waiting = || {
            interrupt.raise();
            interrupt.check()
        };
        let grown = group(&store).grow_with(
            || Ok(()),
            |_| {
                let other = group(&store).grow_with(waiting, |_| Ok(()));
                assert_eq!(other.unwrap_err().kind(), ErrorKind::Interrupted);
                Ok(())
            },
        );
        grown.unwrap();
        group(&store).grow_with(|| unreachable!("no append is in progress"), |_| Ok(())).unwrap();
    }
}

#[test]
fn the_next_writer_undoes_a_partial_append_and_reports_a_complete_one() {
    let (_directory, stores) = stores();
    for store in stores {
        let mut arrays = dataset(&store);
        let failed = group(&store).grow_with(
            || Ok(()),
            |growth| {
                growth.note(&by_two(3), true)?;
                arrays[1].resize([5])?;
                Err::<(), _>(stopped())
            },
        );
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Interrupted);
        assert_eq!(values(&store, "a"), [1, 2, 3], "it was undone at once");
        assert_eq!(marks(&store), Vec::<String>::new());

        let failed = group(&store).grow_with(
            || Ok(()),
            |growth| {
                growth.note(&by_two(3), true)?;
                arrays.iter_mut().try_for_each(|array| array.resize([5]))?;
                Err::<(), _>(stopped())
            },
        );
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Interrupted);
        assert_eq!(values(&store, "a").len(), 5, "all rows are there");
        assert_eq!(marks(&store).len(), 1);
        let left = || group(&store).grow_with(|| Ok(()), |growth| Ok(growth.left().to_vec())).unwrap();
        assert_eq!(left(), by_two(3));
        assert_eq!(left(), []);
        assert_eq!(marks(&store), Vec::<String>::new());

        // Rows that were not written yet are not lost.
        let failed = group(&store).grow_with(
            || Ok(()),
            |growth| {
                growth.note(&by_two(5), false)?;
                arrays.iter_mut().try_for_each(|array| array.resize([7]))?;
                Err::<(), _>(stopped())
            },
        );
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Interrupted);
        assert_eq!((values(&store, "x").len(), values(&store, "a").len()), (5, 5));
    }
}
