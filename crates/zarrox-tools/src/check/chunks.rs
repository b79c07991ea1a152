//! Checks and repairs of stored chunks.

use zarrox_core::codec::{self, CodecError, Size, Window};
use zarrox_core::internals::codec::{ChunkTable, RepairOutcome, Salvaged};
use zarrox_core::internals::scratch::Scratch;
use zarrox_core::{CodecChain, ErrorKind, Result};
use zarrox_stores::{ByteRange, Bytes, Key, Value, Version};

use super::finding::{Finding, FindingKind, Remedy};
use super::repair;
use super::session::{CheckLevel, Session};
use super::shards::{self, Flaw};
use zarrox::Array;
use zarrox::internals::Location;

/// The maximum number of times that a damaged object is read, since another process may be writing it.
const ATTEMPTS: usize = 5;

/// The maximum size of a damaged object that is repaired in memory, in bytes.
const MENDED: u64 = 2 << 30;

/// A stored chunk to check.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) key: Key,
    pub(super) chunk: Vec<u64>,
    pub(super) size: u64,
}

/// Checks chunks of an array in parallel.
pub(super) fn check(session: &Session<'_>, array: &Array, targets: &[Target]) -> Result<()> {
    if array.unreadable().is_some() {
        return targets.iter().try_for_each(|target| session.chunk_done(target.size));
    }
    let place = array.location();
    let at_once = (place.context.memory / array.decoded_bytes().saturating_mul(2).max(1)).max(1);
    place.pool().run(targets.len(), array.chunk_bytes(), at_once, |index| {
        check_one(session, array, &targets[index], targets.len())?;
        session.chunk_done(targets[index].size)
    })
}

fn check_one(session: &Session<'_>, array: &Array, target: &Target, objects: usize) -> Result<()> {
    let look = |level| array.with_chain(&target.chunk, |chain| look(array, chain, target, level, objects))?;
    let mut before: Option<Seen> = None;
    for _ in 0..ATTEMPTS {
        let (flaws, seen) = match look(session.settings.level) {
            Ok(looked) => looked,
            // The object was replaced during the read.
            Err(error) if error.kind() == ErrorKind::Conflict => continue,
            Err(error) => {
                let error = session.fatal(error).map_err(|error| error.at(format!("'{}'", target.key)))?;
                (vec![Flaw::unreadable(&error)], Seen::default())
            }
        };
        if flaws.is_empty() {
            return Ok(());
        }
        // The damage must be found in two reads, since another process may have replaced the object during the first one.
        if before.as_ref() == Some(&seen) {
            if let Err(error) = array.check_generation() {
                return session.report_unreadable(array.path().as_str(), error);
            }
            return settle(session, array, target, flaws, objects);
        }
        before = Some(seen);
    }
    // The object was different in each attempt: another process is writing it, so that it cannot be judged.
    Ok(())
}

/// Returns true if a stored chunk can be decoded.
pub(super) fn is_whole(array: &Array, target: &Target) -> Result<bool> {
    let look = |chain: &CodecChain| look(array, chain, target, CheckLevel::Full, 1);
    Ok(array.with_chain(&target.chunk, look)??.0.is_empty())
}

/// The version and size of an object, which reveal whether it was replaced. The size is compared as well, since a file that has
/// just changed has no version yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Seen {
    size: u64,
    version: Option<Version>,
}

impl Seen {
    fn of(value: &dyn Value) -> Self {
        Self { size: value.size(), version: value.version() }
    }
}

/// Looks for flaws in a stored chunk. Returns an error if the store fails.
fn look(
    array: &Array,
    chain: &CodecChain,
    target: &Target,
    level: CheckLevel,
    objects: usize,
) -> Result<(Vec<Flaw>, Seen)> {
    let place = array.location();
    let known = size_flaw(chain, target.size);
    if level < CheckLevel::Full && known.is_none() && chain.table().is_none() {
        return Ok((Vec::new(), Seen::default()));
    }
    let whole = ByteRange::From { offset: 0, length: Some(target.size.min(shards::TOGETHER)) };
    let first = match place.is_remote() {
        true if level == CheckLevel::Full => Some(whole),
        true => chain.table().and_then(index),
        false => None,
    };
    let Some(value) = place.store.open_with(&target.key, first)? else {
        return Ok((Vec::new(), Seen::default()));
    };
    let flaws = flaws(place, chain, &*value, level, objects)?;
    Ok((flaws, Seen::of(&*value)))
}

/// Returns the byte range of a shard index.
fn index(table: &dyn ChunkTable) -> Option<ByteRange> {
    match table.index_range(Window { offset: 0, length: None }).ok()? {
        codec::ByteRange::From { offset, length } => Some(ByteRange::From { offset, length }),
        codec::ByteRange::Suffix { length } => Some(ByteRange::Suffix { length }),
    }
}

fn flaws(
    place: &Location,
    chain: &CodecChain,
    value: &dyn Value,
    level: CheckLevel,
    objects: usize,
) -> Result<Vec<Flaw>> {
    let size = size_flaw(chain, value.size());
    match chain.table() {
        Some(table) if value.size() > 0 => {
            shards::flaws(place, table, chain.order(), value, level == CheckLevel::Full, objects)
        }
        _ if size.is_some() || level < CheckLevel::Full => Ok(size.into_iter().collect()),
        _ => decode(place, chain, value)?
            .map(|error| Flaw::of(FindingKind::CorruptChunk, None, error))
            .into_iter()
            .collect(),
    }
}

/// Returns the flaw that the stored size reveals, if any.
fn size_flaw(chain: &CodecChain, size: u64) -> Option<Flaw> {
    let flaw = |kind, message: String| Some(Flaw { kind, cell: None, message });
    let limit = chain.limit() as u64;
    match chain.encoded_size() {
        _ if size == 0 => flaw(FindingKind::EmptyChunk, "it has no bytes".to_owned()),
        Size::Exact(wanted) if size != wanted as u64 => {
            let message = format!("it has {size} bytes; each chunk of this array has {wanted}");
            flaw(FindingKind::WrongSize, message)
        }
        _ if size > limit && chain.table().is_none() => {
            flaw(FindingKind::TooLarge, format!("it has {size} bytes; the limit is {limit}"))
        }
        _ => None,
    }
}

/// Decodes a stored chunk and discards the elements. Returns the error if a codec fails.
fn decode(place: &Location, chain: &CodecChain, value: &dyn Value) -> Result<Option<CodecError>> {
    let verify = |bytes: &[u8]| place.on_a_core(|| chain.verify(bytes)).err();
    if let Some(bytes) = value.as_bytes() {
        return Ok(verify(bytes));
    }
    let length = usize::try_from(value.size()).map_err(|_| zarrox::internals::too_many("the bytes"))?;
    let mut bytes = Scratch::with_len(length).map_err(CodecError::from)?;
    value.read_at(0, &mut bytes)?;
    Ok(verify(&bytes))
}

/// The repair of a chunk.
struct Plan {
    remedy: Remedy,
    /// The damaged bytes; `None` if they were not read.
    judged: Option<Bytes>,
    /// The bytes that replace the chunk, if there are any.
    bytes: Option<Vec<u8>>,
}

impl Plan {
    fn nothing(why: impl Into<String>) -> Self {
        Self { remedy: Remedy::Nothing(why.into()), judged: None, bytes: None }
    }
}

/// Reports the flaws of a chunk, and repairs it on request. The repair applies only to the bytes that were judged.
fn settle(
    session: &Session<'_>,
    array: &Array,
    target: &Target,
    mut flaws: Vec<Flaw>,
    objects: usize,
) -> Result<()> {
    let plan =
        array.with_chain(&target.chunk, |chain| judge(session, array, chain, target, &mut flaws, objects))?;
    let Plan { remedy, judged, bytes } = match plan {
        Ok(plan) => plan,
        Err(error) => Plan::nothing(session.fatal(error)?.to_string()),
    };
    let finding = |flaw: Flaw| {
        let finding = Finding::new(flaw.kind, array.path().as_str(), flaw.message, remedy.clone());
        let finding = finding.of_chunk(&target.chunk).at_key(target.key.as_str());
        Finding { inner_chunk: flaw.cell, ..finding }
    };
    let findings: Vec<_> = flaws.into_iter().map(finding).collect();
    if findings.is_empty() {
        // Meanwhile, the object was replaced by an undamaged one.
        return Ok(());
    }
    session.settle(findings, || match &judged {
        Some(judged) => array.writing(|| repair::replace(session, &target.key, judged, bytes.as_deref())),
        None => Ok(()),
    })
}

/// Reads the whole damaged chunk, looks for flaws in its bytes, and plans a repair that loses no readable data.
fn judge(
    session: &Session<'_>,
    array: &Array,
    chain: &CodecChain,
    target: &Target,
    flaws: &mut Vec<Flaw>,
    objects: usize,
) -> Result<Plan> {
    if let Some(why) = hopeless(flaws) {
        return Ok(Plan::nothing(why));
    }
    let place = array.location();
    if place.store.size(&target.key)?.is_some_and(|size| size > MENDED) {
        return Ok(Plan::nothing(format!("objects larger than {MENDED} bytes are not repaired")));
    }
    let stored = place.store.get(&target.key)?;
    *flaws = match &stored {
        Some(stored) => self::flaws(place, chain, stored, session.settings.level, objects)?,
        None => Vec::new(),
    };
    let Some(judged) = stored else { return Ok(Plan::nothing("another process deleted it meanwhile")) };
    if let Some(why) = hopeless(flaws) {
        return Ok(Plan::nothing(why));
    }
    let (remedy, bytes) = plan(session, chain, &judged)?;
    Ok(Plan { remedy, judged: Some(judged), bytes })
}

/// Returns the reason why a chunk with these flaws cannot be repaired; `None` if it may be repaired.
fn hopeless(flaws: &[Flaw]) -> Option<&'static str> {
    let is = |kind| flaws.iter().any(|flaw| flaw.kind == kind);
    if is(FindingKind::Unreadable) {
        Some("the store cannot read it")
    } else if is(FindingKind::Unsupported) {
        Some("it may be intact, but its codecs or data type are unknown")
    } else if is(FindingKind::TooLarge) {
        Some("it may be intact; check it with a higher memory limit for chunks")
    } else {
        None
    }
}

/// Returns the repair for a chunk with these bytes, and the bytes that replace it.
fn plan(session: &Session<'_>, chain: &CodecChain, stored: &[u8]) -> Result<(Remedy, Option<Vec<u8>>)> {
    let mut bytes = Vec::new();
    if !stored.is_empty()
        && let Some(remedy) = parts(chain, stored, session.refills(), &mut bytes)?
    {
        chain.verify(&bytes)?;
        return Ok((remedy, Some(bytes)));
    }
    bytes.clear();
    if session.refills() {
        chain.encode_fill(&mut bytes)?;
        return Ok((Remedy::Refill, Some(bytes)));
    }
    Ok((Remedy::Quarantine, None))
}

/// Creates a new chunk from the intact parts of a damaged one. Returns `None` if no part is intact.
fn parts(chain: &CodecChain, stored: &[u8], fill: bool, bytes: &mut Vec<u8>) -> Result<Option<Remedy>> {
    if chain.has_inner_chunks() {
        // If the intact parts cannot be determined, all parts are treated as damaged.
        let repaired = chain.repair(stored, fill, bytes).ok().flatten().filter(|_| !bytes.is_empty());
        return Ok(repaired.map(|RepairOutcome { kept, found, lost }| Remedy::Rebuild { kept, found, lost }));
    }
    let salvaged = chain.salvage(stored, bytes)?;
    Ok(salvaged.map(|Salvaged { kept, lost }| Remedy::Salvage { kept, lost }))
}
