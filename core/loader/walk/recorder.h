#pragma once

// Builds the raw program while the walker runs the model, and tidies it at the end: operators on constants alone become
// constants, operators that nothing needs go, ids become dense.

#include <torch/script.h>

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "loader/torch_model.h"
#include "loader/walk/walk_item.h"

namespace hopscope::loader {

class Recorder {
public:
    // Undoes the writes of the walk into the model's own tensors.
    ~Recorder() { restore(); }
    Recorder() = default;
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    ir::ValueId input(const std::string& name, const c10::IValue& leaf);
    ir::ValueId parameter(const std::string& name, const at::Tensor& tensor);
    ir::ValueId constant(const at::Tensor& tensor);
    ir::ValueId constantNumber(const c10::IValue& number);

    // Appends the operator and one value per leaf of `results` (tensors, numbers).
    std::vector<ir::ValueId> append(ir::Op op, const std::vector<c10::IValue>& results);
    // Call before and after an operator that writes into the tensor.
    void beforeWrite(const at::Tensor& tensor);
    void afterWrite(const at::Tensor& tensor, bool fromInput);

    void output(const std::string& name, ir::ValueId value) { m_program.outputs.push_back({name, value}); }
    void guard(ir::Guard guard) { m_program.guards.push_back(std::move(guard)); }

    // Whether the value could differ on other inputs; whether its shape could.
    [[nodiscard]] bool fromInput(const Item& item) const;
    [[nodiscard]] bool shapeFromInput(ir::ValueId id) const { return m_states[id.at()].fromInput; }
    [[nodiscard]] bool written(const at::Tensor& tensor) const;
    [[nodiscard]] const ir::Program& program() const { return m_program; }

    Walk finish();

private:
    struct State {
        at::Tensor tensor;  // of parameters, constants and what follows from constants alone
        const void* storage = nullptr;
        bool fromInput = false;
        bool literal = false;  // follows from constants alone, as far as seen
    };
    struct Backup {
        at::Tensor tensor, copy;
    };

    ir::ValueId add(ir::Value value, State state);
    ir::Value describe(const c10::IValue& leaf, ir::Origin origin) const;
    void restore();
    bool foldable(const ir::Op& op, const std::vector<bool>& folded) const;
    std::vector<bool> foldedOps() const;
    std::vector<bool> liveOps(const std::vector<bool>& folded) const;
    std::vector<bool> usedValues(const std::vector<bool>& live) const;
    std::vector<ir::OpId> takeOps(const std::vector<bool>& live, ir::Program& out);
    void renumber(ir::Program& out, const std::vector<ir::ValueId>& ids) const;
    void makeConstant(ir::Value& value) const;

    ir::Program m_program;
    std::vector<State> m_states;
    std::unordered_map<const void*, ir::ValueId> m_known;     // parameters and constants by tensor
    std::unordered_map<const void*, c10::Storage> m_written;  // kept alive, so that no address is used again
    std::unordered_set<const void*> m_tainted;                // written with something that derives from inputs
    std::vector<Backup> m_backups;
};

}  // namespace hopscope::loader
