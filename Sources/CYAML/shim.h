#pragma once

#if !__has_include(<yaml.h>)
#error "install libyaml-dev"
#endif

#include <yaml.h>
