#![no_main]

zarrox_fuzz::target!("crc32c");
