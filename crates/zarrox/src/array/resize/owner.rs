//! Processes that hold rows of an array, and how others find out that one of them is gone.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher;
use std::time::{Duration, SystemTime};

use zarrox_core::json::{Json, Map, json};

/// The time after which an owner says again that it is still there.
pub(super) const RENEWAL: Duration = Duration::from_secs(20);

/// The time without a word after which the owner on another machine is taken for gone.
const PATIENCE: Duration = Duration::from_secs(120);

/// Who holds rows, and when it last said so.
///
/// A process of the same machine is asked for by its number, so that one that was killed is known at once. Of others only the time
/// tells: their clocks may differ by less than [`PATIENCE`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    /// A random number: each append has one of its own.
    token: String,
    /// The start of the machine, and its space of process numbers; empty where that is not known.
    machine: String,
    process: u32,
    /// When the process has started, in the units of its machine.
    started: u64,
    /// When it was last heard of, in seconds since 1970.
    heard: u64,
}

impl Owner {
    /// A new owner: this process.
    pub(super) fn new() -> Self {
        let process = std::process::id();
        let (machine, started) = match (machine(), seen(process)) {
            (Some(machine), Seen::Alive(started)) => (machine, started),
            _ => (String::new(), 0),
        };
        let token = format!("{:016x}", RandomState::new().hash_one((process, SystemTime::now())));
        Self { token, machine, process, started, heard: now() }
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        self.token == other.token
    }

    /// Notes that the owner is still there.
    pub(super) fn renew(&mut self) {
        self.heard = now();
    }

    /// Notes that the owner has given up.
    pub(super) fn give_up(&mut self) {
        (self.machine, self.heard) = (String::new(), 0);
    }

    /// Returns true if nobody will go on with what this owner has begun.
    pub(super) fn is_gone(&self) -> bool {
        if !self.machine.is_empty() && machine().is_some_and(|machine| machine == self.machine) {
            match seen(self.process) {
                Seen::Alive(started) => return started != self.started,
                Seen::Gone => return true,
                Seen::Unknown => {}
            }
        }
        now().saturating_sub(self.heard) > PATIENCE.as_secs()
    }

    pub(super) fn to_json(&self) -> Json {
        let Self { token, machine, process, started, heard } = self;
        json!({"token": token, "machine": machine, "process": process, "started": started, "heard": heard})
    }

    pub(super) fn from_json(map: &Map) -> Option<Self> {
        let text = |name: &str| map.get(name).and_then(Json::as_str).map(str::to_owned);
        let number = |name: &str| map.get(name).and_then(Json::as_u64);
        Some(Self {
            token: text("token")?,
            machine: text("machine")?,
            process: u32::try_from(number("process")?).ok()?,
            started: number("started")?,
            heard: number("heard")?,
        })
    }
}

/// The seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// What is to be seen of a process of this machine.
enum Seen {
    /// It runs, and has started at this time.
    Alive(u64),
    Gone,
    /// This system does not tell.
    Unknown,
}

fn seen(process: u32) -> Seen {
    let Ok(stat) = fs::read_to_string(format!("/proc/{process}/stat")) else {
        // Where processes of others are hidden, so is the first one.
        let tells = fs::exists("/proc/1/stat").unwrap_or(false);
        return if tells { Seen::Gone } else { Seen::Unknown };
    };
    // The name of the program, in parentheses, may have spaces.
    let mut fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
    let is_dead = matches!(fields.next(), Some("Z" | "X"));
    match fields.nth(18).and_then(|field| field.parse().ok()) {
        _ if is_dead => Seen::Gone,
        Some(started) => Seen::Alive(started),
        None => Seen::Unknown,
    }
}

/// The start of this machine, and the space of process numbers; `None` where the system does not tell.
fn machine() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), space.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_runs_is_there_and_one_that_has_ended_is_gone() {
        let owner = Owner::new();
        assert!(!owner.is_gone());
        let json = owner.to_json();
        assert_eq!(Owner::from_json(json.as_object().unwrap()).unwrap(), owner);
        // The time of its start tells that a number was given to another process.
        if machine().is_some() {
            assert!(Owner { started: owner.started + 1, ..owner.clone() }.is_gone());
            assert!(Owner { process: u32::MAX, ..owner.clone() }.is_gone());
            assert!(!Owner { heard: 0, ..owner }.is_gone(), "it is still there");
        }
    }

    #[test]
    fn an_owner_elsewhere_is_gone_when_nothing_was_heard_of_it_for_long() {
        let elsewhere = |heard| Owner { machine: "another".to_owned(), process: 1, heard, ..Owner::new() };
        assert!(!elsewhere(now()).is_gone());
        assert!(elsewhere(now() - PATIENCE.as_secs() - 1).is_gone());
        let mut owner = Owner::new();
        owner.give_up();
        assert!(owner.is_gone());
    }
}
