// Statements of exported code, run as TorchScript, against what they stand for.

#include <torch/csrc/jit/api/module.h>

#include <doctest/doctest.h>

#include <algorithm>

#include "analysis/analyse.h"
#include "export/context.h"
#include "export/loop_writer.h"
#include "support/program_text.h"

using namespace hopscope;
using exporter::Text;

namespace {

analysis::Analysis analysed(const std::string& text)
{
    const auto drawn = test::drawProgram(text);
    analysis::Analysis a = analysis::analyse(drawn.program, drawn.schema);
    if (a.refusal) FAIL(base::describe(*a.refusal));
    return a;
}

const ir::Op& operatorOf(const analysis::Analysis& a, const std::string& name)
{
    const auto found = std::ranges::find(a.program.ops, name, &ir::Op::name);
    REQUIRE(found != a.program.ops.end());
    return *found;
}

// Operands are called a, b, c in their order; the table has `rows` rows.
exporter::Surroundings surroundings()
{
    const exporter::SizeText rows = [](ir::SpaceId) { return Text("rows"); };
    return {
        .operand = [](ir::Slot slot, ir::ValueId) { return Text(std::string(1, static_cast<char>('a' + slot.arg))); },
        .local = rows,
        .global = rows,
        .item = [](ir::ValueId) { return std::string("item"); }};
}

// What the statements compute, and then the result, for these parameters.
c10::IValue run(const std::string& parameters, const exporter::Method& method, const std::string& result,
                std::vector<c10::IValue> arguments)
{
    std::string source = "def f(self, " + parameters + "):\n";
    for (const exporter::Statement& s : method.statements())
        source += "    " + s.targets.at(0) + " = " + s.value.script + "\n";
    torch::jit::Module module("__torch__.Code");
    module.define(source + "    return " + result + "\n");
    return module.get_method("f")(std::move(arguments));
}

at::Tensor runOperator(const analysis::Analysis& a, const ir::Op& op, const std::vector<at::Tensor>& operands)
{
    const analysis::ValueNames names(a);
    exporter::Method method("f");
    const std::string result = exporter::CallWriter(a, names).write(method, op, surroundings()).at(0);
    std::string parameters = "device: Device";
    std::vector<c10::IValue> arguments{at::Device(at::kCPU)};
    for (std::size_t i = 0; i < operands.size(); ++i) {
        parameters += std::string(", ") + static_cast<char>('a' + i) + ": Tensor";
        arguments.emplace_back(operands[i]);
    }
    return run(parameters, method, result, std::move(arguments)).toTensor();
}

}  // namespace

TEST_CASE("a size is computed from the tables and the constant that it is made of")
{
    const auto sizeOf = [](const std::string& lines, std::int64_t rows) {
        const analysis::Analysis a = analysed("x = node f[7,4]\nn = scalar::size(self=x, dim=0) -> n7\n" + lines +
                                              "r = aten::add.Scalar(self=x, other=k, alpha=1) -> f[7,4]\nout = r\n");
        const ir::Arg size = operatorOf(a, "aten::add").args.at(1);
        const exporter::Numbers numbers(a, [](ir::ValueId) { return std::string("item"); });
        const Text text = numbers.argument(size, surroundings().global).text;
        return run("rows: int", exporter::Method("f"), text.script, {rows}).toInt();
    };
    CHECK(sizeOf("k = scalar::sub(a=n, b=3) -> n4\n", 100) == 97);
    CHECK(sizeOf("k = scalar::add(a=n, b=5) -> n12\n", 100) == 105);
    CHECK(sizeOf("d = scalar::mul(a=n, b=2) -> n14\nk = scalar::sub(a=d, b=10) -> n4\n", 100) == 190);
    CHECK(sizeOf("d = scalar::sub(a=n, b=n) -> n0\nk = scalar::add(a=d, b=4) -> n4\n", 100) == 4);
}

TEST_CASE("groups are padded with zeros to one width, and longer groups are cut")
{
    constexpr std::int64_t width = 2;
    const analysis::Analysis a = analysed(R"(
x = node f[7,4]
counts = key i[7]
e = index i[2,9]
ea = edge:e f[9,5]
dst = aten::select(self=e, dim=0, index=1) -> i[9]
r = hopscope::pad_groups(counts=counts, index=dst, src=ea, width=2) -> f[7,2,5]
out = r
)");
    const at::Tensor groups = at::tensor(std::vector<std::int64_t>{3, 0, 0, 2, 0, 3, 0, 2}),
                     messages = at::randn({8, 5});
    at::Tensor expected = at::zeros({4, width, 5});
    std::vector<std::int64_t> filled(4, 0);
    for (std::int64_t m = 0; m < 8; ++m) {
        const std::int64_t group = groups[m].item<std::int64_t>();
        if (std::int64_t& place = filled[static_cast<std::size_t>(group)]; place < width)
            expected[group][place++].copy_(messages[m]);
    }
    const ir::Op& op = operatorOf(a, "hopscope::pad_groups");
    CHECK(at::equal(runOperator(a, op, {at::zeros({4}, at::kLong), groups, messages}), expected));
}

TEST_CASE("a variance over all rows is merged with the correction that the model asks for")
{
    for (const std::string correction : {"0", "1", "2"}) {
        CAPTURE(correction);
        const analysis::Analysis a =
            analysed("x = node f[7,4]\nv = aten::var.correction(self=x, dim=[0], correction=" + correction +
                     ", keepdim=true) -> f[1,4]\n" + "y = aten::mul.Tensor(self=x, other=v) -> f[7,4]\nout = y\n");
        exporter::Method method("f");
        schema::CodeMerge merge;
        exporter::contributionText(a, operatorOf(a, "aten::var"), surroundings(), method, {}, merge);
        CHECK(merge.kind == schema::MergeKind::Var);
        CHECK(merge.correction == std::stod(correction));
        CHECK(merge.perRow == 1);
    }
}
