//! LZW in the bit order of TIFF 6 and in that of older writers.

use weezl::BitOrder;
use weezl::decode::Decoder;
use zarrox::Result;

use super::general::damaged;
use crate::input::zeroed;

/// Decodes the first `size` bytes, or fewer if the stream is shorter.
pub(super) fn decoded(bytes: &[u8], size: usize) -> Result<Vec<u8>> {
    // The first code is 256 in 9 bits, which clears the table. In the old bit order, the least significant bits of a byte
    // come first.
    let is_old = matches!(bytes, [0, second, ..] if second & 1 == 1);
    let mut decoder = match is_old {
        true => Decoder::new(BitOrder::Lsb, 8),
        false => Decoder::with_tiff_size_switch(BitOrder::Msb, 8),
    };
    let mut out = zeroed(size)?;
    let (mut read, mut written) = (0, 0);
    while written < size {
        let done = decoder.decode_bytes(&bytes[read..], &mut out[written..]);
        (read, written) = (read + done.consumed_in, written + done.consumed_out);
        match done.status.map_err(|error| damaged(&error))? {
            weezl::LzwStatus::Ok if done.consumed_in > 0 || done.consumed_out > 0 => {}
            _ => break,
        }
    }
    out.truncate(written);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_of_bits_are_read() {
        let bytes: Vec<u8> = (0..20_000_u32).flat_map(|n| (n * n % 251).to_le_bytes()).collect();
        let new = weezl::encode::Encoder::with_tiff_size_switch(BitOrder::Msb, 8).encode(&bytes).unwrap();
        let old = weezl::encode::Encoder::new(BitOrder::Lsb, 8).encode(&bytes).unwrap();
        assert_eq!(old[0], 0);
        for stored in [new, old] {
            assert_eq!(decoded(&stored, bytes.len()).unwrap(), bytes);
        }
    }
}
