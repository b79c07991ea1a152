//! `numcodecs.jenkins_lookup3`: stores the checksum that HDF5 uses for metadata after the bytes.
//!
//! Specification: <https://numcodecs.readthedocs.io/en/stable/checksum32.html>; the function is `hashlittle` of
//! <https://www.burtleburtle.net/bob/c/lookup3.c>
//!
//! | member | value |
//! |---|---|
//! | `initval` | 0 to 2^32 − 1: the initial value of the hash function |
//! | `prefix` | `null`, or a list of bytes that are hashed before the bytes of the chunk |
//!
//! Names: `numcodecs.jenkins_lookup3` in v3, `jenkins_lookup3` in v2. In the lenient mode, the members default to 0 and `null`.
//! numcodecs supports a prefix but cannot write it to metadata; here, the prefix is a list of numbers.
//!
//! Encoded bytes: the bytes themselves, followed by their checksum as a little-endian `u32`.

use zarrox_core::CodecSpec;
use zarrox_core::codec::{Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};

use crate::bytes_to_bytes::checksum::{self, Checked, Checksum, ChecksumLocation};
use crate::config::{self, missing, wrong};

/// The definition of `numcodecs.jenkins_lookup3`.
pub(crate) static DEF: CodecDef = CodecDef::new("numcodecs.jenkins_lookup3", CodecKind::BytesToBytes, create)
    .v2_id("jenkins_lookup3")
    .with_from_v2(|members, _| Ok(config::from_v2(members, json!({"initval": 0, "prefix": null}))));

/// Stores Bob Jenkins' checksum `lookup3` after the bytes, as in HDF5.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JenkinsLookup3 {
    initval: u32,
    prefix: Option<Vec<u8>>,
}

impl JenkinsLookup3 {
    /// Sets the initial value of the hash function.
    #[must_use]
    pub fn initval(self, initval: u32) -> Self {
        Self { initval, ..self }
    }

    /// Sets bytes that are hashed before the bytes of the chunk, but not stored.
    #[must_use]
    pub fn prefix(self, prefix: impl Into<Vec<u8>>) -> Self {
        Self { prefix: Some(prefix.into()), ..self }
    }

    /// Returns the checksum of the bytes.
    #[must_use]
    #[doc(hidden)]
    pub fn checksum(&self, bytes: &[u8]) -> u32 {
        self.compute(bytes)
    }
}

impl From<JenkinsLookup3> for CodecSpec {
    fn from(jenkins: JenkinsLookup3) -> Self {
        checksum::spec(DEF.name, &jenkins)
    }
}

const MEMBERS: &[&str] = &["initval", "prefix"];

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, MEMBERS)?;
    if let Some(name) = MEMBERS.iter().find(|name| config.is_strict() && !configuration.contains_key(name)) {
        return Err(missing(name));
    }
    let initval = config.get("initval").map_or(Ok(0), |json| {
        let number = config.to_integer(json).and_then(|n| u32::try_from(n).ok());
        number.ok_or_else(|| wrong("initval", json, "an integer from 0 to 4294967295"))
    })?;
    let prefix = match config.get("prefix") {
        None | Some(Json::Null) => None,
        Some(json) => {
            let bytes = config.integers("prefix").unwrap_or_default();
            let bytes: Vec<u8> = bytes.into_iter().filter_map(|n| u8::try_from(n).ok()).collect();
            let whole = json.as_array().filter(|list| list.len() == bytes.len());
            Some(whole.map(|_| bytes).ok_or_else(|| wrong("prefix", json, "null or a list of bytes"))?)
        }
    };
    Ok(Checked::codec(JenkinsLookup3 { initval, prefix }))
}

impl Checksum for JenkinsLookup3 {
    fn configuration(&self) -> Map {
        config::members(json!({"initval": self.initval, "prefix": self.prefix}))
    }

    fn location(&self) -> ChecksumLocation {
        ChecksumLocation::End
    }

    fn compute(&self, bytes: &[u8]) -> u32 {
        let prefix = self.prefix.as_deref().unwrap_or_default();
        let mut state = State::new(prefix.len() + bytes.len(), self.initval);
        // The prefix, padded to whole blocks.
        let missing = prefix.len().next_multiple_of(BLOCK) - prefix.len();
        let (fill, rest) = bytes.split_at(missing.min(bytes.len()));
        let start = [prefix, fill].concat();
        if rest.is_empty() {
            return state.finish(&start);
        }
        state.mix_all(&start);
        state.finish(rest)
    }
}

/// The number of bytes that are mixed together.
const BLOCK: usize = 12;

struct State([u32; 3]);

impl State {
    fn new(length: usize, initval: u32) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "the function takes the length modulo 2^32")]
        let start = 0xdead_beef_u32.wrapping_add(length as u32).wrapping_add(initval);
        Self([start; 3])
    }

    fn add(&mut self, block: &[u8; BLOCK]) {
        let (words, _) = block.as_chunks();
        for (part, word) in self.0.iter_mut().zip(words) {
            *part = part.wrapping_add(u32::from_le_bytes(*word));
        }
    }

    fn mix_all(&mut self, blocks: &[u8]) {
        for block in blocks.as_chunks().0 {
            self.add(block);
            let [mut a, mut b, mut c] = self.0;
            step(&mut a, &mut c, b, 4);
            step(&mut b, &mut a, c, 6);
            step(&mut c, &mut b, a, 8);
            step(&mut a, &mut c, b, 16);
            step(&mut b, &mut a, c, 19);
            step(&mut c, &mut b, a, 4);
            self.0 = [a, b, c];
        }
    }

    /// Mixes the remaining bytes. The last block is mixed differently, even if it is complete.
    fn finish(mut self, rest: &[u8]) -> u32 {
        let Some(last) = rest.len().checked_sub(1).map(|at| at / BLOCK * BLOCK) else { return self.0[2] };
        let (blocks, last) = rest.split_at(last);
        self.mix_all(blocks);
        let mut block = [0; BLOCK];
        block[..last.len()].copy_from_slice(last);
        self.add(&block);
        let [mut a, mut b, mut c] = self.0;
        final_step(&mut c, b, 14);
        final_step(&mut a, c, 11);
        final_step(&mut b, a, 25);
        final_step(&mut c, b, 16);
        final_step(&mut a, c, 4);
        final_step(&mut b, a, 14);
        final_step(&mut c, b, 24);
        c
    }
}

fn step(x: &mut u32, y: &mut u32, z: u32, bits: u32) {
    *x = x.wrapping_sub(*y) ^ y.rotate_left(bits);
    *y = y.wrapping_add(z);
}

fn final_step(x: &mut u32, y: u32, bits: u32) {
    *x = (*x ^ y).wrapping_sub(y.rotate_left(bits));
}

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_testkit::codec::{Integrity, bytes_to_bytes_suite};

    use super::*;
    use crate::bytes_to_bytes::checksum::tests::golden;
    use crate::registry;
    use crate::testing::{configured, steps, through_v2};

    #[test]
    fn suite() {
        for jenkins in [JenkinsLookup3::default(), JenkinsLookup3::default().initval(7).prefix(*b"prefix")] {
            bytes_to_bytes_suite(&registry(), &jenkins.into(), Integrity::Checked);
        }
    }

    /// `i * i / 7` for every index, as a byte.
    fn squares(indices: std::ops::Range<u64>) -> Vec<u8> {
        indices.map(|i| (i * i / 7).to_le_bytes()[0]).collect()
    }

    #[test]
    fn as_numcodecs_stores_it() {
        // `numcodecs.JenkinsLookup3(initval=…).encode(…)` of version 0.15.1.
        let golden = |initval: u32, bytes: &[u8], stored| {
            golden(DEF.name, json!({"initval": initval}), bytes, stored, ChecksumLocation::End);
        };
        golden(0, b"", "efbeadde");
        golden(7, b"", "f6beadde");
        golden(0, b"abc", "3176390e");
        // The test vectors in lookup3.c itself.
        golden(0, b"Four score and seven years ago", "51057717");
        golden(1, b"Four score and seven years ago", "618162cd");
        let lengths = [
            (1, "4b41a98b"),
            (2, "b361cd62"),
            (3, "0f06d06b"),
            (11, "a964096e"),
            (12, "57e5681b"),
            (13, "3eac1043"),
            (25, "bd4bb4a5"),
            (1999, "d1ea3603"),
            (2000, "8ea81eb5"),
        ];
        for (length, stored) in lengths {
            golden(0, &steps()[..length], stored);
        }
        golden(0, &squares(0..100_003), "67568200");
    }

    #[test]
    fn prefixes_as_numcodecs_takes_them() {
        // `numcodecs.JenkinsLookup3(initval=3, prefix=squares[1000:1000 + n]).encode(steps[:m])` of version 0.15.1.
        let cases = [
            (1, ["0df8fa04", "ce92212d", "2c4fc0f7", "88f7f7fc", "2b91fc2c", "77ac9fba"]),
            (5, ["3c5fcc4c", "c083aca4", "dd4c1f0d", "2bf7ed89", "63f7dfbb", "11ba9e7a"]),
            (11, ["33797f6b", "b6899b7f", "ec2b563d", "9c4dadb7", "b2f00260", "968afec3"]),
            (12, ["0ccb7b29", "cf598d54", "24509940", "d9477f79", "7c52457d", "b7be6f2f"]),
            (13, ["b20bb23f", "ca6fd490", "4d2f3eb6", "5250d31c", "6a616ad3", "e3074418"]),
            (24, ["7908ceaa", "4b86b03e", "81d545da", "5b70cfe0", "0ede1cfe", "73a74ef5"]),
            (30, ["a1c300a6", "49101a72", "b3d259b5", "2c1c62f1", "16d1c7d1", "f97c95ea"]),
        ];
        for (prefix, stored) in cases {
            let configuration = json!({"initval": 3, "prefix": squares(1000..1000 + prefix)});
            for (length, stored) in [0, 1, 6, 7, 8, 100].into_iter().zip(stored) {
                golden(DEF.name, configuration.clone(), &steps()[..length], stored, ChecksumLocation::End);
            }
        }
        let empty = json!({"prefix": []});
        golden(DEF.name, empty, b"", "efbeadde", ChecksumLocation::End);
        golden(DEF.name, json!({"prefix": [97, 98]}), b"", "dfa8b3fb", ChecksumLocation::End);
    }

    #[test]
    fn configurations() {
        let complete = json!({"initval": 0, "prefix": null});
        assert_eq!(configured(DEF.name, json!({}), Strictness::Lenient).unwrap(), complete);
        assert_eq!(configured(DEF.name, complete.clone(), Strictness::Strict).unwrap(), complete);
        for lacking in [json!({}), json!({"initval": 0}), json!({"prefix": null})] {
            assert!(configured(DEF.name, lacking, Strictness::Strict).unwrap_err().contains("lacks"));
        }
        let most = json!({"initval": u32::MAX, "prefix": [0, 255]});
        assert_eq!(configured(DEF.name, most.clone(), Strictness::Strict).unwrap(), most);
        assert_eq!(through_v2("jenkins_lookup3", most.clone(), 4), (most.clone(), most));
        assert_eq!(through_v2("jenkins_lookup3", json!({}), 4), (complete.clone(), complete));
        for (wrong, named) in [
            (json!({"initval": -1}), "initval"),
            (json!({"initval": 1_u64 << 32}), "initval"),
            (json!({"initval": "0"}), "initval"),
            (json!({"prefix": "ab"}), "prefix"),
            (json!({"prefix": [256]}), "prefix"),
            (json!({"prefix": [1, "a"]}), "prefix"),
        ] {
            assert!(configured(DEF.name, wrong, Strictness::Lenient).unwrap_err().contains(named));
        }
    }
}
