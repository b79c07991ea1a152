//! The clock and the processes of this machine, for code that waits on other processes: [`system`].

use std::fs;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, SystemTime};

/// The identity of a process, which differs from that of every other process, even of a later one with the same process ID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessId {
    /// The boot ID of the machine, and the PID namespace.
    pub machine: String,
    /// The process ID.
    pub number: u32,
    /// The start time of the process, in the machine's own units.
    pub started: u64,
}

/// The state of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// The process runs.
    Running,
    /// The process has ended.
    Ended,
    /// The process runs on another machine, or the system does not report its state.
    Unknown,
}

/// A clock, and the processes of a machine.
pub trait System: Sync {
    /// Blocks this thread for `time`.
    fn sleep(&self, time: Duration);

    /// Returns the time since the Unix epoch.
    fn now(&self) -> Duration;

    /// Returns the identity of this process, or `None` if the system does not report it.
    fn this_process(&self) -> Option<ProcessId>;

    /// Returns the state of a process.
    fn state(&self, process: &ProcessId) -> ProcessState;
}

/// The replacement for the operating system.
static INSTEAD: OnceLock<&'static dyn System> = OnceLock::new();

/// Returns the system that this program runs on.
pub fn system() -> &'static dyn System {
    INSTEAD.get().copied().unwrap_or(&OperatingSystem)
}

/// Replaces the operating system with a simulated system. Only the first call has an effect.
pub fn replace_system(simulated: &'static dyn System) {
    // An earlier call has installed the same replacement.
    let _ = INSTEAD.set(simulated);
}

/// The operating system. Only Linux reports processes.
#[derive(Debug)]
pub struct OperatingSystem;

impl System for OperatingSystem {
    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }

    fn now(&self) -> Duration {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }

    fn this_process(&self) -> Option<ProcessId> {
        let number = std::process::id();
        match (machine(), proc_entry(number)) {
            (Some(machine), ProcEntry::Running { started }) => Some(ProcessId { machine, number, started }),
            _ => None,
        }
    }

    fn state(&self, process: &ProcessId) -> ProcessState {
        if machine().is_none_or(|machine| machine != process.machine) {
            return ProcessState::Unknown;
        }
        match proc_entry(process.number) {
            ProcEntry::Running { started } if started == process.started => ProcessState::Running,
            ProcEntry::Running { .. } | ProcEntry::Ended => ProcessState::Ended,
            ProcEntry::Unknown => ProcessState::Unknown,
        }
    }
}

/// The entry in `/proc` for a process ID.
enum ProcEntry {
    Running {
        started: u64,
    },
    Ended,
    /// This system does not report processes.
    Unknown,
}

fn proc_entry(number: u32) -> ProcEntry {
    let Ok(stat) = fs::read_to_string(format!("/proc/{number}/stat")) else {
        // If the processes of other users are hidden, process 1 is hidden as well.
        let is_visible = fs::exists("/proc/1/stat").unwrap_or(false);
        return if is_visible { ProcEntry::Ended } else { ProcEntry::Unknown };
    };
    // The name of the program, in parentheses, may contain spaces.
    let mut fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
    let is_dead = matches!(fields.next(), Some("Z" | "X"));
    match fields.nth(18).and_then(|field| field.parse().ok()) {
        _ if is_dead => ProcEntry::Ended,
        Some(started) => ProcEntry::Running { started },
        None => ProcEntry::Unknown,
    }
}

/// Returns the boot ID of this machine and the PID namespace, or `None` if the system does not report them.
fn machine() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), space.display()))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn this_process_runs_and_one_with_another_start_or_number_has_ended() {
        let this = system().this_process().unwrap();
        assert_eq!(system().state(&this), ProcessState::Running);
        let reused = ProcessId { started: this.started + 1, ..this.clone() };
        assert_eq!(system().state(&reused), ProcessState::Ended);
        let ended = ProcessId { number: u32::MAX, ..this.clone() };
        assert_eq!(system().state(&ended), ProcessState::Ended);
        let elsewhere = ProcessId { machine: "another".to_owned(), ..this };
        assert_eq!(system().state(&elsewhere), ProcessState::Unknown);
    }
}
