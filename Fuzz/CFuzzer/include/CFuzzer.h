// libFuzzer as a library: https://llvm.org/docs/LibFuzzer.html, "Using libFuzzer as a library".
#pragma once
#include <stddef.h>
#include <stdint.h>

// Comparisons that instrumented code has made so far.
uint64_t cfuzzer_work(void);

// Notes that an input has reached that step of cost.
void cfuzzer_reached(unsigned step);

int LLVMFuzzerRunDriver(
    int *argc, char ***argv, int (*run)(const uint8_t *data, size_t size));
