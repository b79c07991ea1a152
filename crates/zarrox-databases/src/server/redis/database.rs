//! The names of keys in a Redis database: [`Database`].

use ::redis::RedisError;

use super::pool::{Pool, into_error};
use zarrox_stores::internals::support::valid;
use zarrox_stores::{Key, Prefix, StoreError};

/// A Redis database, and the prefix of its keys.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) pool: Pool,
    pub(super) location: String,
    /// The prefix, including the colon.
    pub(super) prefix: String,
}

impl Database {
    /// Returns the name under which a key is stored in the database.
    pub(super) fn name(&self, key: &Key) -> String {
        [&self.prefix, key.as_str()].concat()
    }

    /// Returns the key that is stored under a name in the database. Names that are not valid keys belong to other programs.
    pub(super) fn key(&self, name: &[u8]) -> Option<Key> {
        valid(name.strip_prefix(self.prefix.as_bytes())?.to_vec())
    }

    /// Returns the pattern that matches all names below a prefix.
    pub(super) fn pattern(&self, prefix: &Prefix) -> Vec<u8> {
        let mut pattern = Vec::new();
        for byte in self.prefix.bytes().chain(prefix.as_str().bytes()) {
            if b"*?[]\\^-".contains(&byte) {
                pattern.push(b'\\');
            }
            pattern.push(byte);
        }
        pattern.push(b'*');
        pattern
    }

    /// Returns a function that converts a client error to the error of an operation on a key.
    pub(super) fn fail(&self, operation: &'static str, key: &str) -> impl Fn(RedisError) -> StoreError {
        move |error| into_error(operation, error).with_location(&self.location).with_key(key)
    }
}
