#![no_main]

zarrox_fuzz::target!("cast_value");
