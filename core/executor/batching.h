#pragma once

// Private to executor: how many destinations a batch takes. Bytes are predicted from the shapes of what is live at once,
// corrected by what earlier batches really took.

#include <functional>
#include <vector>

#include "executor/loop_program.h"

namespace hopscope::executor {

using CountOf = std::function<double(const ir::RowClass&)>;

// Highest number of bytes that the registers of a program hold at once if the classes have these numbers of rows.
class MemoryModel {
public:
    // `uploaded`: all that is read is there before the first instruction, as a GPU's batches have it.
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
    // `fixed`: that many destinations always. `budget`: bytes.
    BatchSizer(std::optional<std::int64_t> fixed, double budget) : m_fixed(fixed), m_budget(budget) {}

    // The largest n <= left with cost(n) within what is allowed now, at least 1. cost is monotonic.
    [[nodiscard]] std::int64_t next(std::int64_t left, const std::function<double(std::int64_t)>& cost) const;
    // A batch of predicted size took `actual` bytes.
    void observe(double predicted, double actual);
    // The batch did not fit: half of it next. False if it was a single destination.
    bool backOff(std::int64_t destinations);

private:
    std::optional<std::int64_t> m_fixed;
    double m_budget;
    double m_correction = 1.5;   // bytes taken per byte predicted, at most
    double m_share = 0.125;      // of the budget: begins small, grows with experience
    std::int64_t m_ceiling = 0;  // 0: none
};

}  // namespace hopscope::executor
