#!/bin/sh
# rustdoc, whose JSON is only in the nightly channel so far.
RUSTC_BOOTSTRAP=1 exec rustdoc "$@"
