#![no_main]

zarrox_fuzz::target!("n5_default");
