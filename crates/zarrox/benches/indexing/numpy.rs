//! NumPy's own times, if a Python with NumPy is installed.

use std::process::{Command, Stdio};

/// Prints the best times of reading all rows one by one, as views and as copies, in seconds.
const SCRIPT: &str = "
import time
import numpy

array = numpy.random.default_rng(0).random((10000, 1024))

def best(read):
    times = []
    for _ in range(9):
        start = time.perf_counter()
        for i in range(10000):
            read(i)
        times.append(time.perf_counter() - start)
    return sorted(times)[4]

print(best(lambda i: array[i]), best(lambda i: array[i].copy()))
";

/// The medians of the times of `a[i]` and `a[i].copy()` for all rows of an array of (10000, 1024) floats, in seconds. The
/// environment variable `ZARROX_BENCH_PYTHON` names the Python; the default is `python3`.
pub(crate) fn row_times() -> Option<(f64, f64)> {
    let python = std::env::var("ZARROX_BENCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(python).args(["-c", SCRIPT]).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (view, copy) = text.trim().split_once(' ')?;
    Some((view.parse().ok()?, copy.parse().ok()?))
}
