#![no_main]

zarrox_fuzz::target!("zarrs_optional");
