#![no_main]

zarrox_fuzz::target!("zarrs_vlen_v2");
