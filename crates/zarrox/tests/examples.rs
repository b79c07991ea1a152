//! The examples run as tests.

#[path = "../examples/append.rs"]
mod append;
#[cfg(feature = "async")]
#[path = "../examples/asynchronous.rs"]
mod asynchronous;
#[path = "../examples/attributes.rs"]
mod attributes;
#[path = "../examples/first_array.rs"]
mod first_array;
#[path = "../examples/groups.rs"]
mod groups;
#[path = "../examples/indexing.rs"]
mod indexing;
#[path = "../examples/shards_and_threads.rs"]
mod shards_and_threads;
#[cfg(feature = "zip")]
#[path = "../examples/stores.rs"]
mod stores;
#[path = "../examples/structs.rs"]
mod structs;
#[cfg(feature = "jiff")]
#[path = "../examples/text_and_times.rs"]
mod text_and_times;

#[test]
fn append_runs() {
    append::main().expect("the example succeeds");
}

#[cfg(feature = "async")]
#[test]
fn asynchronous_runs() {
    asynchronous::main().expect("the example succeeds");
}

#[test]
fn attributes_runs() {
    attributes::main().expect("the example succeeds");
}

#[test]
fn first_array_runs() {
    first_array::main().expect("the example succeeds");
}

#[test]
fn groups_runs() {
    groups::main().expect("the example succeeds");
}

#[test]
fn indexing_runs() {
    indexing::main().expect("the example succeeds");
}

#[test]
fn shards_and_threads_runs() {
    shards_and_threads::main().expect("the example succeeds");
}

#[cfg(feature = "zip")]
#[test]
fn stores_runs() {
    stores::main().expect("the example succeeds");
}

#[test]
fn structs_runs() {
    structs::main().expect("the example succeeds");
}

#[cfg(feature = "jiff")]
#[test]
fn text_and_times_runs() {
    text_and_times::main().expect("the example succeeds");
}
