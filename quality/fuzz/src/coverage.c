/* Reports to libFuzzer which blocks of C code have run. GCC does not do so by itself: its -fsanitize-coverage=trace-pc, which
   `cargo xtask fuzz` compiles the C libraries with, calls a function at the beginning of each block, and
   libFuzzer's does nothing: the linker replaces it by this one. */

#include <stdint.h>

#define COUNTERS 65536

/* libFuzzer treats the content of this section as counters. */
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t counters[COUNTERS];

__attribute__((no_sanitize_coverage, no_sanitize_address)) void __wrap___sanitizer_cov_trace_pc(void) {
    uintptr_t block = (uintptr_t)__builtin_return_address(0);
    counters[(block * UINT64_C(0x9e3779b97f4a7c15)) >> 48]++;
}
