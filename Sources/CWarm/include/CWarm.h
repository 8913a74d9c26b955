// Code that the processor has forgotten while a program slept.
//
// What a key runs is read from memory line by line, each after the one before it was run, and this
// took more time than running it. The linker places it together (packaging/order), so that it can
// be asked for at once, right after the program has woken up.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// Begins to load what follows a key of the terminal.
void cwarm_input(void);

/// Begins to load what follows a message from another process.
void cwarm_message(void);

#ifdef __cplusplus
}
#endif
