//! Tests of creating, moving and deleting nodes in stores that fail, and in processes that are killed.

use std::sync::Arc;

use ndarray::ArrayD;
use ndarray::arr1;
use zarrox_core::json::{Map, json};
use zarrox_core::{DataType, ErrorKind, Format, NodePath};
use zarrox_stores::{MemoryStore, Operation, Store, StoreErrorKind};
use zarrox_testkit::faults::{Fault, FaultyStore};

use crate::OpenOptions;
use crate::location::Location;

const FORMATS: [Format; 3] = [Format::V2, Format::V3, Format::V3Draft];

/// Returns a hierarchy and its root. Its arrays `a`, `b` and `g/x` have the elements 1, 2 and 3.
fn hierarchy(format: Format) -> (FaultyStore, Location) {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let shared: Arc<dyn Store> = Arc::new(store.clone());
    let root = OpenOptions::new().format(format).create_group((shared.clone(), "")).unwrap();
    root.create_group("g").unwrap();
    for (name, value) in [("a", 1), ("b", 2), ("g/x", 3)] {
        let array = root.create_array(name).shape([2]).chunks([1]).data_type(DataType::Int32);
        let attributes = Map::from_iter([("value".to_owned(), json!(value))]);
        array.attributes(attributes).create().unwrap().write(.., arr1(&[value; 2])).unwrap();
    }
    (store, OpenOptions::new().location(shared, "").unwrap())
}

fn place(root: &Location, name: &str) -> Location {
    root.at(NodePath::new(name).unwrap())
}

/// Returns the value of all elements of an array, which is also in its attributes; `None` if there is no node.
fn value(store: &FaultyStore, name: &str) -> Option<i32> {
    let node = OpenOptions::new().open((Arc::new(store.clone()), name));
    let array = match node {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        node => node.unwrap().into_array().unwrap(),
    };
    let values = array.read::<ArrayD<i32>>(..).unwrap().into_raw_vec_and_offset().0;
    assert_eq!(values[0], values[1], "{name}");
    assert_eq!(array.attributes()["value"], json!(values[0]), "{name}");
    Some(values[0])
}

/// Returns each fault that can occur in one of the operations.
fn faults(operations: &[Operation]) -> impl Iterator<Item = Fault> {
    let fault = |operation, nth| Fault::fail(StoreErrorKind::Unreachable).on(&[operation]).nth(nth);
    let faults = operations.iter().flat_map(move |&operation| (1..9).map(move |nth| fault(operation, nth)));
    faults.flat_map(|fault| [fault.clone(), fault.when_done()])
}

#[test]
fn a_forced_move_that_fails_loses_no_node() {
    use Operation as Op;
    let mut failed = 0;
    for format in FORMATS {
        for fault in faults(&[Op::Set, Op::Erase, Op::ErasePrefix, Op::RenamePrefix]) {
            let (store, root) = hierarchy(format);
            store.inject(fault.clone());
            let moved = place(&root, "a").move_node(&place(&root, "b"), true);
            store.heal();
            let found = (value(&store, "a"), value(&store, "b"));
            failed += usize::from(moved.is_err());
            match moved {
                Ok(()) => assert_eq!(found, (None, Some(1)), "{format} {fault:?}"),
                // The move is complete except for the deletion of the replaced node.
                Err(error) if found == (None, Some(1)) => {
                    assert!(error.to_string().contains("move it again"), "{format} {fault:?}: {error}");
                    let again = place(&root, "a").move_node(&place(&root, "b"), true);
                    // If only the response to the last call was lost, nothing is left to do.
                    let is_done = again.is_ok() || format!("{fault:?}").contains("FailWhenDone");
                    assert!(is_done, "{format} {fault:?}");
                    assert_eq!(value(&store, "b"), Some(1), "{format} {fault:?}");
                }
                // If a node is moved by copying, the replaced node is deleted first.
                Err(_) if found == (Some(1), None) => {
                    place(&root, "a").move_node(&place(&root, "b"), true).unwrap();
                    let found = (value(&store, "a"), value(&store, "b"));
                    assert_eq!(found, (None, Some(1)), "{format} {fault:?}");
                }
                // The two nodes have been exchanged, and the replaced node has not been deleted yet: repeating the call deletes
                // it.
                Err(_) if found == (Some(2), Some(1)) => {
                    place(&root, "a").move_node(&place(&root, "b"), true).unwrap();
                    let found = (value(&store, "a"), value(&store, "b"));
                    assert_eq!(found, (None, Some(1)), "{format} {fault:?}");
                }
                Err(error) => assert_eq!(found, (Some(1), Some(2)), "{format} {fault:?}: {error}"),
            }
        }
    }
    assert!(failed > 20, "{failed}");
}

#[test]
fn the_same_move_deletes_a_replaced_node_that_could_not_be_put_back() {
    let renames = |kind| Fault::fail(kind).on(&[Operation::RenamePrefix]);
    let mut left_aside = 0;
    for format in [Format::V2, Format::V3] {
        for first in 1..6 {
            let (store, root) = hierarchy(format);
            // If the store cannot exchange two nodes, the replaced node is moved aside.
            store.inject(renames(StoreErrorKind::Unsupported).nth(1));
            store.inject(renames(StoreErrorKind::Unreachable).since(first));
            let moved = place(&root, "a").move_node(&place(&root, "b"), true);
            store.heal();
            if moved.is_err() {
                left_aside += usize::from(value(&store, "b.replaced0") == Some(2));
                place(&root, "a").move_node(&place(&root, "b"), true).unwrap();
            }
            assert_eq!((value(&store, "a"), value(&store, "b")), (None, Some(1)), "{format} {first}");
            let left = names_left(&store);
            let is_left = |key: &String| key.contains("replaced") || key.contains(".zarrox");
            assert!(!left.iter().any(is_left), "{format} {first}: {left:?}");
        }
    }
    assert!(left_aside > 0);
}

/// The operations that change a store. A process that is killed makes no further changes.
const CHANGES: [Operation; 4] =
    [Operation::Set, Operation::Erase, Operation::ErasePrefix, Operation::RenamePrefix];

/// Runs work in a process that is killed after n changes, for each n and in every format, with and without renames; `judge` then
/// checks the state of the store.
fn killed(work: impl Fn(&Location) -> crate::Result<()>, judge: impl Fn(&FaultyStore, &Location, &str)) {
    let mut killed = 0;
    for (format, renames) in FORMATS.into_iter().flat_map(|format| [(format, true), (format, false)]) {
        for nth in 1.. {
            let (mut store, root) = hierarchy(format);
            let mut root = root;
            if !renames {
                store = store.without_rename();
                root = root.moved_to(Arc::new(store.clone()), NodePath::root());
            }
            store.inject(Fault::fail(StoreErrorKind::Unreachable).on(&CHANGES).since(nth));
            let done = work(&root);
            store.heal();
            judge(&store, &root, &format!("{format}, renames: {renames}, killed at change {nth}"));
            killed += usize::from(done.is_err());
            if done.is_ok() {
                break;
            }
        }
    }
    assert!(killed >= 10, "{killed}");
}

fn names_left(store: &FaultyStore) -> Vec<String> {
    zarrox_testkit::store::list(store, "").into_iter().map(|(key, _)| key).collect()
}

#[test]
fn a_killed_deletion_leaves_whole_nodes_and_is_continued() {
    let delete = |root: &Location, name: &str| place(root, name).delete();
    killed(
        |root| delete(root, "g"),
        |store, root, context| {
            // A node that still exists must be complete.
            value(store, "g/x");
            match delete(root, "g") {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                deleted => deleted.unwrap_or_else(|error| panic!("{context}: {error}")),
            }
            assert_eq!((value(store, "g/x"), value(store, "a")), (None, Some(1)), "{context}");
            assert_eq!(left_of(store, "g"), Vec::<String>::new(), "{context}");
        },
    );
}

/// Returns the names of the keys of a node, and those of marks.
fn left_of(store: &FaultyStore, node: &str) -> Vec<String> {
    let is_named =
        |name: &str| name == node || name.strip_prefix(node).is_some_and(|rest| rest.starts_with('.'));
    let is_left = |key: &String| key.contains(".zarrox") || key.split('/').any(is_named);
    names_left(store).into_iter().filter(is_left).collect()
}

#[test]
fn a_deletion_that_fails_on_a_full_disk_leaves_whole_nodes_and_is_continued() {
    use Operation as Op;
    let create = |root: &Location, name: &str| {
        let options = OpenOptions::new().format(place(root, name).new_format()?);
        let array = options.create_array((root.store.clone(), name)).shape([2]).data_type(DataType::Int32);
        array.overwrite(true).create().map(drop)
    };
    let mut failed = 0;
    for (format, name) in FORMATS.into_iter().flat_map(|format| [(format, "a"), (format, "g")]) {
        // There is no space for the mark on the first attempt, or until another operation has failed.
        for (full, fault) in [1, 2].into_iter().flat_map(|full| {
            faults(&[Op::Erase, Op::ErasePrefix, Op::ListPrefix]).map(move |fault| (full, fault))
        }) {
            let (store, root) = hierarchy(format);
            store.inject(Fault::fail(StoreErrorKind::StorageFull).on(&[Op::Set]).first(full));
            store.inject(fault.clone());
            let deleted = place(&root, name).delete();
            store.heal();
            let context = format!("{format} {name} {full} {fault:?}");
            // A node that still exists must be complete.
            value(&store, if name == "g" { "g/x" } else { "a" });
            if deleted.is_err() {
                failed += 1;
                create(&root, name).unwrap_or_else(|error| panic!("{context}: {error}"));
                place(&root, name).delete().unwrap();
            }
            assert_eq!(left_of(&store, name), Vec::<String>::new(), "{context}");
        }
    }
    assert!(failed > 20, "{failed}");
}

#[test]
fn a_killed_move_leaves_a_whole_node_and_is_continued() {
    let move_it = |root: &Location| place(root, "g").move_node(&place(root, "h"), false);
    killed(move_it, |store, root, context| {
        let (old, new) = (value(store, "g/x"), value(store, "h/x"));
        assert!(old.or(new) == Some(3), "{context}: the node is gone");
        match move_it(root) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            moved => moved.unwrap_or_else(|error| panic!("{context}: {error}")),
        }
        assert_eq!((value(store, "g/x"), value(store, "h/x")), (None, Some(3)), "{context}");
        let left = names_left(store);
        assert!(!left.iter().any(|key| key.contains(".zarrox")), "{context}: {left:?}");
    });
}

#[test]
fn a_move_that_is_killed_again_and_again_is_continued() {
    let moves = |root: &Location| place(root, "g").move_node(&place(root, "h"), false);
    for nth in 1..12 {
        killed(moves, |store, root, context| {
            store.inject(Fault::fail(StoreErrorKind::Unreachable).on(&CHANGES).since(nth));
            let again = moves(root);
            store.heal();
            match again.or_else(|_| moves(root)) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                moved => moved.unwrap_or_else(|error| panic!("{context}, and at {nth}: {error}")),
            }
            assert_eq!(
                (value(store, "g/x"), value(store, "h/x")),
                (None, Some(3)),
                "{context}, and at {nth}"
            );
        });
    }
}

#[test]
fn a_killed_creation_leaves_a_whole_node_or_none() {
    let create = |root: &Location| {
        let store = root.store.clone();
        let array = OpenOptions::new().format(place(root, "new").new_format()?);
        let attributes = Map::from_iter([("value".to_owned(), json!(0))]);
        let array = array.create_array((store, "new")).shape([2]).chunks([1]).data_type(DataType::Int32);
        array.attributes(attributes).create().map(drop)
    };
    killed(create, |store, root, context| {
        if value(store, "new").is_none() {
            create(root).unwrap_or_else(|error| panic!("{context}: {error}"));
        }
        assert_eq!(value(store, "new"), Some(0), "{context}");
    });
}

/// Creates the array `new`, whose elements are all 4.
fn create_with_elements(root: &Location) -> crate::Result<()> {
    let options = OpenOptions::new().format(place(root, "new").new_format()?);
    let attributes = Map::from_iter([("value".to_owned(), json!(4))]);
    let array = options.create_array((root.store.clone(), "new")).shape([2]).chunks([1]);
    let array = array.data_type(DataType::Int32).attributes(attributes);
    array.create_with("fours", |array| array.write(.., arr1(&[4; 2]))).map(drop)
}

#[test]
fn a_killed_creation_with_elements_is_continued() {
    killed(create_with_elements, |store, root, context| {
        let seen = value(store, "new");
        assert!(seen.is_none_or(|value| value == 4), "{context}: {seen:?}");
        match create_with_elements(root) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && seen.is_some() => {}
            created => created.unwrap_or_else(|error| panic!("{context}: {error}")),
        }
        assert_eq!(value(store, "new"), Some(4), "{context}");
        let left = names_left(store);
        assert!(!left.iter().any(|key| key.contains(".zarrox")), "{context}: {left:?}");
    });
}

#[test]
fn remains_of_a_killed_creation_are_deleted_like_a_node() {
    killed(create_with_elements, |store, root, context| {
        match place(root, "new").delete() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            deleted => deleted.unwrap_or_else(|error| panic!("{context}: {error}")),
        }
        assert_eq!(left_of(store, "new"), Vec::<String>::new(), "{context}");
    });
}

#[test]
fn another_source_does_not_continue_a_killed_creation() {
    let (store, root) = hierarchy(Format::V3);
    store.inject(Fault::fail(StoreErrorKind::Unreachable).on(&CHANGES).since(3));
    create_with_elements(&root).unwrap_err();
    store.heal();
    let array = || {
        let array = OpenOptions::new().create_array((root.store.clone(), "new"));
        array.shape([2]).chunks([1]).data_type(DataType::Int32)
    };
    for error in [array().create_with("others", |_| Ok(())).unwrap_err(), array().create().unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
    }
    let error = array().create_with("others", |_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("an import of fours was interrupted at '/new'"), "{error}");
    array().overwrite(true).create_with("others", |_| Ok(())).unwrap();
    let left = names_left(&store);
    assert!(!left.iter().any(|key| key.contains(".zarrox") || key.starts_with("new/c")), "{left:?}");
}

#[test]
fn a_killed_creation_of_a_group_with_nodes_is_continued() {
    let create = |root: &Location| {
        let group = place(root, "new").settle(place(root, "new").new_format()?)?;
        let format = group.new_format()?;
        crate::Group::create_with(group, format, false, "two arrays", |group, again| {
            ["x", "y"].into_iter().try_for_each(|name| {
                let array = group.create_array(name).shape([2]).chunks([1]).data_type(DataType::Int32);
                let attributes = Map::from_iter([("value".to_owned(), json!(5))]);
                let array = array.attributes(attributes).overwrite(again);
                array.create_with(name, |array| array.write(.., arr1(&[5; 2]))).map(drop)
            })
        })
        .map(drop)
    };
    let values = |store: &FaultyStore| (value(store, "new/x"), value(store, "new/y"));
    killed(create, |store, root, context| {
        let seen = values(store);
        match create(root) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && seen == (Some(5), Some(5)) => {}
            created => created.unwrap_or_else(|error| panic!("{context}: {error}")),
        }
        assert_eq!(values(store), (Some(5), Some(5)), "{context}");
        let left = names_left(store);
        assert!(!left.iter().any(|key| key.contains(".zarrox")), "{context}: {left:?}");
    });
}
