#![no_main]

zarrox_fuzz::target!("urls");
