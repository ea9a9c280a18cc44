#include "executor/batch/row_dots_run.h"

#include <algorithm>

#include <ATen/Parallel.h>

#include "executor/program/fuse.h"
#include "kernels/row_dots.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t leastRows = 1024;  // that are worth a thread

}  // namespace

at::Tensor runRowDots(const Instruction& instruction, const analysis::Analysis& analysis, const at::Tensor& a,
                      const at::Tensor& b, std::int64_t rows, bool alone)
{
    std::vector<std::int64_t> shape = rowShape(analysis, analysis.program.op(instruction.op).outputs[0]);
    shape.insert(shape.begin(), rows);
    at::Tensor out = at::empty(shape, a.options());
    if (out.numel() == 0) return out;
    const at::Tensor first = a.contiguous(), second = b.contiguous();
    const auto stride = [&](std::size_t operand, const at::Tensor& t) {
        return instruction.operands[operand].kind == Operand::Whole ? 0 : t.numel() / rows;
    };
    kernels::RowDots dots{.a = first.const_data_ptr<float>(),
                          .b = second.const_data_ptr<float>(),
                          .strideA = stride(0, first),
                          .strideB = stride(1, second),
                          .out = out.mutable_data_ptr<float>(),
                          .parts = out.numel() / rows};
    dots.part = std::max(dots.strideA, dots.strideB) / dots.parts;
    const auto work = [&](std::int64_t from, std::int64_t to) { kernels::rowDotsCpu(dots, from, to); };
    if (alone) work(0, rows);
    else at::parallel_for(0, rows, leastRows, work);
    return out;
}

}  // namespace hopscope::executor
