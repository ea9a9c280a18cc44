#pragma once

// The figures of a stage: the measured costs of its run. The executor measures them; reports, the terminal, the window
// and the Python package read the table below. A new figure consists of a member, a line of the table, and the code
// that measures it.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/describe.h"
#include "base/names.h"
#include "plan/plan.h"

namespace hopscope::plan {

struct PhaseSeconds {
    double block = 0, gather = 0, h2d = 0, compute = 0, d2h = 0, write = 0;

    // Returns the seconds of a phase, by its position in namedPhases.
    double& operator[](std::size_t phase);
    double operator[](std::size_t phase) const;
    [[nodiscard]] double sum() const;
    bool operator==(const PhaseSeconds&) const = default;
};

// The phases of a batch in order, with their names in documents and messages.
struct NamedPhase {
    const char* name;
    double PhaseSeconds::*seconds;
};
inline constexpr std::array<NamedPhase, 6> namedPhases{{{"block", &PhaseSeconds::block},
                                                        {"gather", &PhaseSeconds::gather},
                                                        {"h2d", &PhaseSeconds::h2d},
                                                        {"compute", &PhaseSeconds::compute},
                                                        {"d2h", &PhaseSeconds::d2h},
                                                        {"write", &PhaseSeconds::write}}};
// The phases by their positions in namedPhases.
enum class Phase : std::uint8_t { Block, Gather, HostToDevice, Compute, DeviceToHost, Write };
inline constexpr int phaseCount = static_cast<int>(namedPhases.size());

inline double& PhaseSeconds::operator[](std::size_t phase) { return this->*namedPhases[phase].seconds; }
inline double PhaseSeconds::operator[](std::size_t phase) const { return this->*namedPhases[phase].seconds; }

constexpr auto namesOf(Phase)
{
    std::array<base::Named<Phase>, namedPhases.size()> names{};
    for (std::size_t at = 0; at < names.size(); ++at) names[at] = {static_cast<Phase>(at), namedPhases[at].name};
    return names;
}

template <std::same_as<PhaseSeconds> T>
constexpr auto fieldsOf(const T*)
{
    const auto phase = [](std::size_t at, const char* meaning) {
        return base::field(namedPhases[at].name, namedPhases[at].seconds, meaning, base::Quantity::Seconds);
    };
    return base::described("phases", phase(0, "edges and frontier of a batch"), phase(1, "rows from stores"),
                           phase(2, "to the device"), phase(3, "computing"), phase(4, "back to the host"),
                           phase(5, "into stores"));
}

struct StageFigures {
    double seconds = 0;
    PhaseSeconds phases{};
    std::int64_t batches = 0, smallestBatch = 0, largestBatch = 0, destinations = 0, frontierRows = 0, backOffs = 0;
    Bytes bytes{};
    std::int64_t peakMemory = 0;
    std::optional<std::int64_t> reservedMemory{};
    std::int64_t windows = 0, fileBytes = 0, hostReads = 0;
    std::optional<double> coreSeconds{}, overlap{};

    bool operator==(const StageFigures&) const = default;
};

// The rule that combines a figure of several batches. OfStage: the figure is measured for the whole stage, not for
// batches.
enum class Merge : std::uint8_t { Sum, Most, Least, OfStage };

template <class M>
struct Figure : base::Field<StageFigures, M> {
    Merge merge;
    const char* label;  // heading of its column or line; empty: tables show it together with other figures

    using base::Field<StageFigures, M>::take;
    constexpr void take(const char* text) { label = text; }
};

// Describes a figure. `traits`, all optional: a Quantity, a Presence, a label.
template <class M, class... Traits>
constexpr Figure<M> figure(const char* name, M StageFigures::*member, Merge merge, const char* meaning,
                           Traits... traits)
{
    Figure<M> made{{{name, meaning}, member}, merge, ""};
    (made.take(traits), ...);
    return made;
}

template <std::same_as<StageFigures> T>
constexpr auto fieldsOf(const T*)
{
    using base::Quantity, base::Presence;
    return base::described(
        "figures", figure("seconds", &T::seconds, Merge::OfStage, "duration", Quantity::Seconds),
        figure("phases", &T::phases, Merge::Sum,
               "seconds. On a GPU batches overlap, and the phases can add up to more than the duration of the stage. "
               "The cores of a CPU that compute tiles side by side count together: a second of each of two cores is "
               "one second"),
        figure("batches", &T::batches, Merge::Sum, "their number; tiles count as batches", Quantity::Count),
        figure("smallest_batch", &T::smallestBatch, Merge::Least, "destinations", Quantity::Count),
        figure("largest_batch", &T::largestBatch, Merge::Most, "destinations", Quantity::Count),
        figure("destinations", &T::destinations, Merge::Sum, "sum over the batches", Quantity::Count),
        figure("frontier_rows", &T::frontierRows, Merge::Sum, "sum over the batches", Quantity::Count),
        figure("bytes", &T::bytes, Merge::Sum,
               "numbers of rows along an adjacency count 4 bytes each where 32 bits are enough. On a CPU, reads from "
               "and writes to stores are counted in the same way; a table that tiles read in place counts once per "
               "loop"),
        figure("peak_memory", &T::peakMemory, Merge::Most,
               "maximum number of bytes allocated for tensors on the device", Quantity::Bytes, "peak memory"),
        figure("overlap", &T::overlap, Merge::OfStage,
               "on a GPU: the time during which it copied and computed simultaneously, as a share (0 to 1) of the "
               "shorter of the two; with less copying than computation, 0.92 means that 92 % of the copying was hidden "
               "behind computation. Null on a CPU, where nothing is copied",
               Quantity::Ratio, Presence::Later, "overlap"),
        figure("reserved_memory", &T::reservedMemory, Merge::Most,
               "on a GPU: maximum number of bytes that the allocator reserved from the driver, including its cache; "
               "null on a CPU",
               Quantity::Bytes, Presence::Later, "reserved"),
        figure("core_seconds", &T::coreSeconds, Merge::OfStage,
               "total time that all cores of the CPU worked for the program during the stage", Quantity::Seconds,
               Presence::Later, "core time"),
        figure("back_offs", &T::backOffs, Merge::Sum,
               "batches that ran out of memory and were repeated, with fewer rows or while no other batch ran",
               Quantity::Count, "repeated"),
        figure("windows", &T::windows, Merge::Sum,
               "where tables and results did not fit into the memory of a CPU: the windows in which the loops were "
               "computed; 0 elsewhere",
               Quantity::Count, Presence::Later, "windows"),
        figure("file_bytes", &T::fileBytes, Merge::Sum, "bytes that these windows read from files", Quantity::Bytes,
               Presence::Later, "from files"),
        figure("host_reads", &T::hostReads, Merge::Sum,
               "on a GPU: bytes of rows that kernels read from pinned memory of the host", Quantity::Bytes,
               Presence::Later, "read by kernels"));
}

PhaseSeconds& operator+=(PhaseSeconds& into, const PhaseSeconds& later);

// Combines figures of batches by their Merge rules; those of a whole stage remain unchanged.
StageFigures& operator+=(StageFigures& into, const StageFigures& later);

// Calls visit(figure, value) for each figure that has a label. The value is nullopt for optional figures that are null
// and for other figures that are zero.
template <class Visit>
void forEachLabelled(const StageFigures& figures, Visit&& visit)
{
    base::forEachField<StageFigures>([&]<class M>(const Figure<M>& figure) {
        if (*figure.label == '\0') return;
        if constexpr (std::convertible_to<M, double>) {
            const auto number = static_cast<double>(figures.*figure.member);
            visit(figure, number != 0 ? std::optional(number) : std::nullopt);
        } else if constexpr (std::convertible_to<M, std::optional<double>>) {
            visit(figure, std::optional<double>(figures.*figure.member));
        }
    });
}

// The figures that are predicted before a run.
struct StagePrediction {
    double seconds = 0;
    Bytes bytes;
    std::int64_t peakMemory = 0, batches = 0, destinations = 0, frontierRows = 0;
    bool operator==(const StagePrediction&) const = default;
};

template <std::same_as<StagePrediction> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described("predicted", field("seconds", &T::seconds, "", Quantity::Seconds),
                           field("bytes", &T::bytes, ""), field("peak_memory", &T::peakMemory, "", Quantity::Bytes),
                           field("batches", &T::batches, "", Quantity::Count),
                           field("destinations", &T::destinations, "", Quantity::Count),
                           field("frontier_rows", &T::frontierRows, "", Quantity::Count));
}

}  // namespace hopscope::plan
