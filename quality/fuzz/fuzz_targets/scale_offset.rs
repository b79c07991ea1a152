#![no_main]

zarrox_fuzz::target!("scale_offset");
