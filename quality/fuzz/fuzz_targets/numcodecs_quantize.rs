#![no_main]

zarrox_fuzz::target!("numcodecs_quantize");
