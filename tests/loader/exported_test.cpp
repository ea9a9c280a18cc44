#include <doctest/doctest.h>

#include <array>
#include <cstring>

#include "loader/archive/archive.h"
#include "loader/torch_model.h"
#include "support/temporary_folder.h"

using namespace hopscope;

namespace {

// forward(x) of a module with a linear layer: relu(x) @ weight.T, and the number of rows in a dictionary. The weight is stored
// by columns behind one number that is not its own.
const std::string program = R"~({"graph_module": {
 "graph": {
  "inputs": [], "outputs": [], "sym_int_values": {}, "sym_bool_values": {},
  "nodes": [
   {"target": "torch.ops.aten.sym_size.int", "name": "rows",
    "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}, {"name": "dim", "arg": {"as_int": 0}, "kind": 1}],
    "outputs": [{"as_sym_int": {"as_name": "rows"}}], "metadata": {}},
   {"target": "_operator.ge", "name": "ge",
    "inputs": [{"name": "a", "arg": {"as_sym_int": {"as_name": "rows"}}, "kind": 1}, {"name": "b", "arg": {"as_int": 0}, "kind": 1}],
    "outputs": [{"as_sym_bool": {"as_name": "ge"}}], "metadata": {}},
   {"target": "torch.ops.aten._assert_scalar.default", "name": "check",
    "inputs": [{"name": "self", "arg": {"as_sym_bool": {"as_name": "ge"}}, "kind": 1},
               {"name": "assert_msg", "arg": {"as_string": "no rows"}, "kind": 1}],
    "outputs": [], "metadata": {}},
   {"target": "torch.ops.aten.relu.default", "name": "relu",
    "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}],
    "outputs": [{"as_tensor": {"name": "relu"}}],
    "metadata": {"nn_module_stack": "L__self__,,model.Net",
                 "stack_trace": "  File \"/home/me/model.py\", line 7, in forward\n    x = x.relu()"}},
   {"target": "torch.ops.aten.linear.default", "name": "linear",
    "inputs": [{"name": "input", "arg": {"as_tensor": {"name": "relu"}}, "kind": 1},
               {"name": "weight", "arg": {"as_tensor": {"name": "p_weight"}}, "kind": 1}],
    "outputs": [{"as_tensor": {"name": "linear"}}],
    "metadata": {"nn_module_stack": "L__self__,,model.Net;L__self___lin,lin,torch.nn.modules.linear.Linear",
                 "stack_trace": "  File \"/home/me/model.py\", line 8, in forward\n    return self.lin(x)\n  File \"/usr/lib/python3/dist-packages/torch/nn/modules/linear.py\", line 134, in forward\n    return F.linear(input)"}}],
  "tensor_values": {"x": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", "hint": null}}, {"as_int": 2}],
   "requires_grad": false, "device": {"type": "cpu", "index": null}, "strides": [], "storage_offset": {"as_int": 0}, "layout": 7}}},
 "signature": {
  "input_specs": [{"parameter": {"arg": {"name": "p_weight"}, "parameter_name": "lin.weight"}},
                  {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
  "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "linear"}}}},
                   {"user_output": {"arg": {"as_sym_int": {"as_name": "rows"}}}}]},
 "module_call_graph": [{"fqn": "", "signature": {"inputs": [], "outputs": [],
  "in_spec": "[1, {\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": [{\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": [{\"type\": \"builtins.dict\", \"context\": \"[\\\"user\\\"]\", \"children_spec\": [{\"type\": null, \"context\": null, \"children_spec\": []}]}]}, {\"type\": \"builtins.dict\", \"context\": \"[]\", \"children_spec\": []}]}]",
  "out_spec": "[1, {\"type\": \"builtins.dict\", \"context\": \"[\\\"h\\\", \\\"n\\\"]\", \"children_spec\": [{\"type\": null, \"context\": null, \"children_spec\": []}, {\"type\": null, \"context\": null, \"children_spec\": []}]}]",
  "forward_arg_names": ["x_dict"]}}]},
 "opset_version": {"aten": 10}, "range_constraints": {"s0": {"min_val": 2, "max_val": null}},
 "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"], "torch_version": "2.13.0", "guards_code": [], "later": 1})~";

const std::string weights =
    R"({"config": {"lin.weight": {"path_name": "weight_0", "is_param": true, "use_pickle": false,
 "tensor_meta": {"dtype": 7, "sizes": [{"as_int": 3}, {"as_int": 2}], "requires_grad": true, "device": {"type": "cuda", "index": 0},
  "strides": [{"as_int": 1}, {"as_int": 3}], "storage_offset": {"as_int": 1}, "layout": 7}}}})";

using Change = std::array<std::string, 2>;  // a part of the JSON, and what stands there instead

std::string changed(std::string text, const std::vector<Change>& changes)
{
    for (const auto& [from, to] : changes)
        if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
    return text;
}

struct Written {
    test::TemporaryFolder folder;
    std::string path = folder.path + "/program.bin";

    explicit Written(const std::vector<Change>& changes = {})
    {
        const std::array<float, 7> numbers{99, 1, 2, 3, 10, 20, 30};
        const std::string model = changed(program, changes), table = changed(weights, changes);
        for (const auto& [from, to] : changes) REQUIRE((program + weights).find(from) != std::string::npos);
        REQUIRE(loader::writeArchive(
            path, {{"p/archive_format", "pt2"},
                   {"p/models/model.json", model},
                   {"p/data/weights/model_weights_config.json", table},
                   {"p/data/weights/weight_0", {reinterpret_cast<const char*>(numbers.data()), sizeof numbers}},
                   {"p/data/sample_inputs/model.pt", "a pickle that is left alone"}}));
    }
    [[nodiscard]] base::Result<loader::Model> load() const { return loader::load(path); }
};

loader::Model loaded(const std::vector<Change>& changes = {})
{
    auto model = Written(changes).load();
    if (!model) FAIL(base::describe(model.error()));
    return *model;
}

base::TensorMap rows(const at::Tensor& x) { return {{"x_dict.user", loader::toView(x)}}; }

void expectRefused(const std::vector<Change>& changes, base::ErrorCode code, const std::string& words)
{
    const auto model = Written(changes).load();
    INFO(words);
    REQUIRE_FALSE(model);
    INFO(base::describe(model.error()));
    CHECK(model.error().code == code);
    CHECK(base::describe(model.error()).find(words) != std::string::npos);
    CHECK_FALSE(model.error().hint.empty());
}

}  // namespace

TEST_CASE("An exported program computes what its nodes say, with weights by their strides")
{
    const loader::Model model = loaded();
    const at::Tensor x = at::tensor({1.0F, 2.0F, -5.0F, 1.0F}).reshape({2, 2});
    const auto inputs = loader::assembleInputs(model, rows(x));
    REQUIRE(inputs);
    torch::jit::Module module = model.impl().module;
    const auto outputs = loader::flattenOutputs(module.forward(*inputs));
    REQUIRE(outputs);
    REQUIRE(outputs->size() == 2);
    CHECK(outputs->at(0).first == "out.h");
    CHECK(at::equal(outputs->at(0).second, at::tensor({21.0F, 42.0F, 63.0F, 10.0F, 20.0F, 30.0F}).reshape({2, 3})));
    CHECK(outputs->at(1).first == "out.n");
    CHECK(outputs->at(1).second.item<std::int64_t>() == 2);
}

TEST_CASE("An exported program tells its arguments, modules and lines")
{
    const loader::Model model = loaded();
    CHECK(model.info().exported);
    CHECK(model.info().className == "Net");
    REQUIRE(model.info().arguments.size() == 1);
    CHECK(model.info().arguments[0].name == "x_dict.user");
    REQUIRE(model.info().parameters.size() == 1);
    CHECK(model.info().parameters[0].name == "lin.weight");
    const auto walk = loader::walk(model, rows(at::ones({4, 2})));
    if (!walk) FAIL(base::describe(walk.error()));
    CHECK(walk->program.guards.empty());
    const ir::Op& linear = walk->program.ops.back();
    CHECK(linear.name == "aten::linear");
    CHECK(ir::modulePath(linear.modules) == "lin");
    CHECK(linear.modules[0].type == "Linear");
    CHECK(ir::describeSource(linear.source).find("model.py:8") != std::string::npos);
    const auto text = loader::findSource(model, linear);
    CHECK_FALSE(text.python);
    CHECK_FALSE(text.torchScript);
    CHECK(linear.source.text == "return self.lin(x)");
}

TEST_CASE("Unsupported parts of an exported program are refused by name")
{
    using base::ErrorCode;
    expectRefused({{"\"major\": 8", "\"major\": 9"}}, ErrorCode::Unsupported, "version 9.20");
    expectRefused({{"torch.ops.aten.relu.default", "torch.ops.higher_order.cond"}}, ErrorCode::Unsupported,
                  "higher-order operator cond");
    expectRefused({{"torch.ops.aten.relu.default", "torch.ops.mylib.twice.default"}}, ErrorCode::Unsupported,
                  "mylib::twice");
    const Change decomposed{R"(relu.default", "name": "relu",
    "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}],
    "outputs": [{"as_tensor": {"name": "relu"}}],)",
                            R"(native_group_norm.default", "name": "relu",
    "inputs": [{"name": "input", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
               {"name": "weight", "arg": {"as_none": true}, "kind": 1}, {"name": "bias", "arg": {"as_none": true}, "kind": 1},
               {"name": "N", "arg": {"as_int": 2}, "kind": 1}, {"name": "C", "arg": {"as_int": 2}, "kind": 1},
               {"name": "HxW", "arg": {"as_int": 1}, "kind": 1}, {"name": "group", "arg": {"as_int": 1}, "kind": 1},
               {"name": "eps", "arg": {"as_float": 1e-5}, "kind": 1}],
    "outputs": [{"as_tensor": {"name": "norm"}}, {"as_tensor": {"name": "relu"}}, {"as_tensor": {"name": "rstd"}}],)"};
    expectRefused({decomposed}, ErrorCode::Unsupported, "the statistic 'relu'");
    expectRefused({{"_operator.ge", "_operator.matmul"}}, ErrorCode::Unsupported, "_operator.matmul");
    expectRefused({{"{\"user_output\": {\"arg\": {\"as_tensor\"", "{\"buffer_mutation\": {\"arg\": {\"as_tensor\""}},
                  ErrorCode::Unsupported, "buffer_mutation");
    expectRefused({{"{\"user_input\"", "{\"custom_obj\""}}, ErrorCode::Unsupported, "custom_obj");
    expectRefused({{"\"use_pickle\": false", "\"use_pickle\": true"}}, ErrorCode::Unsupported, "pickle");
}

TEST_CASE("Damage to an exported program is refused with its place")
{
    using base::ErrorCode;
    expectRefused({{"\"weight_0\"", "\"weight_7\""}}, ErrorCode::Input, "weight_7");
    expectRefused({{"\"storage_offset\": {\"as_int\": 1}", "\"storage_offset\": {\"as_int\": 2}"}}, ErrorCode::Input,
                  "does not fit");
    expectRefused({{"\"strides\": [{\"as_int\": 1}", "\"strides\": [{\"as_int\": 4611686018427387904}"}},
                  ErrorCode::Input, "strides");
    expectRefused({{"\"dtype\": 7, \"sizes\": [{\"as_int\"", "\"dtype\": 99, \"sizes\": [{\"as_int\""}},
                  ErrorCode::Input, "99");
    expectRefused({{"\"name\": \"relu\"}}, \"kind\"", "\"name\": \"none\"}}, \"kind\""}}, ErrorCode::Input,
                  "'none' is used but never computed");
    expectRefused({{"{\"name\": \"self\", \"arg\": {\"as_tensor\": {\"name\": \"x\"}}, \"kind\": 1}],", "],"}},
                  ErrorCode::Input, "aten::relu");
    expectRefused({{"\"name\": \"weight\", \"arg\"", "\"name\": \"other\", \"arg\""}}, ErrorCode::Input,
                  "aten::linear");
    expectRefused({{"\"nodes\": [", "\"nodes\": [7, "}}, ErrorCode::Input, "nodes/0");
}

TEST_CASE("Sizes that were fixed on export are refused for other data, and ranges from 2 are no limits")
{
    const std::string rowsOfX =
        "{\"as_expr\": {\"expr_str\": \"Symbol('s0', positive=True, integer=True)\", \"hint\": null}}";
    CHECK(loader::bind(loaded(), rows(at::ones({1, 2}))));
    const auto narrow = loader::bind(loaded(), rows(at::ones({4, 3})));
    REQUIRE_FALSE(narrow);
    CHECK(narrow.error().message.find("size 1 of 'x_dict.user' was fixed at 2") != std::string::npos);
    const loader::Model fixed = loaded({{rowsOfX, "{\"as_int\": 4}"}});
    CHECK(loader::bind(fixed, rows(at::ones({4, 2}))));
    CHECK_FALSE(loader::bind(fixed, rows(at::ones({5, 2}))));
    const auto walk = loader::walk(fixed, rows(at::ones({3, 2})));
    REQUIRE_FALSE(walk);
    CHECK(walk.error().hint.find("dynamic_shapes") != std::string::npos);
    const auto doubles = loader::bind(loaded(), rows(at::ones({4, 2}, at::TensorOptions(at::kDouble))));
    REQUIRE_FALSE(doubles);
    CHECK(doubles.error().message.find("float32") != std::string::npos);
}

TEST_CASE("Inputs that are guessed have the ranks, the sizes and the types of the export")
{
    const std::string rowsOfX =
        "{\"as_expr\": {\"expr_str\": \"Symbol('s0', positive=True, integer=True)\", \"hint\": null}}";
    const Change range{"\"max_val\": null", "\"max_val\": 5"};
    for (const auto& [changes, shape] : {std::pair(std::vector<Change>{}, std::vector<std::int64_t>{61, 2}),
                                         {{{rowsOfX, "{\"as_int\": 4}"}}, {4, 2}},
                                         {{range}, {5, 2}},
                                         {{{rowsOfX, "{\"as_int\": 3}, {\"as_int\": 4}"}}, {3, 4, 2}},
                                         {{{rowsOfX, "{\"as_int\": 3}, " + rowsOfX}}, {3, 2, 2}}}) {
        const loader::Model model = loaded(changes);
        const auto sample = loader::proposeSample(model);
        if (!sample) FAIL(base::describe(sample.error()));
        CHECK(sample->at("x_dict.user").shape == shape);
        CHECK(loader::walk(model, *sample));
    }
    const auto numbers = loader::proposeSample(loaded({{"\"x\": {\"dtype\": 7", "\"x\": {\"dtype\": 5"}}));
    REQUIRE_FALSE(numbers);  // of an operator, not of the input
    INFO(numbers.error().message);
    CHECK(numbers.error().message.find("dtype") != std::string::npos);
    const auto large = loader::proposeSample(loaded({{rowsOfX, "{\"as_int\": 4294967296}"}}));
    REQUIRE_FALSE(large);
    CHECK(large.error().message.find("'x_dict.user' has too many elements") != std::string::npos);
}

TEST_CASE("Ranges and guards of an exported program hold for whole graphs")
{
    for (const auto& [change, words] :
         {std::pair(Change{"\"max_val\": null", "\"max_val\": 5"}, "at most 5"),
          {Change{"\"guards_code\": []", R"("guards_code": ["L['x_dict']['user'].size()[0] <= 5"])"},
           "was exported for graphs with x_dict.user.size(0) <= 5, and here x_dict.user.size(0) is 6"},
          {Change{"\"guards_code\": []", R"("guards_code": ["L['flat_args'][0].size()[0] * 2 < 12"])"},
           "with x_dict.user.size(0) * 2 < 12, and here"}}) {
        const loader::Model model = loaded({change});
        CHECK(loader::bind(model, rows(at::ones({5, 2}))));
        const auto large = loader::bind(model, rows(at::ones({6, 2})));
        REQUIRE_FALSE(large);
        CHECK(large.error().code == base::ErrorCode::Input);
        CHECK(large.error().message.find(words) != std::string::npos);
        CHECK(loader::bind(model, rows(at::ones({6, 2})), loader::Extent::Part));
        CHECK(loader::walk(model, rows(at::ones({6, 2}))));
    }
}

TEST_CASE("Guards that say nothing are none, and those that are not understood are refused with their text")
{
    const auto guarded = [](const std::string& code) {
        return loaded({{"\"guards_code\": []", "\"guards_code\": [\"" + code + "\"]"}});
    };
    const std::string size = "L['x_dict']['user'].size()[0]";
    for (const char* comparison : {" >= 2", " > 1", " != 1", " != 0"}) {
        CHECK(guarded(size + comparison).info().limits.guards.empty());
        CHECK(loader::bind(guarded(size + comparison), rows(at::ones({1, 2}))));
    }
    CHECK_FALSE(loader::bind(guarded(size + " != 2"), rows(at::ones({2, 2}))));
    CHECK_FALSE(loader::bind(guarded(size + " >= 3"), rows(at::ones({2, 2}))));
    CHECK(guarded(size + " > 5\", \"" + size + " > 5").info().limits.guards.size() == 1);
    for (const char* code :
         {"f(L['x'])", "L['y'].size()[0] > 2", "L['flat_args'][1].size()[0] > 2", "L['x_dict']['user'].size()[2] > 2",
          "L['x_dict']['user'] > 2", "4 // (L['x_dict']['user'].size()[0] - 5) == 1"}) {
        const auto bound = loader::bind(guarded(code), rows(at::ones({5, 2})));
        REQUIRE_FALSE(bound);
        INFO(bound.error().message);
        CHECK(bound.error().code == base::ErrorCode::Unsupported);
        CHECK(bound.error().message.find("cannot check: ") != std::string::npos);
    }
}
