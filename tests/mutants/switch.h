#pragma once

// The switches that mutants.py writes into its copy of the sources: isOn<NUMBER>() is true in a process with
// HOPSCOPE_MUTANT=NUMBER in its environment. With HOPSCOPE_MUTANT_TRACE=FOLDER, every switch that is reached leaves an
// empty file of its number there, at once, however the process or its children end.

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>

namespace hopscope::mutants {

#ifdef __CUDACC__  // nvcc cannot switch: the compiler of the host takes kernels as well
template <unsigned long>
__host__ __device__ constexpr bool isOn()
{
    return false;
}
#else
// 0: all are off.
inline unsigned long numberOn()
{
    static const unsigned long number = [] {
        const char* const text = std::getenv("HOPSCOPE_MUTANT");
        return text != nullptr ? std::strtoul(text, nullptr, 10) : 0UL;
    }();
    return number;
}

inline const char* traceFolder()
{
    static const char* const folder = std::getenv("HOPSCOPE_MUTANT_TRACE");
    return folder;
}

inline void leaveTrace(unsigned long number)
{
    const int before = errno;
    const std::string file = traceFolder() + ("/" + std::to_string(number));
    const int made = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (made >= 0) ::close(made);
    errno = before;
}

template <unsigned long number>
inline std::atomic<bool> reached = false;

template <unsigned long number>
bool isOn()
{
    if (traceFolder() != nullptr && !reached<number>.exchange(true, std::memory_order_relaxed)) leaveTrace(number);
    return numberOn() == number;
}
#endif

}  // namespace hopscope::mutants
