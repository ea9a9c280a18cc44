#pragma once

// From a TorchScript file or an exported program to a raw ir::Program. LibTorch reads the former: call it in a confined process
// only.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "ir/program.h"
#include "loader/size_expression.h"

namespace hopscope::loader {

struct Argument {  // of forward, without self
    std::string name;
    std::string type;       // in TorchScript's notation: "Tensor", "Optional[Tensor]", "Dict(str, Tensor)", "int"
    bool optional = false;  // can be omitted: it is Optional or has a default
};

struct Repair {          // a line inserted into the archive's code in memory so that it loads; the file is unchanged
    std::string record;  // "code/__torch__/model.py"
    int line = 0;
    std::string inserted;
};

struct Parameter {  // a parameter or buffer, with its dotted name
    std::string name;
    base::DType dtype = base::DType::Float32;
    std::vector<std::int64_t> shape;
    std::int64_t notFinite = 0;  // NaN and infinite elements
};

struct SizeLimit {  // a size that an exported program takes only within limits
    SizePlace place;
    std::int64_t least = 0, most = 0;  // equal: the size was fixed when the program was exported
};
// How to export a program without such sizes.
inline constexpr const char* dynamicSizesHint =
    "export it with dynamic sizes: torch.export.export(model, (x, edge_index), dynamic_shapes={\"x\": {0: Dim.AUTO}, "
    "\"edge_index\": {1: Dim.AUTO}}), with Dim of torch.export; if it is still fixed, Dim.DYNAMIC names the line that "
    "fixes it";

struct SizeGuard {  // a condition on sizes under which an exported program computes what its model does
    std::optional<SizeExpression> condition;  // nullopt: of a form that Hopscope does not know
    std::string text;                         // "edge_index.size(1) > 4 * x.size(0)"; Python code without a condition
};
struct ModelLimits {  // of the inputs of an exported program
    std::vector<SizeLimit> sizes;
    std::vector<SizeGuard> guards;
    std::map<std::string, base::DType> types;  // of tensors, by data key
    std::map<std::string, std::size_t> ranks;  // of tensors, by data key
};
// Inputs of a whole graph, or of a part of it, for which ranges of sizes and guards say nothing.
enum class Extent : std::uint8_t { Graph, Part };

struct ModelInfo {
    std::string path;
    std::string hash;    // xxh3-128 of the file, hex
    std::string sha256;  // of the file, hex; empty unless load() was asked for it, and for exported programs
    std::int64_t fileBytes = 0;
    std::string className;
    bool traced = false;
    bool exported = false;  // an exported program (.pt2), which contains no code
    std::vector<Argument> arguments;
    ModelLimits limits;
    std::vector<Repair> repairs;
    std::map<std::string, int> devices;  // devices in the code ("cuda:0"), replaced by the CPU, with their number
    std::vector<std::string> stubs;      // custom operators in the code that have no implementation here
    std::vector<Parameter> parameters;
};

class Model {
public:
    struct Impl;  // loader/torch_model.h, for the LibTorch modules only
    explicit Model(std::shared_ptr<const Impl> impl);
    [[nodiscard]] const ModelInfo& info() const;
    [[nodiscard]] const Impl& impl() const { return *m_impl; }

private:
    std::shared_ptr<const Impl> m_impl;
};

// Loads a model on the CPU, after checking the archive without LibTorch. Devices in the model's code are replaced by
// the CPU. Archives that TorchScript wrote but refuses to read ("Type mismatch: V is set to type A in the true branch
// ...") are repaired in memory. Archives of torch.export.save (.pt2), recognised by their members, become a module in memory;
// nothing of them is executed. Fails with Input (unreadable, damaged, malicious) or Unsupported (custom classes, FlatBuffer,
// packages of AOTInductor).
// Hashing files of a gigabyte by SHA-256 takes seconds, so the hash is optional.
enum class Sha256 : std::uint8_t { No, Yes };
base::Result<Model> load(const std::string& path, Sha256 hashed = Sha256::No);

// A straight-line program recorded from one run of forward, and the tensors of its Parameter and Constant values.
struct Walk {
    struct Tensors;  // by ValueId: loader/torch_model.h
    ir::Program program;
    std::shared_ptr<const Tensors> tensors;
    std::int64_t prints = 0;  // calls of print on the sample, which are not carried out
    std::string firstPrint;   // "print in conv1 (gcn.py:12)"
};

// The tensor of a Parameter or Constant value, which may be from the walk's program or one derived from it
// (Value::raw); nullopt for other values and for tensors that are not strided.
std::optional<base::TensorView> leafTensor(const Walk& walk, const ir::Value& value);

// Source code around the line that an operator was recorded from, as stored in the archive.
struct SourceText {
    std::string file;
    std::string text;   // the function, class or file
    int firstLine = 1;  // number in `file` of the first line of the text
    int line = 1;       // number in `file` of the operator's line
};
struct SourceTexts {
    std::optional<SourceText> python, torchScript;
};
// The source code of an operator; nullopt where the archive has none. Linear in the size of the model's code.
SourceTexts findSource(const Model& model, const ir::Op& op);

// Checks the data keys in `inputs` against forward's arguments. Keys that are not arguments are ignored with a note;
// optional arguments without data are None. Fails with Input if a required argument has no data, if a key that is
// not an argument is probably a misspelt one, or if an exported program takes no inputs of such sizes; with Unsupported if it
// takes them under a condition that cannot be checked.
struct Binding {
    std::vector<std::string> used;
    std::vector<std::string> ignored;  // notes about keys that forward does not take
};
base::Result<Binding> bind(const Model& model, const base::TensorMap& inputs, Extent extent = Extent::Graph);

// Runs forward once on a small `sample` (keys as in --data) and records every operator that is executed. Fails with
// Unsupported, naming the operator's module path and source line, if an operator is not in the table
// (operators/operators.h), behaves differently from its entry there or draws random numbers, or if forward throws.
// `whole`, if given, is the complete data from which the sample was cut: if forward throws on it as well, the error is
// Input, because the data is wrong; if it does not, a size was probably baked into the file on export.
//
// The raw program has these properties:
//   - Weights are Parameter values with dotted names; a tensor with two names is one value. Values computed from
//     constants only are constants themselves, unless they are written to.
//   - Numbers derived from inputs are results of scalar operators. Wherever such a number decides a branch or the
//     number of iterations of a loop, a Guard records its value on the sample; the analysis decides which guards are
//     acceptable.
//   - Tensors that share memory on the sample have the same Value::memory; Op::sharingVaries marks operators whose
//     results may or may not share memory on another graph.
//   - The result of an in-place operator is a new value that aliases the written argument. copy_, fill_ and zero_ have
//     no functional name. Lists and tuples do not appear in the program, only their elements do.
//   - All overloads of `to` and `cpu` are recorded as "aten::to.dtype", `x.data` as "aten::detach", and hacked_twin
//     overloads as the overload that they stand for. Some overloads exist in TorchScript's registry only (registry.h).
//   - A sparse argument "adj" becomes the Inputs "adj.coo_indices", "adj.coo_values" (or "adj.csr_crow", "adj.csr_col",
//     "adj.csr_values") and the Int inputs "adj.coo_size.0", "adj.coo_size.1", which are the elements of the data key
//     "adj.coo_size"; the matrix is the result of "aten::sparse_coo_tensor.indices_size", for CSR after
//     "aten::_convert_indices_from_csr_to_coo".
//   - int, float and bool arguments are Inputs of kind Int, Float and Bool; the data holds them as one-element tensors.
//   - Outputs, tensors or numbers, are named "out", "out.0", "out.KEY". An output can be a Constant.
//   - Containers in a module path ("convs" of "convs.1") have the call number of their caller, since they are not
//     called.
//
// `slow` is called once if forward has not ended after 3 s, with the operator that it has reached ("aten::matmul
// (model.py:12)"), on another thread and before walk() returns. An operator cannot be interrupted; after two
// minutes forward ends with Unsupported after the operator that is then running.
using SlowFn = std::function<void(const std::string& place)>;
base::Result<Walk> walk(const Model& model, const base::TensorMap& sample, const base::TensorMap* whole = nullptr,
                        const SlowFn& slow = {});

// The operators in the code of forward and of everything that it calls, found without running them: for showing a model
// that cannot be walked, not for evaluating it. Both sides of a branch are read unless a constant decides it, the body
// of a loop once; containers and numbers are omitted. Inputs have the shapes of `sample` (keys as in --data; if it is
// empty, shapes are unknown and every argument is an input), results have no shape. `where` is Error::where of the
// refusal: the node at that place becomes an operator in any case. Reading ends after
// 200,000 instructions.
ir::Program readCode(const Model& model, const base::TensorMap& sample, const std::string& where);

// Generates inputs for a walk without data (`inspect MODEL`): guesses shapes from the names of the arguments and the
// shapes of the weights until forward accepts them. Fails with Unsupported, asking for --data, if it accepts none of
// the guesses.
base::Result<base::TensorMap> proposeSample(const Model& model, const SlowFn& slow = {});

}  // namespace hopscope::loader
