// The parts of a program that the processor has forgotten while the program slept.
//
// What a key runs and reads would be loaded line by line, each when it is needed, and this took more
// time than running it. So all that is known to be needed is asked for right after a wake-up.
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
