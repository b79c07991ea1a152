#![no_main]

zarrox_fuzz::reader!("read_npz");
