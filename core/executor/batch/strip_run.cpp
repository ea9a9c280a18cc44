#include "executor/batch/strip_run.h"

#include <algorithm>

#include <ATen/Parallel.h>

#include "executor/batch/segment_run.h"
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
    Run(const StripInputs& in, const analysis::Analysis& analysis)
        : m_in(in),
          m_program(in.part.program),
          m_analysis(analysis),
          m_options(at::TensorOptions().dtype(scalarType(in.part.program.element))),
          m_destinations(in.offsets.numel() - 1)
    {
        m_arguments.offsets = index(in.offsets);
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
        t.first = alongEdges ? m_arguments.offsets[0] : 0;
        t.columns = index(m_in.columns[at]);
        return t;
    }

    const StripInputs& m_in;
    const kernels::StripProgram& m_program;
    const analysis::Analysis& m_analysis;
    at::TensorOptions m_options;
    std::int64_t m_destinations;
    kernels::StripArguments m_arguments;
    std::vector<at::Tensor> m_held;
};

}  // namespace

std::vector<at::Tensor> runStrips(const StripInputs& inputs, const analysis::Analysis& analysis)
{
    Run run(inputs, analysis);
    std::vector<at::Tensor> results = run.outputs();
    run.compute();
    return results;
}

}  // namespace hopscope::executor
