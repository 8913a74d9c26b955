#pragma once

#if !__has_include(<sodium.h>)
#error "install libsodium-dev"
#endif

#include <sodium.h>
