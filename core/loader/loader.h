#pragma once

// From a TorchScript file to a raw ir::Program. Loading runs code from the file: call it in the engine process only.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "ir/program.h"

namespace hopscope::loader {

struct Argument {  // of forward, without self
    std::string name;
    std::string
        type;  // as TorchScript prints it: "Tensor", "Optional[Tensor]", "Dict(str, Tensor)", "List[Tensor]", "int"
    bool optional = false;  // may be left out (None or a default)
};

struct Repair {          // an edit that made an unloadable archive loadable; the file itself is untouched
    std::string record;  // "code/__torch__/model.py"
    int line = 0;
    std::string inserted;
};

struct Parameter {  // parameters and buffers, by dotted name
    std::string name;
    base::DType dtype = base::DType::Float32;
    std::vector<std::int64_t> shape;
    std::int64_t notFinite = 0;  // NaN and infinite elements
};

struct ModelInfo {
    std::string path;
    std::string hash;  // xxh3-128 of the file, hex
    std::int64_t fileBytes = 0;
    std::string className;
    bool traced = false;
    std::vector<Argument> arguments;
    std::vector<Repair> repairs;
    std::map<std::string, int> devices;  // that its code names, "cuda:0", and how often: the CPU stands there in memory
    std::vector<std::string> stubs;      // custom operators in use that only have a schema here
    std::vector<Parameter> parameters;
};

class Model {
public:
    struct Impl;  // LibTorch's side: loader/torch_model.h, for the modules that use LibTorch only
    explicit Model(std::shared_ptr<const Impl> impl);
    [[nodiscard]] const ModelInfo& info() const;
    [[nodiscard]] const Impl& impl() const { return *m_impl; }

private:
    std::shared_ptr<const Impl> m_impl;
};

// Pre-scans the zip directory without LibTorch, loads on the CPU (devices that the code names become the CPU, too), repairs the archive if TorchScript refuses its own
// output ("Type mismatch: V is set to type A in the true branch ..."). Fails with Input (unreadable, malformed, hostile)
// or Unsupported (custom classes, FlatBuffer, .pt2).
base::Result<Model> load(const std::string& path);

// The straight line of one run, with the tensors that its Parameter and Constant values stand for.
struct Walk {
    struct Tensors;  // by ValueId: loader/torch_model.h
    ir::Program program;
    std::shared_ptr<const Tensors> tensors;
};

// The tensor behind a Parameter or Constant value of a program that was made from the walk (see Value::raw); nothing for
// other values and for tensors that are not strided.
std::optional<base::TensorView> leafTensor(const Walk& walk, const ir::Value& value);

// The text around the place that an operator came from, as the archive has it.
struct SourceText {
    std::string file;
    std::string text;   // of the function, class or file that the archive remembers
    int firstLine = 1;  // of the text, in `file`
    int line = 1;       // the operator's, in `file`
};
struct SourceTexts {
    std::optional<SourceText> python, torchScript;
};
// The texts that an operator came from; empty ones where the archive has none. Linear in the model's code.
SourceTexts findSource(const Model& model, const ir::Op& op);

// Checks `inputs` (all data keys) against forward's arguments: which keys are used, which are extra (ignored with a
// note; near misses of an argument name fail), which optional arguments stay None. Fails with Input.
struct Binding {
    std::vector<std::string> used;
    std::vector<std::string> notes;
};
base::Result<Binding> bind(const Model& model, const base::TensorMap& inputs);

// Runs forward once on the small `sample` (keys as in --data) and records what ran. Refuses, with the operator's place,
// operators that the table (operators/operators.h) does not hold or is wrong about and random operators (Unsupported), and what forward itself throws on the sample
// (Unsupported too; but Input if `whole` is given, the inputs that the sample was cut from, and forward throws on them as
// well: a size that was baked into the file at export fails on the sample alone).
//
// What the raw program promises to its readers:
//   - Weights are Parameter values with dotted names; one tensor under two names is one value. What follows from
//     constants alone is folded, unless it is written into.
//   - Numbers that derive from inputs are scalar operators; a branch or trip count on one, whatever it derives from,
//     becomes a Guard: whether that can be kept is for the analysis to say.
//   - Tensors that shared memory on the sample have the same number in Value::memory; Op::sharingVaries says where they
//     need not on another graph.
//   - An in-place operator gives a new value that aliases the written argument. copy_, fill_ and zero_ have no functional
//     name. Results of list and tuple operators are their elements.
//   - Every form of `to` and `cpu` is "aten::to.dtype"; `x.data` is "aten::detach"; hacked_twin overloads carry the real
//     one's name. Overloads may be known to TorchScript's registry only: look them up with torch::jit::findOperatorFor.
//   - A sparse argument "adj" becomes Inputs "adj.coo_indices", "adj.coo_values" (or "adj.csr_crow", "adj.csr_col",
//     "adj.csr_values") and the Int inputs "adj.coo_size.0", "adj.coo_size.1", which are the elements of the data key
//     "adj.coo_size"; the matrix is made by "aten::sparse_coo_tensor.indices_size", from CSR by way of
//     "aten::_convert_indices_from_csr_to_coo".
//   - int, float and bool arguments are Inputs of kind Int, Float, Bool, given as one-element tensors.
//   - Outputs: "out", "out.0", "out.KEY"; numbers too; a Constant if nothing else determines it.
//   - Containers on a module's path ("convs" of "convs.1") carry their caller's call number: they are not called.
base::Result<Walk> walk(const Model& model, const base::TensorMap& sample, const base::TensorMap* whole = nullptr);

// Inputs for a walk without data (`inspect MODEL`): shapes guessed from the arguments' names and the weights' shapes, tried
// until forward accepts them. Fails with Unsupported, asking for --data, if none does.
base::Result<base::TensorMap> proposeSample(const Model& model);

}  // namespace hopscope::loader
