//! Imitates a remote store without a server: every request takes time, and is counted.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use zarrox_stores::{
    AsyncStore, Blocking, ByteRange, Capabilities, Condition, DirListing, Head, Key, MemoryStore, Pages,
    Prefix, Store, StoreError, StoreErrorKind, StoreExt, ValuePart, Version,
};

/// The number of parallel requests of [`Remote`].
pub const IN_FLIGHT: usize = 32;

/// A memory store that is accessed by requests. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Remote {
    memory: MemoryStore,
    latency: Duration,
    process: usize,
    traffic: Arc<Mutex<Traffic>>,
}

/// The requests so far.
#[derive(Debug, Default)]
struct Traffic {
    requests: BTreeMap<String, usize>,
    /// The length of the longest chain of finished requests in which each request began after the previous one had ended.
    rounds: usize,
}

impl Remote {
    /// Creates an empty store whose responses take this time.
    #[must_use]
    pub fn new(latency: Duration) -> Self {
        Self { latency, ..Self::default() }
    }

    /// Returns this memory as another process sees it, with its own locks.
    #[must_use]
    pub fn elsewhere(&self, process: usize) -> Self {
        Self { process, ..self.clone() }
    }

    /// Returns a blocking store that waits for the responses of this store.
    #[must_use]
    pub fn blocking(&self) -> Arc<dyn Store> {
        Arc::new(Blocking::new(self.clone()))
    }

    /// Returns the memory, which is accessed without requests.
    #[must_use]
    pub fn memory(&self) -> &MemoryStore {
        &self.memory
    }

    /// Returns the requests since the last call, such as `read a/zarr.json`, and the number of each.
    pub fn take_requests(&self) -> BTreeMap<String, usize> {
        std::mem::take(&mut self.traffic().requests)
    }

    /// Returns the number of rounds since the last call: the length of the longest chain of requests in which each request began
    /// after the previous one had ended. With a latency, this number is exact as long as parallel requests begin within the
    /// latency.
    pub fn take_rounds(&self) -> usize {
        std::mem::take(&mut self.traffic().rounds)
    }

    fn traffic(&self) -> MutexGuard<'_, Traffic> {
        self.traffic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn travel(&self, what: &str, place: &str) {
        let round = {
            let mut traffic = self.traffic();
            *traffic.requests.entry(format!("{what} {place}")).or_default() += 1;
            traffic.rounds + 1
        };
        tokio::time::sleep(self.latency).await;
        let mut traffic = self.traffic();
        traffic.rounds = traffic.rounds.max(round);
    }
}

impl AsyncStore for Remote {
    fn location(&self) -> String {
        format!("{} of process {}", self.memory.location(), self.process)
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.memory.capabilities();
        capabilities.rename = false;
        capabilities.in_flight = IN_FLIGHT.try_into().ok();
        capabilities
    }

    async fn read(
        &self,
        key: &Key,
        range: Option<ByteRange>,
        version: Option<&Version>,
    ) -> Result<Option<ValuePart>, StoreError> {
        self.travel("read", key.as_str()).await;
        let Some(value) = self.memory.open(key)? else { return Ok(None) };
        let fail = |kind, message: &str| {
            Err(StoreError::new(kind, "reading", message)
                .with_location(self.location())
                .with_key(key.as_str()))
        };
        if version.is_some_and(|version| value.version().as_ref() != Some(version)) {
            return fail(StoreErrorKind::Conflict, "the value has changed");
        }
        let size = value.size();
        let (start, end) = match range {
            None => (0, size),
            Some(ByteRange::From { offset, length }) => (
                offset,
                length.and_then(|length| offset.checked_add(length)).map_or(size, |end| end.min(size)),
            ),
            Some(ByteRange::Suffix { length }) => (size.saturating_sub(length), size),
        };
        if range.is_some() && start >= size {
            return fail(StoreErrorKind::OutOfRange, "the range begins after the end");
        }
        let bytes = value.read(start, end - start)?;
        Ok(Some(ValuePart {
            offset: start,
            bytes: bytes.into(),
            head: Head { size, version: value.version() },
        }))
    }

    async fn head(&self, key: &Key) -> Result<Option<Head>, StoreError> {
        self.travel("head", key.as_str()).await;
        Ok(self.memory.open(key)?.map(|value| Head { size: value.size(), version: value.version() }))
    }

    async fn set(&self, key: &Key, value: Bytes, condition: Condition<'_>) -> Result<(), StoreError> {
        self.travel("set", key.as_str()).await;
        self.memory.set(key, &value, condition)
    }

    async fn erase(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        self.travel("erase", key.as_str()).await;
        self.memory.erase_if(key, condition)
    }

    fn list_prefix(&self, prefix: &Prefix) -> Pages {
        let mut keys = Vec::new();
        let mut visit = |key, size| {
            keys.push((key, size));
            ControlFlow::Continue(())
        };
        let listed = self.memory.list_prefix(prefix, &mut visit);
        let pages: Vec<_> =
            keys.chunks(1_000).map(|page| Ok(page.to_vec())).chain(listed.err().map(Err)).collect();
        let (remote, place) = (self.clone(), prefix.to_string());
        let travel = move |page| {
            let (remote, place) = (remote.clone(), place.clone());
            async move {
                remote.travel("list", &place).await;
                page
            }
        };
        stream::iter(pages).then(travel).boxed()
    }

    async fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        self.travel("list", prefix.as_str()).await;
        self.memory.list_dir(prefix)
    }
}
