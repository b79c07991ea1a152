//! Incidents that users of Zarr have reported, each as a test with its number. `docs/safety.md` describes the
//! guarantees.
//!
//! | number | incident | test in |
//! |---|---|---|
//! | 1 | writers of blocks into shards that others write lose up to half of the elements | `processes.rs` |
//! | 2 | regions and appends that are not aligned with chunks lose data | `processes.rs` |
//! | 3 | a job killed in the middle of a shard leaves one that no retry can write | `killed.rs` |
//! | 4 | a failing store, or bad credentials, are read as fill values | `damage.rs` |
//! | 5 | a chunk is deleted, or lost in transfer | `damage.rs` |
//! | 6 | saving deletes a directory of other files | `nodes.rs` |
//! | 7 | overwriting with another rank leaves remnants | `nodes.rs` |
//! | 8 | shrinking and growing again shows old values | `shapes.rs` |
//! | 9 | an append fails after the shape has changed, and is tried again | `shapes.rs` |
//! | 10 | a reader knows the old shape while a writer resizes | `shapes.rs` |
//! | 11 | consolidating again ignores new children | `nodes.rs` |
//! | 12 | a big-endian structure is opened as a little-endian one | `values.rs` |
//! | 13 | a fill value that is NaN does not come back, and chunks of other NaNs are skipped as empty | `values.rs` |
//! | 14 | a fork after a decode hangs | the Python package: `test_processes_read` in `tests/processes/test_multiprocessing.py` |
//! | 15 | damaged headers and indexes are read out of bounds | `damage.rs` |
//! | 16 | a list of filters hides `pickle` behind a harmless codec | `values.rs` |

mod damage;
mod killed;
mod nodes;
mod other_process;
mod processes;
mod shapes;
mod values;
