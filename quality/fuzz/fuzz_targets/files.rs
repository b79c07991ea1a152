#![no_main]

zarrox_fuzz::reader!("files");
