#pragma once

// Builds the raw program while the walker runs the model. At the end it folds constants, removes operators that no
// output depends on, and renumbers values and operators without gaps.

#include <torch/csrc/jit/ir/ir.h>

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "loader/torch_model.h"
#include "loader/walk/sharing.h"
#include "loader/walk/walk_item.h"

namespace hopscope::loader {

class Recorder {
public:
    // Restores the model's tensors that were written to during the walk.
    ~Recorder() { restore(); }
    Recorder() = default;
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    ir::ValueId input(const std::string& name, const c10::IValue& leaf);
    ir::ValueId parameter(const std::string& name, const at::Tensor& tensor);
    ir::ValueId constant(const at::Tensor& tensor);
    ir::ValueId constantNumber(const c10::IValue& number);

    // Appends the operator with one value for each of its results (tensors and numbers).
    std::vector<ir::ValueId> append(ir::Op op, const std::vector<c10::IValue>& results);
    // To be called before and after an operator writes to the tensor; `fromInput`: the written values depend on inputs.
    void beforeWrite(const at::Tensor& tensor);
    void afterWrite(const at::Tensor& tensor, bool fromInput);

    void output(const std::string& name, ir::ValueId value) { m_program.outputs.push_back({name, value}); }
    void guard(ir::Guard guard) { m_program.guards.push_back(std::move(guard)); }

    [[nodiscard]] bool isConstant(const Item& item) const
    {
        return item.value.valid() && m_program.value(item.value).origin == ir::Origin::Constant;
    }
    // True if the value, or its shape, can be different for other inputs.
    [[nodiscard]] bool fromInput(const Item& item) const;
    [[nodiscard]] bool shapeFromInput(ir::ValueId id) const { return m_states[id.at()].fromInput; }
    // True if an operator has written to the tensor's memory.
    [[nodiscard]] bool written(const at::Tensor& tensor) const;
    [[nodiscard]] Layout layout(ir::ValueId id) const { return m_states[id.at()].layout; }
    [[nodiscard]] const ir::Program& program() const { return m_program; }

    // Returns the finished program. The recorder must not be used afterwards.
    Walk finish();

private:
    struct State {
        at::Tensor tensor;  // of parameters, constants and values computed from constants only
        const void* storage = nullptr;
        bool fromInput = false;
        bool literal = false;  // computed from constants only, as far as is known so far
        Layout layout;
    };
    using WeakStorage = c10::weak_intrusive_ptr<c10::StorageImpl>;
    struct Memory {
        int number = 0;
        std::optional<WeakStorage> weak;  // keeps the address from being reused, but not the bytes
    };
    struct Backup {
        at::Tensor tensor, copy;
    };

    ir::ValueId add(ir::Value value, State state);
    ir::Value describe(const c10::IValue& leaf, ir::Origin origin);
    int memoryOf(const at::Tensor& tensor);
    Layout layoutAfter(const ir::Op& op) const;
    void restore();
    bool foldable(const ir::Op& op, const std::vector<bool>& folded) const;
    std::optional<ir::OpId> filledBefore(const ir::Op& op) const;
    std::vector<bool> foldedOps() const;
    std::vector<bool> liveOps(const std::vector<bool>& folded) const;
    std::vector<bool> usedValues(const std::vector<bool>& live) const;
    std::vector<ir::OpId> takeOps(const std::vector<bool>& live, ir::Program& out);
    void renumber(ir::Program& out, const std::vector<ir::ValueId>& ids) const;
    void makeConstant(ir::Value& value) const;

    ir::Program m_program;
    std::vector<State> m_states;
    std::unordered_map<const void*, Memory> m_memories;       // by storage
    std::unordered_map<const void*, ir::ValueId> m_known;     // parameters and constants by tensor
    std::unordered_map<const void*, c10::Storage> m_written;  // kept alive, so that their addresses are not reused
    std::unordered_set<const void*> m_tainted;                // storages that hold data derived from inputs
    std::vector<Backup> m_backups;
};

}  // namespace hopscope::loader
