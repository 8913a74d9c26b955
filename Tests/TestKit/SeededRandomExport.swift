// The generator is a module of its own, as a release that is linked statically has no Foundation,
// which this one imports.
@_exported public import SeededRandom
