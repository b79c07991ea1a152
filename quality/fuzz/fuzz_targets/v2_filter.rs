#![no_main]

zarrox_fuzz::target!("v2_filter");
