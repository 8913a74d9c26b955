// Counts comparisons: the measure of work of the target `cost`. The linker puts these functions
// before those of libFuzzer (`--wrap`, ld(1)), to which each goes on: the compiler calls them at every
// comparison of code that is compiled with -sanitize=fuzzer.
#include "include/CFuzzer.h"

static uint64_t work;

uint64_t cfuzzer_work(void) { return work; }

// Sixty-four steps of cost: an input that costs more a byte than all before it reaches a new one, so
// that libFuzzer keeps it (https://llvm.org/docs/LibFuzzer.html, "Value profile" aside).
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t reached[64];

void cfuzzer_reached(unsigned step) { reached[step < 64 ? step : 63] = 1; }

#define WRAP(name, type)                                                                           \
    void __real_##name(type left, type right);                                                     \
    void __wrap_##name(type left, type right) {                                                    \
        work++;                                                                                    \
        __real_##name(left, right);                                                                \
    }

WRAP(__sanitizer_cov_trace_cmp1, uint8_t)
WRAP(__sanitizer_cov_trace_cmp2, uint16_t)
WRAP(__sanitizer_cov_trace_cmp4, uint32_t)
WRAP(__sanitizer_cov_trace_cmp8, uint64_t)
WRAP(__sanitizer_cov_trace_const_cmp1, uint8_t)
WRAP(__sanitizer_cov_trace_const_cmp2, uint16_t)
WRAP(__sanitizer_cov_trace_const_cmp4, uint32_t)
WRAP(__sanitizer_cov_trace_const_cmp8, uint64_t)
