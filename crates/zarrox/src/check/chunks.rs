//! Chunks: whether what is stored can be decoded.

use zarrox_core::codec::{self, ChunkTable, CodecChain, Mended, Salvaged, Size, Window};
use zarrox_core::scratch::Scratch;
use zarrox_core::{CodecError, Error, ErrorKind, Result};
use zarrox_stores::{ByteRange, Key, Value};

use super::finding::{Finding, FindingKind, Remedy};
use super::repair::{self, Judged};
use super::session::{CheckLevel, Session};
use super::shards::{self, Flaw};
use crate::array::Array;
use crate::location::Location;

/// The number of times that a damaged object is read which somebody else seems to be writing.
const ATTEMPTS: usize = 5;

/// A damaged object that is larger than this, in bytes, is not taken apart in memory.
const MENDED: u64 = 2 << 30;

/// A stored chunk that is to be checked.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) key: Key,
    pub(super) chunk: Vec<u64>,
    pub(super) size: u64,
}

/// Checks chunks of an array, several at a time.
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
    let mut before: Option<Judged> = None;
    for _ in 0..ATTEMPTS {
        let (flaws, judged) = match look(session.settings.level) {
            Ok(looked) => looked,
            // It was replaced while it was read.
            Err(error) if error.kind() == ErrorKind::Conflict => continue,
            Err(error) => (vec![Flaw::unreadable(&session.fatal(error)?)], Judged::default()),
        };
        if flaws.is_empty() {
            return Ok(());
        }
        // Whoever replaces a value meanwhile is no damage: it must be found twice.
        if before.as_ref() == Some(&judged) {
            return settle(session, array, target, flaws, &judged);
        }
        before = Some(judged);
    }
    // It was another one each time: it is in use, and nobody can say more of it.
    Ok(())
}

/// Looks at a stored chunk; an error is the store's.
fn look(
    array: &Array,
    chain: &CodecChain,
    target: &Target,
    level: CheckLevel,
    objects: usize,
) -> Result<(Vec<Flaw>, Judged)> {
    let place = array.location();
    let known = size_flaw(chain, target.size);
    if level < CheckLevel::Full && known.is_none() && chain.table().is_none() {
        return Ok((Vec::new(), Judged::default()));
    }
    let whole = ByteRange::From { offset: 0, length: Some(target.size.min(shards::TOGETHER)) };
    let first = match place.is_remote() {
        true if level == CheckLevel::Full => Some(whole),
        true => chain.table().and_then(index),
        false => None,
    };
    let Some(value) = place.store.open_with(&target.key, first)? else {
        return Ok((Vec::new(), Judged::default()));
    };
    let flaws = flaws(place, chain, &*value, level, objects)?;
    Ok((flaws, Judged::of(&*value)))
}

/// The bytes that a shard's index is in.
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
        _ => Ok(decode(place, chain, value)?
            .map(|error| Flaw::of(FindingKind::CorruptChunk, None, &error))
            .into_iter()
            .collect()),
    }
}

/// The flaw that the number of stored bytes tells of.
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

/// Decodes a stored chunk, and keeps nothing of it; the error of the codecs is the result.
fn decode(place: &Location, chain: &CodecChain, value: &dyn Value) -> Result<Option<CodecError>> {
    let verify = |bytes: &[u8]| place.on_a_core(|| chain.verify(bytes)).err();
    if let Some(bytes) = value.as_bytes() {
        return Ok(verify(bytes));
    }
    let length = usize::try_from(value.size()).map_err(|_| crate::pool::too_many("the bytes"))?;
    let mut bytes = Scratch::with_len(length).map_err(CodecError::from)?;
    value.read_at(0, &mut bytes)?;
    Ok(verify(&bytes))
}

/// The repair of a chunk, and the bytes that it writes.
struct Plan {
    remedy: Remedy,
    bytes: Option<Vec<u8>>,
}

impl Plan {
    fn nothing(why: impl Into<String>) -> Self {
        Self { remedy: Remedy::Nothing(why.into()), bytes: None }
    }
}

/// Tells of the flaws of a chunk, and repairs it if that is wanted.
fn settle(
    session: &Session<'_>,
    array: &Array,
    target: &Target,
    flaws: Vec<Flaw>,
    judged: &Judged,
) -> Result<()> {
    let plan =
        array.with_chain(&target.chunk, |chain| plan(session, array, chain, target, &flaws, judged))?;
    let Plan { remedy, bytes } = match plan {
        Ok(plan) => plan,
        Err(error) => Plan::nothing(session.fatal(error)?.to_string()),
    };
    let finding = |flaw: Flaw| {
        let finding = Finding::new(flaw.kind, array.path().as_str(), flaw.message, remedy.clone());
        let finding = finding.of_chunk(&target.chunk).at_key(target.key.as_str());
        Finding { inner_chunk: flaw.cell, ..finding }
    };
    let findings = flaws.into_iter().map(finding).collect();
    session.settle(findings, || repair::replace(session, &target.key, judged, bytes.as_deref()))
}

/// Finds out the repair of a chunk: nothing that can be read is lost by it.
fn plan(
    session: &Session<'_>,
    array: &Array,
    chain: &CodecChain,
    target: &Target,
    flaws: &[Flaw],
    judged: &Judged,
) -> Result<Plan> {
    let is = |kind| flaws.iter().any(|flaw| flaw.kind == kind);
    if is(FindingKind::Unreadable) {
        return Ok(Plan::nothing("the store does not give it"));
    }
    if is(FindingKind::Unsupported) {
        return Ok(Plan::nothing("it may be whole; nothing here can read it"));
    }
    if is(FindingKind::TooLarge) {
        return Ok(Plan::nothing("it may be whole; a higher limit on the memory of a chunk tells"));
    }
    let mut bytes = Vec::new();
    if judged.size > 0 {
        if judged.size > MENDED {
            return Ok(Plan::nothing(format!("what is larger than {MENDED} bytes is not taken apart")));
        }
        let Some(stored) = array.location().store.get(&target.key)? else { return Err(gone()) };
        if let Some(remedy) = parts(chain, &stored, session.refills(), &mut bytes)? {
            chain.verify(&bytes)?;
            return Ok(Plan { remedy, bytes: Some(bytes) });
        }
        bytes.clear();
    }
    if session.refills() {
        chain.encode_fill(&mut bytes)?;
        return Ok(Plan { remedy: Remedy::Refill, bytes: Some(bytes) });
    }
    Ok(Plan { remedy: Remedy::Quarantine, bytes: None })
}

/// Makes a new chunk of the parts of a damaged one that are whole. `None` where there are none.
fn parts(chain: &CodecChain, stored: &[u8], fill: bool, bytes: &mut Vec<u8>) -> Result<Option<Remedy>> {
    if chain.has_inner_chunks() {
        // Where it cannot be told what is whole, nothing is.
        let mended = chain.mend(stored, fill, bytes).ok().flatten().filter(|_| !bytes.is_empty());
        return Ok(mended.map(|Mended { kept, found, lost }| Remedy::Rebuild { kept, found, lost }));
    }
    let salvaged = chain.salvage(stored, bytes)?;
    Ok(salvaged.map(|Salvaged { kept, lost }| Remedy::Salvage { kept, lost }))
}

fn gone() -> Error {
    Error::new(ErrorKind::Conflict, "somebody erased it meanwhile")
}
