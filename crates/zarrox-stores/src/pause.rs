//! Pauses of those who wait until others have done something.

use std::sync::OnceLock;
use std::time::Duration;

/// What is done instead of sleeping.
static INSTEAD: OnceLock<fn(Duration)> = OnceLock::new();

/// Lets this thread do nothing for a while.
pub fn pause(time: Duration) {
    match INSTEAD.get() {
        Some(instead) => instead(time),
        None => std::thread::sleep(time),
    }
}

/// Replaces all pauses of this process, for simulations, in which others go on meanwhile. Only the first call has an effect.
pub fn replace_pauses(instead: fn(Duration)) {
    // Whoever was first has the same wish.
    let _ = INSTEAD.set(instead);
}
