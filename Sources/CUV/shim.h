#pragma once

#if !__has_include(<uv.h>)
#error "install libuv1-dev"
#endif

#include <uv.h>
