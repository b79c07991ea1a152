//! Mutations of one stored value.

use crate::input::Input;

/// The largest number of bytes that one mutation adds.
const GROWTH: usize = 300;

/// JSON that replaces numbers.
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

/// Changes a byte.
pub(crate) fn change(input: &mut Input<'_>, value: &mut [u8]) {
    if !value.is_empty() {
        let at = input.place(value.len());
        value[at] ^= input.byte_or(1).max(1);
    }
}

/// Truncates the value.
pub(crate) fn cut(input: &mut Input<'_>, value: &mut Vec<u8>) {
    value.truncate(input.place(value.len() + 1));
}

/// Adds bytes to the end.
pub(crate) fn grow(input: &mut Input<'_>, value: &mut Vec<u8>) {
    let (length, byte) = (input.place(GROWTH), input.byte_or(0));
    value.resize(value.len() + length, byte);
}

/// Fills a range with zeros or ones.
pub(crate) fn fill(input: &mut Input<'_>, value: &mut [u8]) {
    if !value.is_empty() {
        let (from, length, byte) = (input.place(value.len()), input.below(64), *input.one_of(&[0, 0xff]));
        let to = (from + length).min(value.len());
        value[from..to].fill(byte);
    }
}

/// Changes an eight-byte number near the end, such as a number in a shard index.
pub(crate) fn entry(input: &mut Input<'_>, value: &mut [u8]) {
    if value.len() >= 8 {
        let (back, number) = (input.below(40), u64::from(input.byte_or(0)));
        let at = value.len().saturating_sub(4 + 8 * (back + 1));
        value[at..at + 8].copy_from_slice(&number.to_le_bytes());
    }
}

/// Replaces a number of a document.
pub(crate) fn number(input: &mut Input<'_>, value: &mut Vec<u8>) {
    let is_first = |&at: &usize| value[at].is_ascii_digit() && (at == 0 || !value[at - 1].is_ascii_digit());
    let numbers: Vec<usize> = (0..value.len()).filter(is_first).collect();
    if numbers.is_empty() {
        return;
    }
    let start = *input.one_of(&numbers);
    let end = start + value[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    value.splice(start..end, input.one_of(&NUMBERS).bytes());
}

/// Replaces a string of a document by another one.
pub(crate) fn string(input: &mut Input<'_>, value: &mut Vec<u8>) {
    let quotes: Vec<usize> = (0..value.len()).filter(|&at| value[at] == b'"').collect();
    let strings: Vec<&[usize]> = quotes.chunks_exact(2).collect();
    if strings.is_empty() {
        return;
    }
    let (to, from) = (input.one_of(&strings), input.one_of(&strings));
    let text = value[from[0]..from[1]].to_vec();
    value.splice(to[0]..to[1], text);
}

/// Replaces the value by bytes of the input.
pub(crate) fn replace(input: &mut Input<'_>, value: &mut Vec<u8>) {
    let length = input.below(256);
    *value = input.take(length).to_vec();
}

/// Empties the value.
pub(crate) fn clear(_: &mut Input<'_>, value: &mut Vec<u8>) {
    value.clear();
}
