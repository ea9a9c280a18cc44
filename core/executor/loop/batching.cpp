#include "executor/loop/batching.h"

#include <algorithm>

#include "executor/device/device_context.h"

namespace hopscope::executor {

namespace {

constexpr double steadyShare = 0.125;  // of a limit, which applies to the whole process
constexpr double steadyBytes = 0.4e9;  // cpuBatchBytes less a margin for errors of predictions
constexpr double steadyGpuBytes = 2e9;

}  // namespace

std::int64_t steadyBatchBytes(const std::optional<std::int64_t>& limit, const DeviceContext& device)
{
    const auto all = static_cast<double>(limit ? *limit : device.totalMemory());
    const double most = device.gpu() ? steadyGpuBytes : steadyBytes;
    return static_cast<std::int64_t>(all > 0 ? std::min(all * steadyShare, most) : most);
}

MemoryModel::MemoryModel(const LoopProgram& program, bool uploaded)
{
    std::map<ir::RowClass, double> live;
    std::vector<bool> held(program.registers.size(), false);
    const auto add = [&](Register r, double sign) {
        const RegisterInfo& info = program.registers[static_cast<std::size_t>(r)];
        live[info.rows] += sign * info.bytesPerRow;
    };
    const auto make = [&](const Instruction& i) {
        for (Register r : i.outputs) {
            if (!held[static_cast<std::size_t>(r)]) add(r, 1);
            held[static_cast<std::size_t>(r)] = true;
        }
    };
    for (const Instruction& i : program.instructions)
        if (uploaded && (i.act == Act::Read || i.act == Act::Positions)) make(i);
    for (const Instruction& i : program.instructions) {
        make(i);
        m_moments.push_back({{live.begin(), live.end()}});
        for (Register r : i.dead)
            if (held[static_cast<std::size_t>(r)]) add(r, -1);
    }
    if (m_moments.empty()) m_moments.push_back({});
}

double MemoryModel::peak(const CountOf& count) const
{
    double most = 0;
    for (const Moment& moment : m_moments) {
        double bytes = 0;
        for (const auto& [rows, perRow] : moment.perRow) bytes += perRow * count(rows);
        most = std::max(most, bytes);
    }
    return most;
}

BatchSizer BatchSizer::steady(std::optional<std::int64_t> fixed, double budget)
{
    BatchSizer sizer(fixed, budget);
    sizer.m_steady = true;
    sizer.m_share = sizer.m_correction = 1;
    return sizer;
}

std::int64_t BatchSizer::next(std::int64_t left, const std::function<double(std::int64_t)>& cost) const
{
    if (const auto& known = m_fixed ? m_fixed : m_expected) return std::min(*known, left);
    const double most = allowed();
    std::int64_t low = 1, high = m_ceiling > 0 ? std::min(left, m_ceiling) : left;
    while (low < high) {
        const std::int64_t middle = low + (high - low + 1) / 2;
        if (cost(middle) <= most) low = middle;
        else high = middle - 1;
    }
    return low;
}

void BatchSizer::observe(double predicted, double actual)
{
    if (m_steady) return;
    m_share = 0.65;
    if (predicted > 0) m_correction = std::max(m_correction * 0.6, 1.15 * actual / predicted);
    m_correction = std::max(m_correction, 0.5);
    if (m_ceiling > 0) m_ceiling += m_ceiling / 8 + 1;
}

bool BatchSizer::backOff(std::int64_t destinations)
{
    if (destinations <= 1) return false;
    m_ceiling = destinations / 2;
    m_correction *= 1.5;
    if (m_fixed) m_fixed = std::min(*m_fixed, m_ceiling);
    m_expected.reset();
    return true;
}

}  // namespace hopscope::executor
