#![no_main]

zarrox_fuzz::target!("reshape");
