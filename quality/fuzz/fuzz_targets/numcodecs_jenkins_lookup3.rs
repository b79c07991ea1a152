#![no_main]

zarrox_fuzz::target!("numcodecs_jenkins_lookup3");
