#pragma once

// Defines Hopscope's intermediate representation: a model, specialised to a straight line of operators, without any
// type of LibTorch.
//
// The loader emits a *raw* program: operators in the order of execution, with in-place operators and views as in the
// model. analysis::functionalise turns it into SSA without aliasing. Ids depend only on the model file and the walk.
// Shapes and numbers recorded on values are those of the sample walk.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/tensor.h"

namespace hopscope::ir {

using ValueId = base::Id<struct ValueTag>;
using OpId = base::Id<struct OpTag>;

enum class ValueKind : std::uint8_t { Tensor, Int, Float, Bool };
enum class Origin : std::uint8_t { Input, Parameter, Constant, Op };

struct Value {
    ValueId id;
    ValueKind kind = ValueKind::Tensor;
    Origin origin = Origin::Op;
    base::DType dtype = base::DType::Float32;  // tensors only
    std::vector<std::int64_t> shape;           // tensors only; of the sample
    double number = 0;                         // Int, Float, Bool: the sample's number
    OpId producer;                             // origin Op only
    int output = 0;                            // its index among the producer's outputs
    std::string name;                          // input: data key; parameter: dotted name; else empty
    std::vector<double> literal;               // row-major; real strided Constants of up to 64 elements; else empty
    bool layoutSparse = false;                 // a sparse tensor (its shape is that of the dense one)
    int memory = -1;                           // tensors of raw programs: those with the same number shared memory in
                                               // the walk; -1: not known
    ValueId raw;                               // inputs, parameters and constants of a functional program: their id in
                                               // the raw program, under which the loader keeps their tensors
};

struct DeviceArg {  // the executing device; replaces every device baked into the model
    auto operator<=>(const DeviceArg&) const = default;
};

struct Arg;
using ArgList = std::vector<Arg>;

// An argument of an operator. monostate is None. Dtypes, layouts and memory formats are integers, as in TorchScript.
struct Arg {
    std::variant<std::monostate, ValueId, std::int64_t, double, bool, std::string, DeviceArg, ArgList> data;

    [[nodiscard]] bool none() const { return std::holds_alternative<std::monostate>(data); }
    [[nodiscard]] const ValueId* value() const { return std::get_if<ValueId>(&data); }
    [[nodiscard]] const ArgList* list() const { return std::get_if<ArgList>(&data); }
    [[nodiscard]] const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data); }
    // Returns the value of an integer or a real number; nullopt for anything else.
    [[nodiscard]] std::optional<double> number() const
    {
        if (integer()) return static_cast<double>(*integer());
        const double* const real = std::get_if<double>(&data);
        return real ? std::optional(*real) : std::nullopt;
    }
    bool operator==(const Arg&) const = default;
};

// One module call on the path to an operator. `call` differs between two calls of one module, so that a module used
// twice counts as two.
struct ModuleFrame {
    std::string name;  // attribute name, "convs.1" -> "convs", "1"
    std::string type;  // class name, "GCNConv"
    std::int32_t call = 0;
    bool operator==(const ModuleFrame&) const = default;
};

enum class SourceKind : std::uint8_t { None, Python, TorchScript };

struct Source {
    SourceKind kind = SourceKind::None;
    std::string file;
    int line = 0;
    std::string text;  // the line itself, trimmed; may be empty
};

// The type of an argument in the operator's schema. In Int and IntList, the size of a table means the rows of the
// batch; in other types, those of the whole table.
enum class ArgType : std::uint8_t { Tensor, TensorList, OptionalTensorList, Int, IntList, Number, Float, Bool, Other };

struct ArgInfo {
    std::string name;
    ArgType type = ArgType::Other;
    bool given = false;  // the model passes a value other than None and the schema's default
};

struct Op {
    OpId id;
    std::string name;              // "aten::scatter_add", "scalar::add" (see below)
    std::string overload;          // "Tensor"; may be empty
    std::vector<Arg> args;         // every argument of the schema, in its order, defaults filled in
    std::vector<ArgInfo> argInfo;  // one per argument
    std::vector<ValueId> outputs;  // a Tensor[] result is flattened
    bool listOutput = false;       // the schema returns Tensor[]
    int mutatedArg = -1;           // raw programs: index of the argument written in place, or -1
    std::string functionalName;    // mutatedArg >= 0: the operator that computes the same without writing; empty for
                                   // copy_, fill_ and zero_
    std::string functionalOverload;
    bool sharingVaries = false;  // raw programs: on other graphs its results may be views where they were copies in the
                                 // walk, or the reverse
    std::vector<ModuleFrame> modules;  // outermost first
    Source source;
};

// Scalar operators are Hopscope's own. They work on numbers instead of tensors:
//   scalar::size(tensor, dim)  scalar::numel(tensor)  scalar::item(tensor)      tensor -> number
//   scalar::tensor(number, dtype)                                               number -> 0-dim tensor
//   scalar::{add,sub,mul,floordiv,truediv,mod,pow,neg,min,max,abs,sqrt,log,exp,ceil,floor,round,int,float,bool,
//            eq,ne,lt,le,gt,ge,and,or,not}                                       numbers -> number
inline bool isScalarOp(const Op& op) { return op.name.starts_with("scalar::"); }

struct NamedValue {
    std::string name;
    ValueId value;
};

// A number of the sample on which the recorded operators depend. On other inputs, its value must be the same.
struct Guard {
    ValueId condition;  // the number, of kind Int, Float or Bool
    double taken = 0;   // its value on the sample
    std::vector<ModuleFrame> modules;
    Source source;
};

struct Program {
    std::vector<Value> values;        // indexed by ValueId
    std::vector<Op> ops;              // indexed by OpId; in execution order
    std::vector<NamedValue> inputs;   // data keys
    std::vector<NamedValue> outputs;  // "out", "out.0", "out.KEY": as the files of a run, without suffix
    std::vector<Guard> guards;

    [[nodiscard]] const Value& value(ValueId id) const { return values[id.at()]; }
    [[nodiscard]] const Op& op(OpId id) const { return ops[id.at()]; }
};

std::string modulePath(const std::vector<ModuleFrame>& modules);  // "convs.1.lin_l"; "" at top level
std::string valueName(ValueId id);                                // "v17"
std::string opName(OpId id);                                      // "op42"
std::string describeSource(const Source& source);                 // "gcn_conv.py:241"; "" if unknown

// Describes an operator with its location in the model: "aten::sort in convs.1 (gcn_conv.py:241: `x = x.sort()[0]`)".
std::string describeOp(const Op& op);

// Returns the argument with this name, or with one of these names, in the operator's schema; null if there is none.
const Arg* argument(const Op& op, std::string_view name);
const Arg* argument(const Op& op, std::initializer_list<std::string_view> names);

// The position of an operand: the index of the argument, and the index within its list, or -1. forEachOperand() calls
// fn(Slot, ValueId) for each value among the arguments, including those in lists, in order.
struct Slot {
    int arg = 0;
    int item = -1;
    auto operator<=>(const Slot&) const = default;
};

template <class Fn>
void forEachOperand(const Op& op, Fn&& fn)
{
    for (int a = 0; a < static_cast<int>(op.args.size()); ++a) {
        const Arg& arg = op.args[static_cast<std::size_t>(a)];
        if (const ValueId* v = arg.value()) fn(Slot{a, -1}, *v);
        if (const ArgList* list = arg.list())
            for (int i = 0; i < static_cast<int>(list->size()); ++i)
                if (const ValueId* v = (*list)[static_cast<std::size_t>(i)].value()) fn(Slot{a, i}, *v);
    }
}

}  // namespace hopscope::ir
