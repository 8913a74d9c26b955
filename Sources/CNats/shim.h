// cnats for Swift: the client of core NATS in nats.h as it is, nothing added.
#pragma once

#if !__has_include(<nats/nats.h>)
#error "install libnats-dev"
#endif

#include <nats/nats.h>
