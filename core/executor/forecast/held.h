#pragma once

// Private to forecast: follows the memory that a device holds outside of batches through the stages of a plan. Blocks
// are counted as its allocator does.

#include <set>

#include "executor/session/residents.h"

namespace hopscope::forecast {

class Held {
public:
    // The arguments must outlive the object. `bytes` are held before the first stage.
    Held(const executor::ResidentChoice& choice, executor::Structure& structure, double bytes)
        : m_choice(choice),
          m_structure(structure),
          m_bytes(bytes)
    {}

    // A value without rows is evaluated once and stays until the end.
    void stays(ir::ValueId value, std::int64_t bytes);
    // Adds the parts that stay on a GPU from this loop on. Returns the bytes that are copied there.
    plan::Bytes loads(const executor::LoopProgram& program);
    // Subtracts the parts that no stage after `stage` uses.
    void drops(std::size_t stage, const executor::StagePrograms& programs);

    [[nodiscard]] double bytes() const { return m_bytes; }
    // Returns the bytes that the allocator reserves for the parts and leaves unused.
    [[nodiscard]] double unused() const;

private:
    const executor::ResidentChoice& m_choice;
    executor::Structure& m_structure;
    double m_bytes;
    std::set<ir::ValueId> m_staying;
    std::set<executor::ResidentPart> m_parts;
};

}  // namespace hopscope::forecast
