#![no_main]

zarrox_fuzz::target!("sharding_indexed");
