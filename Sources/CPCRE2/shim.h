#pragma once

#if !__has_include(<pcre2.h>)
#error "install libpcre2-dev"
#endif
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
