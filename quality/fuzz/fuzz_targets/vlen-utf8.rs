#![no_main]

zarrox_fuzz::target!("vlen-utf8");
