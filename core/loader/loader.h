#pragma once

// Loads a TorchScript file or an exported program, and records it as a raw ir::Program. Also checks data against the
// arguments of forward, proposes inputs, finds source code, and reads the operators of code without running it.
// LibTorch reads TorchScript files, so these functions must only be called in a confined process.

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
    std::string type;       // in TorchScript's notation: "Tensor", "Tensor?", "Dict(str, Tensor)", "int"
    bool optional = false;  // can be omitted: it is Optional or has a default
};

struct Repair {          // a line inserted into a temporary copy of the code so that it loads; the file is unchanged
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

struct SizeLimit {  // the limits within which an exported program accepts a size, or an argument of type int or bool
    SizePlace place;
    std::int64_t least = 0, most = 0;  // equal: it was fixed when the program was exported
};
// The hint that explains how to export a program without such limits.
inline constexpr const char* dynamicSizesHint =
    "export the model with dynamic sizes: torch.export.export(model, (x, edge_index), dynamic_shapes={\"x\": {0: "
    "Dim.AUTO}, \"edge_index\": {1: Dim.AUTO}}), with Dim of torch.export; if a size is still fixed, Dim.DYNAMIC names "
    "the line that fixes it";

struct SizeGuard {  // a condition on sizes under which an exported program computes what its model does
    std::optional<SizeExpression> condition;  // nullopt: of a form that Hopscope does not know
    std::string text;                         // "edge_index.size(1) > 4 * x.size(0)"; if unknown, Python code
};
struct ModelLimits {  // of the inputs of an exported program
    std::vector<SizeLimit> sizes;
    std::vector<SizeGuard> guards;
    std::map<std::string, base::DType> types;  // of tensors, by data key
    std::map<std::string, std::size_t> ranks;  // of tensors, by data key
};
// Whether inputs are those of a whole graph or of a part of it. Ranges of sizes and guards do not apply to a part.
enum class Extent : std::uint8_t { Graph, Part };

struct ModelInfo {
    std::string path;
    std::string hash;    // xxh3-128 of the file, hex
    std::string sha256;  // of the file, hex; empty unless requested from load(), and for exported programs
    std::int64_t fileBytes = 0;
    std::string className;
    bool traced = false;
    bool exported = false;  // an exported program (.pt2), which contains no code
    std::vector<Argument> arguments;
    ModelLimits limits;
    std::vector<Repair> repairs;
    std::map<std::string, int>
        devices;  // devices in the code ("cuda:0") that were replaced by the CPU, with the number of occurrences
    std::vector<std::string> stubs;  // custom operators in the code that have no implementation here
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

// Whether load() computes the SHA-256 hash, which takes seconds for a file of a gigabyte.
enum class Sha256 : std::uint8_t { No, Yes };

// Loads a model on the CPU, after checking the archive without LibTorch. Devices in the model's code are replaced by
// the CPU. Archives that TorchScript wrote but refuses to read ("Type mismatch: V is set to type A in the true branch
// ...") are repaired in a temporary file. Archives of torch.export.save (.pt2), recognised by their members, become a
// module in memory; nothing in them is executed. Fails with Input (unreadable, damaged, malicious), Unsupported (a
// format, class, method, operator or dtype that Hopscope does not read) or Resources (too little memory or space, no
// child process).
base::Result<Model> load(const std::string& path, Sha256 hashed = Sha256::No);

// A straight-line program recorded from one run of forward, and the tensors of its Parameter and Constant values.
struct Walk {
    struct Tensors;  // by ValueId: loader/tensors.h
    ir::Program program;
    std::shared_ptr<const Tensors> tensors;
    std::int64_t prints = 0;  // number of calls of print on the sample, which print nothing
    std::string firstPrint;   // "print in conv1 (gcn.py:12)"
};

// Returns the tensor of a Parameter or Constant value of the walk's program or of one derived from it (Value::raw);
// nullopt for other values, for constants that have only a literal, and for tensors that are not strided.
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
// Returns the source code of an operator; a text is nullopt if the archive does not contain it.
SourceTexts findSource(const Model& model, const ir::Op& op);

// The data keys that forward takes, and those that it does not.
struct Binding {
    std::vector<std::string> used;
    std::vector<std::string> ignored;  // notes about keys that forward does not take
};
// Checks the data keys in `inputs` against forward's arguments. Keys that are not arguments are ignored with a note;
// optional arguments without data have their default or are None. Fails with Input if a required argument has no data,
// if data do not fit their argument, or if a key is probably a misspelt optional argument that has no data. Also fails
// with Input if an exported program does not accept inputs of these sizes and types. Fails with Unsupported if an
// argument cannot be made from tensors, or if an exported program accepts the inputs under a condition that cannot be
// checked.
base::Result<Binding> bind(const Model& model, const base::TensorMap& inputs, Extent extent = Extent::Graph);

// A function that is called with the operator that a slow walk has reached.
using SlowFn = std::function<void(const std::string& place)>;

// Runs forward once on a small `sample` (keys as in --data) and records the operators that it executes, except those
// whose results nothing uses. Fails as bind() does if data do not fit their arguments. Fails with Unsupported, naming
// the operator's module path and source line, if an operator may not run, behaves differently from its entry in the
// table (operators/operators.h) or draws random numbers. Also fails if forward throws or takes more than a million
// steps, and with Resources if it needs too much memory. `whole`, if given, is the complete data from which the sample
// was taken. If forward throws on `whole` as well, the error is Input, because the data is wrong; if it does not, a
// size was probably baked into the file on export.
//
// The raw program has these properties:
//   - Weights are Parameter values with dotted names; a tensor with two names is one value. Values computed from
//     constants only are constants themselves, unless they are written to.
//   - Numbers derived from inputs are results of scalar operators. Wherever the recorded operators depend on such a
//     number, as by a branch or the iterations of a loop, a Guard records its value on the sample; the analysis decides
//     which guards are acceptable.
//   - Tensors that share memory on the sample have the same Value::memory; Op::sharingVaries marks operators whose
//     results may or may not share memory on another graph.
//   - The result of an in-place operator is a new value that aliases the written argument. copy_, fill_ and zero_ have
//     no functional name. Lists, tuples and dictionaries do not appear in the program, only their elements do.
//   - All overloads of `to` and `cpu` are recorded as "aten::to.dtype", `x.data` as "aten::detach", and hacked_twin
//     overloads as the overload that they stand for. Some overloads exist in TorchScript's registry only (registry.h).
//     Composite operators without a line in the table are recorded as the operators that they consist of.
//   - A sparse argument "adj" becomes the Inputs "adj.coo_indices", "adj.coo_values" (or "adj.csr_crow", "adj.csr_col",
//     "adj.csr_values") and two Int inputs. These are "adj.coo_size.0" and "adj.coo_size.1" (or "adj.csr_size.0" and
//     "adj.csr_size.1"), the first two elements of the data key "adj.coo_size" (or "adj.csr_size"). The matrix is the
//     result of "aten::sparse_coo_tensor.indices_size", for CSR after "aten::_convert_indices_from_csr_to_coo".
//   - int, float and bool arguments in the data are Inputs of kind Int, Float and Bool; the data holds them as
//     one-element tensors. Arguments that have their default are literals.
//   - Outputs, tensors or numbers, are named "out", "out.0", "out.KEY". An output can be a Constant.
//   - Containers in a module path ("convs" of "convs.1") have the call number of their caller, since they are not
//     called.
//
// If forward has not ended after 3 s, `slow` is called once with the operator that forward has reached ("aten::matmul
// (model.py:12)"), on another thread and before walk() returns. After two minutes, the walk fails with Unsupported as
// soon as the running operator ends, since operators cannot be interrupted.
base::Result<Walk> walk(const Model& model, const base::TensorMap& sample, const base::TensorMap* whole = nullptr,
                        const SlowFn& slow = {});

// Returns the operators in the code of forward and of everything that it calls, without running them. Of a model
// without forward (methods.h), reads all methods whose names do not begin with an underscore. The program shows a model
// that cannot be walked; it cannot be evaluated. Both sides of a branch are read unless a constant decides it, and the
// body of a loop is read once. Containers and numbers are omitted, as are operators that read only tensors made of
// numbers. Inputs have the shapes of `sample` (keys as in --data); if it is empty, shapes are unknown and every
// required argument with tensors is an input. Results have no shape. `where` is Error::where of the refusal: the node
// at that location becomes an operator in any case. Reading ends after 200,000 instructions.
ir::Program readCode(const Model& model, const base::TensorMap& sample, const std::string& where);

// Generates inputs for a walk without data (`inspect MODEL`): guesses shapes from the names of the arguments and the
// shapes of the weights until forward accepts them, or until a walk fails for another reason. Fails with Unsupported,
// asking for --data, if forward accepts none of the guesses or has a required argument that is neither a tensor nor a
// number.
base::Result<base::TensorMap> proposeSample(const Model& model, const SlowFn& slow = {});

}  // namespace hopscope::loader
