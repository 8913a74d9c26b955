// libyaml for Swift: the event parser of yaml.h as it is, nothing added.
#pragma once

#if !__has_include(<yaml.h>)
#error "install libyaml-dev"
#endif

#include <yaml.h>
