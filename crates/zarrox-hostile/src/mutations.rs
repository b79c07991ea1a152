//! Programs of mutations: the bytes of the input choose what is done to which value.

use crate::contents::Contents;

/// The most mutations of one input.
const MOST: usize = 24;

/// The most bytes that a value grows by at a time.
const GROWTH: usize = 300;

/// The number of mutations that there are.
const KINDS: u8 = 16;

/// Names that keys are given: of documents, of chunks, and odd ones.
const NAMES: [&str; 32] = [
    "zarr.json",
    ".zarray",
    ".zgroup",
    ".zattrs",
    ".zmetadata",
    "attributes.json",
    "attrs",
    "meta",
    "c/0/0",
    "c/9/9",
    "c.0.0",
    "0.0",
    "0/0",
    "1/1",
    "00/0",
    "c/18446744073709551615/0",
    "c/99999999999999999999/0",
    "a.replaced0/zarr.json",
    "A/zarr.json",
    "x/y/zarr.json",
    ".zarrox-quarantine/a.damaged",
    ".zarrox-a.tmp",
    ".zarrox-conversion.json",
    "g",
    "g/g",
    "c",
    "a b/ß",
    "...",
    "-1/0",
    "meta/root/x.array.json",
    "meta/root.group.json",
    "data/root/x/c0/0",
];

/// Numbers that are put into documents.
const NUMBERS: [&str; 24] = [
    "0",
    "1",
    "2",
    "3",
    "5",
    "8",
    "-1",
    "1.5",
    "1e400",
    "255",
    "256",
    "65536",
    "2147483648",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "null",
    "[]",
    "{}",
    "\"\"",
    "true",
    "\"x\"",
];

/// Carries out a program on stored values.
#[derive(Debug)]
pub(crate) struct Mutator<'i>(&'i [u8]);

impl<'i> Mutator<'i> {
    pub(crate) fn new(program: &'i [u8]) -> Self {
        Self(program)
    }

    /// Damages the values whose keys have this prefix, and adds others there.
    pub(crate) fn damage(mut self, contents: &mut Contents, prefix: &str) {
        for _ in 0..MOST {
            let Some(kind) = self.next() else { return };
            let keys: Vec<String> = contents.keys().filter(|key| key.starts_with(prefix)).cloned().collect();
            if keys.is_empty() {
                return;
            }
            self.step(kind % KINDS, contents, prefix, &keys);
        }
    }

    fn step(&mut self, kind: u8, contents: &mut Contents, prefix: &str, keys: &[String]) {
        let key = &keys[self.below(keys.len())];
        match kind {
            6 => drop(contents.remove(key)),
            7 => self.swap(contents, key, keys),
            8 => self.add(contents, prefix, key, keys),
            9 => {
                let length = self.below(256);
                let text = self.take(length).to_vec();
                contents.insert(key.clone(), text);
            }
            10 => {
                let other = &keys[self.below(keys.len())];
                if let Some(value) = contents.get(other).cloned() {
                    contents.insert(key.clone(), value);
                }
            }
            11 => self.rename(contents, prefix, key),
            12 => {
                let name = key.rsplit('/').next().unwrap_or_default();
                let below = key[..key.len() - name.len()].to_owned();
                contents.retain(|other, _| !other.starts_with(&below) || other.len() - below.len() > 16);
            }
            _ => {
                if let Some(value) = contents.get_mut(key) {
                    self.edit(kind, value);
                }
            }
        }
    }

    fn edit(&mut self, kind: u8, value: &mut Vec<u8>) {
        match kind {
            0 if !value.is_empty() => {
                let at = self.place(value.len());
                value[at] ^= self.next().unwrap_or(1).max(1);
            }
            1 => {
                let length = self.place(value.len() + 1);
                value.truncate(length);
            }
            2 => {
                let (length, byte) = (self.place(GROWTH), self.next().unwrap_or(0));
                value.resize(value.len() + length, byte);
            }
            3 if !value.is_empty() => {
                let (from, length, byte) = (self.place(value.len()), self.below(64), self.below(2));
                let to = (from + length).min(value.len());
                value[from..to].fill(if byte == 0 { 0 } else { 0xff });
            }
            // Numbers of eight bytes, as in the indexes of shards, from the end.
            4 if value.len() >= 8 => {
                let (back, number) = (self.below(40), u64::from(self.next().unwrap_or(0)));
                let at = value.len().saturating_sub(4 + 8 * (back + 1));
                value[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
            5 | 13 => self.number(value),
            14 => self.member(value),
            _ => value.clear(),
        }
    }

    /// Puts another number in the place of one in a document.
    fn number(&mut self, value: &mut Vec<u8>) {
        let is_first =
            |&at: &usize| value[at].is_ascii_digit() && (at == 0 || !value[at - 1].is_ascii_digit());
        let numbers: Vec<usize> = (0..value.len()).filter(is_first).collect();
        if numbers.is_empty() {
            return;
        }
        let start = numbers[self.below(numbers.len())];
        let end = start + value[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = NUMBERS[self.below(NUMBERS.len())];
        value.splice(start..end, number.bytes());
    }

    /// Puts a string of a document in the place of another one.
    fn member(&mut self, value: &mut Vec<u8>) {
        let quotes: Vec<usize> = (0..value.len()).filter(|&at| value[at] == b'"').collect();
        let strings: Vec<&[usize]> = quotes.chunks_exact(2).collect();
        if strings.is_empty() {
            return;
        }
        let (to, from) = (strings[self.below(strings.len())], strings[self.below(strings.len())]);
        let text = value[from[0]..from[1]].to_vec();
        value.splice(to[0]..to[1], text);
    }

    fn swap(&mut self, contents: &mut Contents, key: &str, keys: &[String]) {
        let other = &keys[self.below(keys.len())];
        if let (Some(a), Some(b)) = (contents.get(key).cloned(), contents.get(other).cloned()) {
            contents.insert(key.to_owned(), b);
            contents.insert(other.clone(), a);
        }
    }

    /// Adds a key beside another one, or directly in the hierarchy, with a value that is there already.
    fn add(&mut self, contents: &mut Contents, prefix: &str, key: &str, keys: &[String]) {
        let name = match self.next().unwrap_or(0) {
            255 => {
                let length = self.below(40);
                String::from_utf8_lossy(self.take(length)).into_owned()
            }
            choice => NAMES[usize::from(choice) % NAMES.len()].to_owned(),
        };
        let value = contents.get(&keys[self.below(keys.len())]).cloned().unwrap_or_default();
        let mut directory = key;
        for _ in 0..=self.below(3) {
            directory = directory.rsplit_once('/').map_or("", |(above, _)| above);
        }
        let directory = if directory.is_empty() { prefix.to_owned() } else { format!("{directory}/") };
        if directory.starts_with(prefix) {
            contents.insert(format!("{directory}{name}"), value);
        }
    }

    /// Gives a directory another name.
    fn rename(&mut self, contents: &mut Contents, prefix: &str, key: &str) {
        let inside = &key[prefix.len()..];
        let ends: Vec<usize> = inside.match_indices('/').map(|(at, _)| prefix.len() + at).collect();
        if ends.is_empty() {
            return;
        }
        let from = &key[..ends[self.below(ends.len())]];
        let to = match self.below(5) {
            0 => format!("{from}.replaced0"),
            1 => from.to_uppercase(),
            2 => format!("{from}/inside"),
            3 => format!("{prefix}g"),
            _ => format!("{prefix}new/{}", &from[prefix.len()..]),
        };
        let below = format!("{from}/");
        let moved: Vec<String> = contents.keys().filter(|key| key.starts_with(&below)).cloned().collect();
        if !to.starts_with(prefix) {
            return;
        }
        for key in moved {
            if let Some(value) = contents.remove(&key) {
                contents.insert(format!("{to}/{}", &key[below.len()..]), value);
            }
        }
    }

    fn next(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    /// A number below `limit`, of one byte; 0 where no bytes are left.
    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.next().unwrap_or(0)) % limit.max(1)
    }

    /// A number below `limit`, of two bytes.
    fn place(&mut self, limit: usize) -> usize {
        let (high, low) = (self.next().unwrap_or(0), self.next().unwrap_or(0));
        usize::from(u16::from_be_bytes([high, low])) % limit.max(1)
    }

    fn take(&mut self, length: usize) -> &'i [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }
}

/// Programs to begin with: none, and each mutation of some key.
pub(crate) fn seeds() -> impl Iterator<Item = Vec<u8>> {
    let each = (0..KINDS).flat_map(|kind| (0..3).map(move |key| vec![kind, key * 5, kind, 7, 3, 1, 2]));
    std::iter::once(Vec::new()).chain(each)
}
