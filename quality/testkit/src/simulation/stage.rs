//! The tasks of a simulation, and which of them runs: [`Stage`].

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use zarrox_stores::internals::system::{OperatingSystem, ProcessId, ProcessState, System, replace_system};
use zarrox_stores::{Operation, StoreErrorKind};

use super::disk::{Disk, Kind, Objects};
use super::schedule::{Decision, Random, Schedule, Situation};

/// The number of steps after which a run counts as endless.
const MOST_STEPS: u64 = 20_000;
/// The time after which an idle task is assumed to wait outside the simulation.
const STUCK: Duration = Duration::from_secs(30);

/// The work of a task.
pub type Work = Box<dyn FnOnce() + Send>;

thread_local! {
    /// The role of this thread on a stage.
    static CURRENT: RefCell<Option<Part>> = const { RefCell::new(None) };
}

/// The role of a thread on a stage.
#[derive(Debug, Clone)]
struct Part {
    stage: Arc<Shared>,
    process: usize,
    /// The running task; `None` once it has ended, and for observers.
    task: Option<usize>,
}

/// A simulated machine with its disks.
#[derive(Debug, Clone)]
pub struct Stage(pub(super) Arc<Shared>);

/// The end of a run.
#[derive(Debug, Clone)]
pub struct Ended {
    /// The failure of the tasks as a whole: a panic, or a deadlock.
    pub failure: Option<String>,
    /// The events of each step; empty unless requested.
    pub trace: Vec<String>,
    /// The decisions.
    pub schedule: Schedule,
    /// The number of steps.
    pub steps: u64,
    /// True if the machine has crashed.
    pub crashed: bool,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) number: u64,
    state: Mutex<State>,
    /// Notified when all tasks have ended.
    ended: Condvar,
}

#[derive(Debug)]
pub(super) struct State {
    tasks: Vec<Task>,
    /// The task that may run.
    turn: Option<usize>,
    step: u64,
    schedule: Schedule,
    /// The time in milliseconds.
    pub(super) clock: i64,
    trace: Option<Vec<String>>,
    pub(super) disks: Vec<Disk>,
    pub(super) locks: BTreeMap<Lock, Holders>,
    /// The file under a key, as the holder of its lock knows it; `None` for no file.
    pub(super) known: BTreeMap<(usize, usize, String), Option<u64>>,
    /// The processes that were killed.
    dead: Vec<usize>,
    everybody_is_dead: bool,
    failure: Option<String>,
    crashed: bool,
    pub(super) files: u64,
}

#[derive(Debug)]
struct Task {
    process: usize,
    status: Status,
    /// The thread, once it has begun.
    thread: Option<Thread>,
}

#[derive(Debug, PartialEq, Eq)]
enum Status {
    Ready,
    Waits(Lock),
    Done,
}

/// A lock with one holder at a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lock {
    /// The lock of a key of a disk among the threads of a process.
    Key(usize, usize, String),
    /// The lock of a file.
    File(u64),
    /// The hold of a prefix of a disk, among all processes or among the threads of one process.
    Hold(usize, Option<usize>, String),
}

/// The scope in which a lock is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Not shared.
    None,
    /// Shared among the threads of a process.
    Process,
    /// Shared among all shared holders.
    All,
}

/// The holders of a lock.
#[derive(Debug)]
pub(super) struct Holders {
    /// The process of each holder.
    processes: Vec<usize>,
    sharing: Sharing,
}

impl Holders {
    fn admits(&self, process: usize, sharing: Sharing) -> bool {
        match sharing {
            Sharing::None => false,
            Sharing::Process => self.processes.iter().all(|holder| *holder == process),
            Sharing::All => self.sharing == Sharing::All,
        }
    }
}

/// The effect of a step on its call.
pub(super) enum Fate<'a> {
    Run(MutexGuard<'a, State>),
    /// The call is done, but fails.
    Lose(MutexGuard<'a, State>, StoreErrorKind),
    Fail(StoreErrorKind),
    /// The process was killed.
    Dead,
}

impl Stage {
    /// Creates a machine with an empty disk of this kind, beside others if there are any.
    #[must_use]
    pub fn new(schedule: Schedule, traced: bool) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        static SYSTEM: Once = Once::new();
        SYSTEM.call_once(|| replace_system(&Simulated));
        let state = State {
            tasks: Vec::new(),
            turn: None,
            step: 0,
            schedule,
            clock: 1_000_000_000,
            trace: traced.then(Vec::new),
            disks: Vec::new(),
            locks: BTreeMap::new(),
            known: BTreeMap::new(),
            dead: Vec::new(),
            everybody_is_dead: false,
            failure: None,
            crashed: false,
            files: 0,
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(Arc::new(Shared { number, state: Mutex::new(state), ended: Condvar::new() }))
    }

    /// Adds a disk that keeps every change at once (`sync`), or only some changes at a crash. Returns the number of the disk.
    pub fn add_disk(&self, kind: Kind, sync: bool, contents: &Contents) -> usize {
        let mut state = self.0.lock();
        // A new file must not have the number of an existing one.
        let last = contents.0.values().map(|object| object.inode).max().unwrap_or(0);
        state.files = state.files.max(last);
        state.disks.push(Disk::new(kind, sync, contents.0.clone()));
        state.disks.len() - 1
    }

    /// Returns the content of a disk, which can be the initial content of other disks.
    #[must_use]
    pub fn contents(&self, disk: usize) -> Contents {
        Contents(self.0.lock().disks[disk].objects.clone())
    }

    /// Advances the clock.
    pub fn wait(&self, time: i64) {
        self.0.lock().clock += time;
    }

    /// Runs work in a process outside the tasks, after these have ended.
    pub fn observe<R>(&self, process: usize, work: impl FnOnce() -> R) -> R {
        let before = CURRENT.replace(Some(Part { stage: Arc::clone(&self.0), process, task: None }));
        let done = work();
        CURRENT.set(before);
        done
    }

    /// Adds a line to the trace, if there is one.
    pub fn record(&self, line: impl FnOnce() -> String) {
        self.0.lock().record(line);
    }

    /// Returns true if a process was not killed.
    #[must_use]
    pub fn is_alive(&self, process: usize) -> bool {
        !self.0.lock().is_dead_process(process)
    }

    /// Runs tasks of processes until all have ended. One task runs at a time. Afterwards no call fails.
    ///
    /// # Errors
    /// When a task waits for something outside the simulation: its thread is left behind.
    pub fn run(&self, works: Vec<(usize, Work)>) -> Result<Ended, String> {
        let mut state = self.0.lock();
        for (process, _) in &works {
            state.tasks.push(Task { process: *process, status: Status::Ready, thread: None });
        }
        state.hand_over(None);
        drop(state);
        for (task, (_, work)) in works.into_iter().enumerate() {
            let shared = Arc::clone(&self.0);
            let thread = thread::Builder::new().name(format!("task {task}"));
            thread.spawn(move || shared.play(task, work)).map_err(|error| error.to_string())?;
        }
        self.0.wait_for_all()?;
        let mut state = self.0.lock();
        // The observer is a process of its own.
        state.locks.clear();
        state.known.clear();
        state.dead.clear();
        state.everybody_is_dead = false;
        Ok(Ended {
            failure: state.failure.take(),
            trace: state.trace.take().unwrap_or_default(),
            schedule: state.schedule.clone(),
            steps: state.step,
            crashed: state.crashed,
        })
    }
}

/// The content of a disk.
#[derive(Debug, Clone, Default)]
pub struct Contents(Objects);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn machine(&self) -> String {
        format!("simulated {}", self.number)
    }

    fn play(self: Arc<Self>, task: usize, work: Work) {
        let mut state = self.lock();
        let part = Part { stage: Arc::clone(&self), process: state.tasks[task].process, task: Some(task) };
        CURRENT.set(Some(part.clone()));
        state.tasks[task].thread = Some(thread::current());
        drop(self.await_turn(state, task));
        let done = catch_unwind(AssertUnwindSafe(work));
        CURRENT.set(Some(Part { task: None, ..part }));
        let mut state = self.lock();
        if done.is_err() {
            state.fail(format!("task {task} panicked"));
        }
        state.tasks[task].status = Status::Done;
        state.step += 1;
        state.hand_over(Some(task));
        let next = state.turn.and_then(|next| state.tasks[next].thread.clone());
        let is_last = state.turn.is_none();
        drop(state);
        if let Some(next) = next {
            next.unpark();
        }
        if is_last {
            self.ended.notify_all();
        }
    }

    fn await_turn<'a>(&'a self, mut state: MutexGuard<'a, State>, task: usize) -> MutexGuard<'a, State> {
        // A woken task has exclusive access.
        let next = state.turn.filter(|next| *next != task).and_then(|next| state.tasks[next].thread.clone());
        if let Some(next) = next {
            drop(state);
            next.unpark();
            state = self.lock();
        }
        while state.turn != Some(task) {
            drop(state);
            thread::park();
            state = self.lock();
        }
        state
    }

    fn wait_for_all(&self) -> Result<(), String> {
        let mut state = self.lock();
        while state.turn.is_some() {
            let before = state.step;
            let (next, waited) =
                self.ended.wait_timeout(state, STUCK).unwrap_or_else(PoisonError::into_inner);
            state = next;
            if waited.timed_out() && state.step == before {
                let turn = state.turn;
                let trace = state.trace.take().unwrap_or_default().join("\n");
                return Err(format!("task {turn:?} waits forever outside all stores\n{trace}"));
            }
        }
        Ok(())
    }

    /// Returns the task of this thread, if it belongs to this stage.
    fn task(self: &Arc<Self>) -> Option<usize> {
        CURRENT.with_borrow(|current| {
            current.as_ref().filter(|part| Arc::ptr_eq(&part.stage, self)).and_then(|part| part.task)
        })
    }

    /// Runs one step of a process: applies the decision of the schedule, and then makes the call, or not.
    pub(super) fn step<'a>(self: &'a Arc<Self>, operation: Operation, key: &str, loses: bool) -> Fate<'a> {
        let Some(task) = self.task() else { return Fate::Run(self.lock()) };
        let mut state = self.lock();
        if state.is_dead(task) {
            return Fate::Dead;
        }
        state.clock += 1;
        let writes = operation.is_write();
        let decision = state.decide(task, writes, loses, false);
        state.record(|| match decision {
            Some(decision) => format!("task {task}: {operation:?} '{key}': {decision}"),
            None => format!("task {task}: {operation:?} '{key}'"),
        });
        match decision {
            Some(Decision::Switch(other)) if state.is_ready(other) => {
                state.turn_to(other);
                state = self.await_turn(state, task);
            }
            Some(Decision::Fail(kind)) => return Fate::Fail(kind),
            Some(Decision::FailWhenDone(kind)) => return Fate::Lose(state, kind),
            Some(Decision::Kill) => state.kill(task),
            Some(Decision::Crash(seed)) => state.crash(seed),
            Some(Decision::Clock(time)) => state.clock += time,
            Some(Decision::Switch(_)) | None => {}
        }
        if state.is_dead(task) { Fate::Dead } else { Fate::Run(state) }
    }

    /// Waits until a process has a lock. `None` if the process is killed before.
    pub(super) fn acquire<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'a, State>,
        lock: &Lock,
        process: usize,
        sharing: Sharing,
    ) -> Option<MutexGuard<'a, State>> {
        let task = self.task();
        while !state.take(lock, process, sharing) {
            let Some(task) = task else {
                // A thread outside the simulation.
                drop(state);
                thread::yield_now();
                state = self.lock();
                continue;
            };
            state.tasks[task].status = Status::Waits(lock.clone());
            state.record(|| format!("task {task} waits for {lock:?}"));
            state.step += 1;
            state.hand_over(Some(task));
            state = self.await_turn(state, task);
            if state.is_dead(task) {
                return None;
            }
        }
        Some(state)
    }
}

impl State {
    fn record(&mut self, line: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(line());
        }
    }

    fn fail(&mut self, failure: String) {
        self.failure.get_or_insert(failure);
        self.everybody_is_dead = true;
        self.wake_all();
    }

    fn wake_all(&mut self) {
        for task in &mut self.tasks {
            if matches!(task.status, Status::Waits(_)) {
                task.status = Status::Ready;
            }
        }
    }

    fn is_dead(&self, task: usize) -> bool {
        self.everybody_is_dead || self.dead.contains(&self.tasks[task].process)
    }

    pub(super) fn is_dead_process(&self, process: usize) -> bool {
        self.everybody_is_dead || self.dead.contains(&process)
    }

    fn is_ready(&self, task: usize) -> bool {
        self.tasks.get(task).is_some_and(|task| task.status == Status::Ready)
    }

    fn decide(&mut self, task: usize, writes: bool, loses_answers: bool, waits: bool) -> Option<Decision> {
        self.step += 1;
        if self.step > MOST_STEPS {
            self.fail("the tasks never end".to_owned());
            return None;
        }
        let others = (0..self.tasks.len()).filter(|other| *other != task && self.is_ready(*other)).collect();
        self.schedule.decide(self.step, &Situation { others, writes, loses_answers, waits })
    }

    fn turn_to(&mut self, task: usize) {
        self.turn = Some(task);
    }

    /// Switches to another task, since the current task has to wait.
    fn hand_over(&mut self, task: Option<usize>) {
        let ready: Vec<usize> = (0..self.tasks.len()).filter(|other| self.is_ready(*other)).collect();
        if ready.is_empty() && self.tasks.iter().any(|task| matches!(task.status, Status::Waits(_))) {
            self.fail("all tasks wait for one another".to_owned());
            return self.hand_over(task);
        }
        let Some(first) = ready.first().copied() else {
            self.turn = None;
            return;
        };
        let me = task.unwrap_or(usize::MAX);
        let next = match self.decide(me, false, false, true) {
            Some(Decision::Switch(next)) if self.is_ready(next) => next,
            _ => ready.into_iter().find(|other| *other > me).unwrap_or(first),
        };
        self.turn_to(next);
    }

    fn kill(&mut self, task: usize) {
        let process = self.tasks[task].process;
        self.dead.push(process);
        self.locks.retain(|_, holders| {
            holders.processes.retain(|holder| *holder != process);
            !holders.processes.is_empty()
        });
        self.known.retain(|(_, of, _), _| *of != process);
        self.wake_all();
    }

    fn crash(&mut self, seed: u64) {
        let mut random = Random::new(seed);
        self.disks.iter_mut().for_each(|disk| disk.crash(&mut random));
        self.crashed = true;
        self.everybody_is_dead = true;
        self.wake_all();
    }

    pub(super) fn take(&mut self, lock: &Lock, process: usize, sharing: Sharing) -> bool {
        match self.locks.get_mut(lock) {
            None => {
                self.locks.insert(lock.clone(), Holders { processes: vec![process], sharing });
                true
            }
            Some(holders) if holders.admits(process, sharing) => {
                holders.processes.push(process);
                true
            }
            Some(_) => false,
        }
    }

    pub(super) fn release(&mut self, lock: &Lock, process: usize) {
        let Some(holders) = self.locks.get_mut(lock) else { return };
        if let Some(at) = holders.processes.iter().position(|holder| *holder == process) {
            holders.processes.swap_remove(at);
        }
        if !holders.processes.is_empty() {
            return;
        }
        self.locks.remove(lock);
        for task in &mut self.tasks {
            if matches!(&task.status, Status::Waits(wanted) if wanted == lock) {
                task.status = Status::Ready;
            }
        }
    }
}

/// The clocks and processes of all stages; on other threads, those of the operating system.
struct Simulated;

/// The time of every sleep, in milliseconds: always the same, so that a seed determines the run.
const SLEEP: i64 = 50;

impl System for Simulated {
    /// Lets the other tasks run.
    fn sleep(&self, time: Duration) {
        let Some((stage, _)) = process() else { return OperatingSystem.sleep(time) };
        let mut state = stage.lock();
        let task = stage.task();
        if task.is_some_and(|task| state.is_dead(task)) {
            return;
        }
        state.clock += SLEEP;
        if let Some(task) = task {
            state.step += 1;
            state.record(|| format!("task {task} sleeps"));
            state.hand_over(Some(task));
            drop(stage.await_turn(state, task));
        }
    }

    fn now(&self) -> Duration {
        match process() {
            Some((stage, _)) => Duration::from_millis(stage.lock().clock.unsigned_abs()),
            None => OperatingSystem.now(),
        }
    }

    fn this_process(&self) -> Option<ProcessId> {
        let (stage, process) = process()?;
        Some(ProcessId { machine: stage.machine(), number: u32::try_from(process).ok()?, started: 0 })
    }

    fn state(&self, id: &ProcessId) -> ProcessState {
        let Some((stage, this)) = process().filter(|(stage, _)| stage.machine() == id.machine) else {
            return ProcessState::Unknown;
        };
        let state = stage.lock();
        let runs = |task: &Task| task.process == id.number as usize && task.status != Status::Done;
        let is_alive = this == id.number as usize || state.tasks.iter().any(runs);
        match is_alive && !state.is_dead_process(id.number as usize) {
            true => ProcessState::Running,
            false => ProcessState::Ended,
        }
    }
}

/// Returns the stage and the process of this thread, even after all tasks have ended.
fn process() -> Option<(Arc<Shared>, usize)> {
    CURRENT.with_borrow(|current| current.as_ref().map(|part| (Arc::clone(&part.stage), part.process)))
}
