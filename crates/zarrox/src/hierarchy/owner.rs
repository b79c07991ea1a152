//! Leases of processes that have reserved rows of an array or work on a node, and the detection of dead processes.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use zarrox_core::json::{Json, Map, json};
use zarrox_stores::internals::system::{ProcessId, ProcessState, system};

/// The interval at which an owner renews its lease.
const RENEWAL: Duration = Duration::from_secs(20);

/// An owner on another machine is considered dead if it has not renewed its lease for this long.
const PATIENCE: Duration = Duration::from_secs(120);

/// The process that does the work, and the time at which it last renewed its lease.
///
/// A process on the same machine is looked up by its process ID, so a killed process is detected at once. For processes on other
/// machines, only the time is known; their clocks must differ by less than [`PATIENCE`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    /// A random number, different for each append and for each operation on a node.
    token: String,
    /// The process; `None` if the system does not report it, or if the owner has given up.
    process: Option<ProcessId>,
    /// The time of the last renewal, in seconds since 1970.
    renewed: u64,
}

impl Owner {
    /// Creates an owner for this process.
    pub(crate) fn new() -> Self {
        let (process, now) = (system().this_process(), system().now());
        let token = format!("{:016x}", RandomState::new().hash_one((std::process::id(), now)));
        Self { token, process, renewed: now.as_secs() }
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        self.token == other.token
    }

    /// Returns true if the owner is this process, or could be this process since the system does not report processes.
    pub(crate) fn is_this_process(&self) -> bool {
        self.process == system().this_process()
    }

    /// Renews the lease.
    pub(crate) fn renew(&mut self) {
        self.renewed = system().now().as_secs();
    }

    /// Records that the owner has given up.
    pub(crate) fn give_up(&mut self) {
        (self.process, self.renewed) = (None, 0);
    }

    /// Returns true if the owner is dead, or has given up.
    pub(crate) fn is_gone(&self) -> bool {
        match self.process.as_ref().map(|process| system().state(process)) {
            Some(ProcessState::Running) => false,
            Some(ProcessState::Ended) => true,
            Some(ProcessState::Unknown) | None => {
                system().now().as_secs().saturating_sub(self.renewed) > PATIENCE.as_secs()
            }
        }
    }

    pub(crate) fn to_json(&self) -> Json {
        let Self { token, process, renewed } = self;
        let ProcessId { machine, number, started } =
            process.clone().unwrap_or(ProcessId { machine: String::new(), number: 0, started: 0 });
        json!({"token": token, "machine": machine, "process": number, "started": started, "heard": renewed})
    }

    pub(crate) fn from_json(map: &Map) -> Option<Self> {
        let text = |name: &str| map.get(name).and_then(Json::as_str).map(str::to_owned);
        let number = |name: &str| map.get(name).and_then(Json::as_u64);
        let process = ProcessId {
            machine: text("machine")?,
            number: u32::try_from(number("process")?).ok()?,
            started: number("started")?,
        };
        let process = (!process.machine.is_empty()).then_some(process);
        Some(Self { token: text("token")?, process, renewed: number("heard")? })
    }
}

/// Runs work while another thread calls `renew` at intervals of [`RENEWAL`].
pub(crate) fn renewing<R>(renew: impl Fn() + Send, work: impl FnOnce() -> R) -> R {
    thread::scope(|scope| {
        let (working, stopped) = channel::<()>();
        let renew = move || {
            while stopped.recv_timeout(RENEWAL) == Err(RecvTimeoutError::Timeout) {
                renew();
            }
        };
        // Even without this thread, processes on the same machine can see that this process is running.
        let _ = thread::Builder::new().name("zarrox-owner".to_owned()).spawn_scoped(scope, renew);
        let done = work();
        drop(working);
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_that_runs_is_alive_however_old_its_renewal_is() {
        let owner = Owner::new();
        assert!(!owner.is_gone());
        let json = owner.to_json();
        assert_eq!(Owner::from_json(json.as_object().unwrap()).unwrap(), owner);
        if owner.process.is_some() {
            assert!(!Owner { renewed: 0, ..owner }.is_gone());
        }
    }

    #[test]
    fn an_owner_elsewhere_is_dead_when_its_renewal_is_old() {
        let now = system().now().as_secs();
        let process = Some(ProcessId { machine: "another".to_owned(), number: 1, started: 0 });
        let elsewhere = |renewed| Owner { process: process.clone(), renewed, ..Owner::new() };
        assert!(!elsewhere(now).is_gone());
        assert!(elsewhere(now - PATIENCE.as_secs() - 1).is_gone());
        let mut owner = Owner::new();
        owner.give_up();
        assert!(owner.is_gone());
    }
}
