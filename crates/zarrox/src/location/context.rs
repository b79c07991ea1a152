//! The settings with which nodes are opened: options, registry and thread pools.

use std::sync::Arc;

use zarrox_core::codec::{CHUNK_LIMIT, EncodeOptions};
use zarrox_core::internals::codec::DecodeOptions;
use zarrox_core::{Registry, Strictness};

use super::chunk_listener::ChunkListener;
use super::last_chain::LastChain;
use super::timings::Timer;
use crate::chunk_cache::ChunkCache;
use crate::interrupt::Interrupt;
use crate::policy::{MissingChunks, Upkeep};
use crate::pool::Pool;

/// The settings that are shared by all nodes that are opened together.
#[derive(Debug, Clone)]
pub struct Context {
    /// The codecs and data types.
    pub registry: Arc<Registry>,
    pub(crate) strictness: Strictness,
    pub(crate) pool: Pool,
    /// The thread pool whose threads wait for the responses of a remote store.
    pub(crate) requests: Option<Pool>,
    /// The largest size of a decoded chunk, in bytes.
    pub chunk_limit: usize,
    pub(crate) missing: MissingChunks,
    pub(crate) encode: EncodeOptions,
    pub(crate) decode: DecodeOptions,
    pub(crate) data_type_fallback: bool,
    /// True if nodes may be created in directories with files that do not belong to any node.
    pub(crate) allow_foreign_files: bool,
    /// The memory limit in bytes, not counting results and values.
    pub memory: usize,
    /// The cache of decoded chunks, if there is one.
    pub(crate) chunk_cache: Option<ChunkCache>,
    /// The interrupt that cancels reading and writing.
    pub interrupt: Interrupt,
    /// The policy for consolidated metadata when a node changes.
    pub(crate) upkeep: Upkeep,
    /// The callback for each finished chunk.
    pub(crate) chunk_listener: ChunkListener,
    /// The timings of reads, if they are measured.
    pub(crate) timer: Timer,
    /// The codecs and the codec pipeline of the array that was opened last.
    pub(crate) last_chain: Arc<LastChain>,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            registry: Arc::new(zarrox_codecs::registry()),
            strictness: Strictness::Lenient,
            pool: Pool::shared(),
            requests: None,
            chunk_limit: CHUNK_LIMIT,
            missing: MissingChunks::Fill,
            encode: EncodeOptions::default(),
            decode: DecodeOptions::default(),
            data_type_fallback: false,
            allow_foreign_files: false,
            memory: MEMORY,
            chunk_cache: None,
            interrupt: Interrupt::new(),
            upkeep: Upkeep::default(),
            chunk_listener: ChunkListener::default(),
            timer: Timer::default(),
            last_chain: Arc::default(),
        }
    }
}

impl Context {
    /// Returns the context with strict parsing of documents. The cached codec pipeline of an array that was parsed leniently is
    /// dropped.
    pub fn strictly(&self) -> Self {
        Self { strictness: Strictness::Strict, last_chain: Arc::default(), ..self.clone() }
    }
}

/// The default of [`Context::memory`], in bytes. Typical chunks need less.
const MEMORY: usize = 4 << 30;
