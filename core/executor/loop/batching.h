#pragma once

// Private to executor: chooses the number of destinations in a batch. The memory of a batch is predicted from the
// shapes of the values that are live at the same time, and corrected by the memory that earlier batches used.

#include <functional>
#include <vector>

#include "executor/program/loop_program.h"

namespace hopscope::executor {

class DeviceContext;

// Returns the bytes of a batch in tiles of fixed size, which are the same in every process with the same limit on this machine
// and a device of this model.
std::int64_t steadyBatchBytes(const std::optional<std::int64_t>& limit, const DeviceContext& device);

using CountOf = std::function<double(const ir::RowClass&)>;

// The peak memory of a program's registers, in bytes, as a function of the number of rows of each row class.
class MemoryModel {
public:
    // If `uploaded`, everything is read before the first instruction, as on a GPU.
    explicit MemoryModel(const LoopProgram& program, bool uploaded = false);
    [[nodiscard]] double peak(const CountOf& count) const;

private:
    struct Moment {
        std::vector<std::pair<ir::RowClass, double>> perRow;  // live bytes per row of each class
    };
    std::vector<Moment> m_moments;
};

class BatchSizer {
public:
    // If `fixed` is set, every batch has this number of destinations. `budget` is in bytes.
    BatchSizer(std::optional<std::int64_t> fixed, double budget) : m_fixed(fixed), m_budget(budget) {}
    // Returns a sizer that chooses the same batches in any process, provided that they fit: it does not correct
    // predictions.
    static BatchSizer steady(std::optional<std::int64_t> fixed, double budget);

    // Sets the number of destinations of batches that are known to fit. It is used until a batch does not fit.
    void expect(std::int64_t destinations) { m_expected = destinations; }

    // Returns the largest n <= left whose predicted bytes, cost(n), are within the current limit, but at least 1.
    // `cost` must be monotonic.
    [[nodiscard]] std::int64_t next(std::int64_t left, const std::function<double(std::int64_t)>& cost) const;
    // Returns the predicted bytes that a batch may have.
    [[nodiscard]] double allowed() const { return m_budget * m_share / m_correction; }
    // Takes the predicted and actual bytes of a batch. Call it after each one.
    void observe(double predicted, double actual);
    // Halves the limit after a batch has run out of memory. Returns false if it had a single destination.
    bool backOff(std::int64_t destinations);

private:
    std::optional<std::int64_t> m_fixed, m_expected;
    double m_budget;
    bool m_steady = false;
    double m_correction = 1.5;   // actual bytes per predicted byte, with a margin
    double m_share = 0.125;      // share of the budget that a batch may use: small for the first one
    std::int64_t m_ceiling = 0;  // destinations; 0: none
};

}  // namespace hopscope::executor
