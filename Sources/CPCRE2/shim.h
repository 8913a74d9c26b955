// PCRE2 for Swift. The library comes in three widths; strings here are UTF-8, so the unit is a byte
// and every function carries the suffix _8.
#pragma once

#if !__has_include(<pcre2.h>)
#error "install libpcre2-dev"
#endif

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
