//! Remote stores: the number of requests, their parallelism, and concurrent writers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use ndarray::{Array1, Array2, arr1};
use zarrox::codecs::Bytes;
use zarrox::json::{Json, json};
use zarrox::stores::{Condition, Key, Store, StoreExt};
use zarrox::{AccessOptions, Consolidated, ErrorKind, Interrupt, OpenMode, OpenOptions, Upkeep};
use zarrox::{prelude::*, s};
use zarrox_testkit::remote::{IN_FLIGHT, Remote};

const LATENCY: Duration = Duration::from_millis(100);

fn count(requests: &std::collections::BTreeMap<String, usize>, what: &str) -> usize {
    requests.iter().filter(|(request, _)| request.starts_with(what)).map(|(_, count)| count).sum()
}

/// Creates an array of `count` chunks of one element, written without delay, in a store with high latency.
fn far_array(chunks: u64, latency: Duration) -> (Remote, zarrox::Array) {
    let remote = Remote::new(latency);
    let near: Arc<dyn Store> = Arc::new(remote.memory().clone());
    let options = OpenOptions::new();
    let array = options.create_array((near, "a")).shape([chunks]).chunks([1]).data_type(DataType::Int32);
    let values: Array1<i32> = (1..).take(usize::try_from(chunks).unwrap()).collect();
    array.create().unwrap().write(.., &values).unwrap();
    let array = options.open((remote.blocking(), "a")).unwrap().into_array().unwrap();
    (remote, array)
}

#[test]
fn chunks_are_requested_in_parallel_and_each_once() {
    let (remote, array) = far_array(1_000, LATENCY);
    remote.take_requests();
    remote.take_rounds();
    let values = array.read::<ArrayD<i32>>(..).unwrap();
    assert_eq!(values.sum(), 500_500);
    let requests = remote.take_requests();
    assert_eq!((count(&requests, "read"), requests.len()), (1_000, 1_000), "{requests:?}");
    let rounds = remote.take_rounds();
    assert!(rounds <= 2 * 1_000_usize.div_ceil(IN_FLIGHT), "{rounds} rounds");
}

#[test]
fn chunks_are_written_many_at_a_time() {
    let (remote, array) = far_array(200, LATENCY);
    remote.take_rounds();
    array.write(.., Array1::from_elem(200, 9_i32)).unwrap();
    let rounds = remote.take_rounds();
    assert!(rounds <= 50, "{rounds} rounds");
    assert_eq!(count(&remote.take_requests(), "set"), 200);
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().sum(), 1_800);
}

#[test]
fn a_shard_costs_its_index_and_its_parts_together() {
    let remote = Remote::default();
    let builder = OpenOptions::new().create_array((remote.blocking(), "a")).data_type(DataType::Int32);
    let array = builder.shape([64, 64]).chunks([8, 8]).shards([64, 64]).create().unwrap();
    let values = Array2::from_shape_fn((64, 64), |(y, x)| i32::try_from(64 * y + x).unwrap() + 1);
    array.write(.., &values).unwrap();
    remote.take_requests();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), values.clone().into_dyn());
    let requests = remote.take_requests();
    assert_eq!(count(&requests, "read"), 1, "all of it in one: {requests:?}");
    let rows = array.read::<ArrayD<i32>>(s![8..24, ..]).unwrap();
    assert_eq!(rows, values.slice(ndarray::s![8..24, ..]).into_dyn());
    let requests = remote.take_requests();
    assert_eq!(count(&requests, "read"), 2, "the index, and the parts together: {requests:?}");
}

#[test]
fn raw_elements_are_read_without_the_rest_of_their_chunk() {
    let remote = Remote::default();
    let builder = OpenOptions::new().create_array((remote.blocking(), "a")).data_type(DataType::UInt8);
    let array = builder.shape([4 << 20]).chunks([4 << 20]).codecs([Bytes::little().into()]).create().unwrap();
    array.write(.., Array1::from_shape_fn(4 << 20, |index| u8::try_from(index % 251).unwrap())).unwrap();
    remote.take_requests();
    assert_eq!(
        array.read::<ArrayD<u8>>(s![1_000_000..1_000_004]).unwrap().as_slice().unwrap(),
        [16, 17, 18, 19]
    );
    assert_eq!(count(&remote.take_requests(), ""), 1);
}

#[test]
fn opening_takes_one_round() {
    for format in [Format::V2, Format::V3] {
        let remote = Remote::new(Duration::ZERO);
        let options = OpenOptions::new().format(format);
        let root = options.create_group((remote.blocking(), "")).unwrap();
        for name in ["x", "y"] {
            root.create_array(name).shape([2]).data_type(DataType::Int32).create().unwrap();
        }
        root.consolidate_metadata().unwrap();

        let remote = slow(&remote);
        let opened = OpenOptions::new().open((remote.blocking(), "x")).unwrap().into_array().unwrap();
        assert_eq!(remote.take_rounds(), 1, "{format:?}");
        assert_eq!(opened.shape(), [2]);

        remote.take_requests();
        let group = OpenOptions::new().mode(OpenMode::Read).consolidated(Consolidated::Require);
        let group = group.open((remote.blocking(), "")).unwrap().into_group().unwrap();
        assert_eq!(group.children().unwrap().len(), 2);
        assert_eq!(remote.take_rounds(), 1, "{format:?}");
        let requests = remote.take_requests();
        assert_eq!(count(&requests, "list"), 0, "{requests:?}");
        assert!(requests.values().all(|&count| count == 1), "{requests:?}");
    }
}

#[test]
fn consolidated_metadata_is_confirmed_in_the_round_of_the_first_chunks() {
    for format in [Format::V2, Format::V3] {
        let near = Remote::new(Duration::ZERO);
        let root = OpenOptions::new().format(format).create_group((near.blocking(), "")).unwrap();
        for name in ["x", "y"] {
            let array = root.create_array(name).shape([6]).chunks([2]).data_type(DataType::Int32);
            array.create().unwrap().write(.., arr1(&[1, 2, 3, 4, 5, 6])).unwrap();
        }
        root.consolidate_metadata().unwrap();
        let remote = slow(&near);
        let open = |name: &str| {
            let group = OpenOptions::new().mode(OpenMode::Read).consolidated(Consolidated::Require);
            let group = group.open((remote.blocking(), "")).unwrap().into_group().unwrap();
            let array = group.open(name).unwrap().into_array().unwrap();
            remote.take_rounds();
            array
        };
        assert_eq!(open("x").read::<Vec<i32>>(..).unwrap(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(remote.take_rounds(), 1, "{format:?}");
        assert_eq!(open("x").slice(s![1..2]).astype(&DataType::Float64).read::<Vec<f64>>().unwrap(), [2.0]);
        assert_eq!(remote.take_rounds(), 1, "{format:?}");

        let (stale, empty) = (open("y"), open("y"));
        let leaving = OpenOptions::new().consolidated_upkeep(Upkeep::Leave).format(format);
        let other = leaving.create_array((remote.blocking(), "y")).shape([6]).chunks([3]);
        other.data_type(DataType::Float32).overwrite(true).create().unwrap();
        for result in [stale.read::<Vec<i32>>(..), empty.read::<Vec<i32>>(s![3..3])] {
            let error = result.unwrap_err();
            assert!(error.to_string().contains("consolidated metadata is out of date"), "{error}");
        }
    }
}

/// Returns the number of requests since the last call; none may have been repeated.
fn each_once(remote: &Remote) -> usize {
    let requests = remote.take_requests();
    assert!(requests.values().all(|&count| count == 1), "{requests:?}");
    requests.len()
}

#[test]
fn opening_requests_the_most_common_documents_first_and_none_twice() {
    for format in Format::all() {
        let remote = Remote::default();
        let path = if format == Format::V1 { "" } else { "a" };
        let options = OpenOptions::new().format(format);
        let array = options.create_array((remote.blocking(), path)).shape([4]).chunks([2]);
        let array = array.data_type(DataType::Int32).create().unwrap();
        array.write(.., Array1::from_elem(4, 7)).unwrap();
        let read = |options: OpenOptions| {
            remote.take_requests();
            let array = options.open((remote.blocking(), path)).unwrap().into_array().unwrap();
            assert_eq!(array.read::<ArrayD<i32>>(s![..1]).unwrap().sum(), 7, "{format}");
            each_once(&remote)
        };
        for mode in [OpenMode::Read, OpenMode::ReadWrite] {
            let requests = read(OpenOptions::new().mode(mode));
            let is_common = matches!(format, Format::V2 | Format::V3);
            assert!(requests <= if is_common { 4 } else { 16 }, "{format}: {requests}");
            // The requests are for the documents of the array, the entry document, and the chunk.
            let requests = read(OpenOptions::new().mode(mode).format(format));
            assert!(requests <= 4, "{format}: {requests}");
        }
    }
}

#[test]
fn creating_takes_few_requests() {
    let create = |remote: &Remote, options: &OpenOptions, path: &str| {
        remote.take_requests();
        let builder = options.create_array((remote.blocking(), path)).shape([4]);
        builder.data_type(DataType::Int32).create().unwrap();
        each_once(remote)
    };
    // One of the requests is for the mark of a deletion.
    for (path, most) in [("", 3), ("a", 5), ("g/a", 7), ("g/h/a", 9)] {
        let requests = create(&Remote::default(), &OpenOptions::new(), path);
        assert!(requests <= most, "'{path}' where nothing is: {requests}");
    }
    for (format, path, most) in [(Format::V3, "a", 4), (Format::V3, "g/h/a", 6), (Format::V2, "a", 9)] {
        let remote = Remote::default();
        let options = OpenOptions::new().format(format);
        let group = path.rsplit_once('/').map_or("", |(group, _)| group);
        options.create_group((remote.blocking(), group)).unwrap();
        let requests = create(&remote, &OpenOptions::new(), path);
        assert!(requests <= most, "'{path}' in {format}: {requests}");
        let node = OpenOptions::new().open((remote.blocking(), path)).unwrap();
        assert_eq!(node.format(), format);
    }
}

#[test]
fn processes_that_change_one_hierarchy_keep_its_consolidated_metadata() {
    for format in [Format::V2, Format::V3] {
        let remote = Remote::new(Duration::from_millis(1));
        let root = OpenOptions::new().format(format).create_group((remote.blocking(), "")).unwrap();
        root.consolidate_metadata().unwrap();
        std::thread::scope(|scope| {
            for process in 1..5_usize {
                let remote = &remote;
                scope.spawn(move || {
                    let store = remote.elsewhere(process).blocking();
                    let root = OpenOptions::new().open((store, "")).unwrap().into_group().unwrap();
                    for n in 0..5 {
                        let array = root.create_array(format!("p{process}/a{n}")).shape([2]);
                        array.data_type(DataType::Int8).create().unwrap().resize([n]).unwrap();
                    }
                });
            }
        });
        assert_eq!(root.check_consolidated().unwrap(), []);
        assert_eq!(root.consolidated_freshness().unwrap(), Some(zarrox::internals::Freshness::Unknown));
    }
}

#[test]
fn a_change_asks_for_consolidated_metadata_of_all_groups_above_at_once() {
    for format in [Format::V2, Format::V3] {
        let remote = Remote::new(Duration::ZERO);
        let root = OpenOptions::new().format(format).create_group((remote.blocking(), "")).unwrap();
        root.create_array("a/b/c/d/e/f/g/h").shape([2]).data_type(DataType::Int8).create().unwrap();
        let requests_of = |remote: &Remote, title: &str| {
            let mut array = OpenOptions::new()
                .open((remote.blocking(), "a/b/c/d/e/f/g/h"))
                .unwrap()
                .into_array()
                .unwrap();
            remote.take_requests();
            remote.take_rounds();
            array.update_attributes(|all| drop(all.insert("title".to_owned(), title.into()))).unwrap();
            (count(&remote.take_requests(), ""), remote.take_rounds())
        };
        let own = if format == Format::V2 { 3 } else { 2 };
        let remote = slow(&remote);
        let (requests, rounds) = requests_of(&remote, "one");
        assert_eq!(requests, own + 8, "{format}");
        assert!(rounds <= own + 6, "{rounds} rounds");
        root_of(&remote).consolidate_metadata().unwrap();
        let (requests, rounds) = requests_of(&remote, "two");
        // The requests are for the copy, for the node's documents, and for the copy again.
        assert_eq!(requests, own + 8 + if format == Format::V2 { 5 } else { 3 }, "{format}");
        assert!(rounds <= own + 9, "{rounds} rounds");
    }
}

fn root_of(remote: &Remote) -> Group {
    OpenOptions::new().open((remote.blocking(), "")).unwrap().into_group().unwrap()
}

/// Returns a store with the same memory and a higher latency.
fn slow(remote: &Remote) -> Remote {
    let slow = Remote::new(LATENCY);
    let copy = |key: Key, _| {
        let value = remote.memory().get(&key).unwrap().unwrap();
        slow.memory().set(&key, &value, Condition::Always).unwrap();
        std::ops::ControlFlow::Continue(())
    };
    let mut copy = copy;
    remote.memory().list_prefix(&zarrox::stores::Prefix::root(), &mut copy).unwrap();
    slow
}

#[test]
fn children_are_opened_together() {
    let remote = Remote::default();
    let root = OpenOptions::new().create_group((remote.blocking(), "")).unwrap();
    for index in 0..20 {
        root.create_group(format!("g{index}")).unwrap();
    }
    let remote = slow(&remote);
    let root = OpenOptions::new().open((remote.blocking(), "")).unwrap().into_group().unwrap();
    remote.take_rounds();
    assert_eq!(root.children().unwrap().len(), 20);
    let rounds = remote.take_rounds();
    assert!(rounds < 15, "{rounds} rounds");
}

#[test]
fn writers_of_parts_of_one_chunk_lose_nothing() {
    let remote = Remote::default();
    let builder = OpenOptions::new().create_array((remote.blocking(), "a")).data_type(DataType::Int32);
    builder.shape([8]).chunks([8]).create().unwrap();
    std::thread::scope(|scope| {
        for index in 0..8_usize {
            let remote = &remote;
            scope.spawn(move || {
                let other = remote.elsewhere(index + 1).blocking();
                let array = OpenOptions::new().open((other, "a")).unwrap().into_array().unwrap();
                for round in 1..=20 {
                    array.write(s![index], ndarray::arr0(round)).unwrap();
                }
            });
        }
    });
    let array = OpenOptions::new().open((remote.blocking(), "a")).unwrap().into_array().unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().as_slice().unwrap(), [20; 8]);
}

#[test]
fn interrupted_work_ends_soon() {
    let (remote, array) = far_array(4_000, LATENCY);
    let interrupt = Interrupt::new();
    let array = array.with_options(&AccessOptions::new().interrupt(&interrupt));
    remote.take_requests();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| array.read::<ArrayD<i32>>(..).map(drop));
        std::thread::sleep(LATENCY);
        interrupt.raise();
        assert_eq!(reader.join().unwrap().unwrap_err().kind(), ErrorKind::Interrupted);
    });
    let requests = count(&remote.take_requests(), "read");
    assert!(requests < 2_000, "{requests} chunks were requested");
}

/// Returns two handles like those of two processes, which do not share locks.
fn two_processes(remote: &Remote) -> [zarrox::Array; 2] {
    [1, 2].map(|process| {
        let store = remote.elsewhere(process).blocking();
        OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap()
    })
}

#[test]
fn processes_that_append_to_one_array_lose_nothing() {
    for format in [Format::V2, Format::V3] {
        let remote = Remote::new(Duration::from_millis(1));
        let builder = OpenOptions::new().format(format).create_array((remote.blocking(), "a"));
        builder.shape([0]).chunks([7]).data_type(DataType::Int32).create().unwrap();
        std::thread::scope(|scope| {
            for (process, mut array) in [0, 1].into_iter().zip(two_processes(&remote)) {
                scope.spawn(move || {
                    for n in 0..20 {
                        let first = 1_000 * process + 5 * n + 1;
                        array.append(Array1::from_iter(first..first + 5), 0).unwrap();
                    }
                });
            }
        });
        let array = OpenOptions::new().open((remote.blocking(), "a")).unwrap().into_array().unwrap();
        let values = array.read::<ArrayD<i32>>(..).unwrap().into_raw_vec_and_offset().0;
        assert!(
            values.chunks(5).all(|part| part.windows(2).all(|pair| pair[1] == pair[0] + 1)),
            "{values:?}"
        );
        let mut sorted = values;
        sorted.sort_unstable();
        let expected: Vec<i32> = (1..=100).chain(1_001..=1_100).collect();
        assert_eq!(sorted, expected, "{format}");
    }
}

#[test]
fn an_append_that_fails_after_the_array_has_grown_is_undone_or_says_so() {
    let remote = Remote::default();
    let builder = OpenOptions::new().create_array((remote.blocking(), "a"));
    let mut array = builder.shape([2]).data_type(DataType::Int32).create().unwrap();
    let stopped = || Err(zarrox::Error::new(ErrorKind::Interrupted, "stopped"));
    let error = array
        .append_with(&[3], 0, |grown, place| {
            grown.write(place, arr1(&[7, 7, 7]))?;
            stopped()
        })
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    assert!(!error.to_string().contains("new shape"), "{error}");
    let [mut again, mut other] = two_processes(&remote);
    assert_eq!((array.shape(), again.shape()), (&[2_u64][..], &[2_u64][..]));

    let error = again.append_with(&[3], 0, |_, _| {
        other.append(arr1(&[8]), 0)?;
        stopped()
    });
    let error = error.unwrap_err();
    assert!(error.to_string().contains("other writers have appended after the positions 2 to 5"), "{error}");
    let [again, _] = two_processes(&remote);
    assert_eq!(again.read::<ArrayD<i32>>(..).unwrap().into_raw_vec_and_offset().0, [0, 0, 0, 0, 0, 8]);
}

#[test]
fn a_change_of_attributes_is_repeated_after_a_concurrent_change() {
    let remote = Remote::default();
    OpenOptions::new().create_group((remote.blocking(), "a")).unwrap();
    let [mut one, mut other] = [1, 2].map(|process| {
        let store = remote.elsewhere(process).blocking();
        OpenOptions::new().open((store, "a")).unwrap().into_group().unwrap()
    });
    let mut runs = 0;
    let changed = one.update_attributes(|attributes| {
        attributes.insert("one".to_owned(), 1.into());
        runs += 1;
        if runs == 1 {
            other.update_attributes(|all| drop(all.insert("other".to_owned(), 2.into()))).unwrap();
        }
    });
    changed.unwrap();
    assert_eq!(runs, 2);
    let group = OpenOptions::new().open((remote.blocking(), "a")).unwrap().into_group().unwrap();
    assert_eq!(Json::from(group.attributes().clone()), json!({"one": 1, "other": 2}));
    assert_eq!(one.attributes(), group.attributes());
}
