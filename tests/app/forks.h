#pragma once

namespace hopscope::engine {

using Program = int (*)(int count, char** arguments);

// Takes requests (engine_process.py makes them) from a socket on standard input until its other end is closed, and carries out
// each in a fork, which is as a process that has just been started: arguments, environment, folder and standard streams are
// those of the request. To be called before the process has threads. Gives the exit code.
int serveForks(Program program);

// The engine, or hopscope-bench where that is the name it is started by.
int engineOrBench(int count, char** arguments);

}  // namespace hopscope::engine
