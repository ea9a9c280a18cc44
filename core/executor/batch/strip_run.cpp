#include "executor/batch/strip_run.h"

#include <algorithm>

#include <ATen/Parallel.h>

#include "executor/batch/segment_run.h"
#include "executor/device/accelerator.h"
#include "executor/program/fuse.h"

namespace hopscope::executor {

namespace {

at::ScalarType scalarType(kernels::StripElement element)
{
    switch (element) {
    case kernels::StripElement::Float64: return at::kDouble;
    case kernels::StripElement::Float16: return at::kHalf;
    case kernels::StripElement::BFloat16: return at::kBFloat16;
    case kernels::StripElement::Float32: break;
    }
    return at::kFloat;
}

// Elements of a row follow each other.
at::Tensor inRows(const at::Tensor& table, kernels::StripRows rows)
{
    if (rows == kernels::StripRows::Single) return table.contiguous();
    return table.size(0) == 0 || table.select(0, 0).is_contiguous() ? table : table.contiguous();
}

class Run {
public:
    Run(const StripInputs& in, const Session& session)
        : m_in(in),
          m_program(in.part.program),
          m_analysis(session.analysis),
          m_options(rowOptions(in)),
          m_destinations(in.offsets.numel() - 1)
    {
        m_arguments.offsets = index(in.offsets);
        m_first = in.offsets.is_cpu() ? m_arguments.offsets[0] : in.first;
        for (std::size_t t = 0; t < in.tables.size(); ++t) m_arguments.tables.push_back(table(t));
    }

    std::vector<at::Tensor> outputs()
    {
        std::map<int, at::Tensor> buffers;
        m_arguments.out.resize(m_program.destinations.size(), nullptr);
        std::vector<at::Tensor> results;
        for (const auto& [value, at] : m_in.part.outputs) {
            at::Tensor& buffer = buffers[at];
            if (!buffer.defined())
                buffer = at::empty({m_destinations, m_program.destinations[static_cast<std::size_t>(at)]}, m_options);
            m_arguments.out[static_cast<std::size_t>(at)] = buffer.mutable_data_ptr();
            std::vector<std::int64_t> shape = rowShape(m_analysis, value);
            shape.insert(shape.begin(), m_destinations);
            results.push_back(buffer.view(shape));
        }
        return results;
    }

    void compute() const
    {
        const std::int64_t each = (kernels::stripScratchBytes(m_program) + 63) / 64 * 64;
        const std::int64_t threads = m_in.alone ? 1 : at::get_num_threads();
        at::Tensor scratch = at::empty({threads * each}, at::kByte);
        auto* const memory = static_cast<std::byte*>(scratch.mutable_data_ptr());
        if (m_in.alone) return kernels::stripCpu(m_program, m_arguments, 0, m_destinations, memory);
        const std::int64_t widest = std::ranges::max(m_program.tableWidths);
        inShares(m_arguments.offsets, m_destinations, widest, [&](std::int64_t first, std::int64_t last) {
            kernels::stripCpu(m_program, m_arguments, first, last, memory + at::get_thread_num() * each);
        });
    }

    // False if the kernels cannot run on this GPU.
    bool computeThere(Session& session)
    {
        kernels::StripArguments& a = m_arguments;
        const auto divided = [](const kernels::StripTable& t) { return t.host.places != nullptr; };
        if (std::ranges::count_if(a.tables, divided) > kernels::kStripHosts) return false;
        a.destinations = m_destinations;
        if (m_in.pieces.defined()) {
            a.pieces = static_cast<const kernels::HubPiece*>(m_in.pieces.const_data_ptr());
            a.pieceFirst = m_in.pieceFirst;
            a.pieceCount = m_in.pieces.numel() / static_cast<std::int64_t>(sizeof(kernels::HubPiece));
        }
        a.edges = m_in.messages;
        const at::Tensor work =
            at::empty({kernels::stripWorkBytes(m_program, a.pieceCount, a.edges)}, m_options.dtype(at::kByte));
        a.work = static_cast<std::byte*>(work.mutable_data_ptr());
        checkCurrent(session.device.device());
        return launched(accelerator().strips(m_program, a, session.device.stream(Lane::Compute)), session);
    }

private:
    kernels::StripTable table(std::size_t at)
    {
        const StripTableSource& source = m_in.part.tables[at];
        const bool number = !source.value.valid();
        m_held.push_back(number ? at::full({1}, source.number, m_options) : inRows(m_in.tables[at], source.rows));
        const at::Tensor& rows = m_held.back();
        kernels::StripTable t;
        t.data = rows.const_data_ptr();
        const bool apart = source.rows != kernels::StripRows::Single && rows.size(0) > 1;
        t.stride = apart ? rows.stride(0) : m_program.tableWidths[at];
        const bool alongEdges = source.rows == kernels::StripRows::Edges || source.rows == kernels::StripRows::Gathered;
        t.first = alongEdges ? m_first : 0;
        t.columns = index(m_in.columns[at]);
        if (!m_in.divided.empty()) t.host = hostRows(m_in.divided[at]);
        return t;
    }

    const StripInputs& m_in;
    const kernels::StripProgram& m_program;
    const analysis::Analysis& m_analysis;
    at::TensorOptions m_options;
    std::int64_t m_destinations, m_first = 0;
    kernels::StripArguments m_arguments;
    std::vector<at::Tensor> m_held;
};

}  // namespace

at::TensorOptions rowOptions(const StripInputs& inputs)
{
    return at::TensorOptions().dtype(scalarType(inputs.part.program.element)).device(inputs.offsets.device());
}

std::vector<at::Tensor> runStrips(const StripInputs& inputs, Session& session)
{
    Run run(inputs, session);
    std::vector<at::Tensor> results = run.outputs();
    if (!session.device.gpu()) run.compute();
    else if (!run.computeThere(session)) return runSteps(inputs, session);
    return results;
}

}  // namespace hopscope::executor
