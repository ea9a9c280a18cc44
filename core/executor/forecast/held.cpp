#include "executor/forecast/held.h"

#include "executor/memory.h"

namespace hopscope::forecast {

void Held::stays(ir::ValueId value, std::int64_t bytes)
{
    if (m_staying.insert(value).second) m_bytes += static_cast<double>(bytes);
}

plan::Bytes Held::loads(const executor::LoopProgram& program)
{
    plan::Bytes copied;
    const auto held = [&](const executor::ResidentPart& part) { return m_parts.contains(part); };
    for (const executor::ResidentLoad& load : m_choice.added(program, held, m_structure)) {
        m_parts.insert(load.part);
        m_bytes += static_cast<double>(executor::countedOnGpu(load.bytes));
        copied += load.copied;
    }
    return copied;
}

void Held::drops(std::size_t stage, const executor::StagePrograms& programs)
{
    std::erase_if(m_parts, [&](const executor::ResidentPart& part) {
        const bool gone = !m_choice.usedAfter(part, stage, programs);
        if (gone) m_bytes -= static_cast<double>(executor::countedOnGpu(m_choice.bytes(part, m_structure)));
        return gone;
    });
}

double Held::unused() const
{
    std::vector<std::int64_t> uploaded, computed;  // the allocator has a pool for each stream
    std::int64_t used = 0;
    for (const executor::ResidentPart& part : m_parts) {
        auto& pool = part.kind == executor::ResidentPart::Store ? computed : uploaded;
        pool.push_back(m_choice.bytes(part, m_structure));
        used += executor::countedOnGpu(pool.back());
    }
    return static_cast<double>(executor::reservedOnGpu(uploaded) + executor::reservedOnGpu(computed) - used);
}

}  // namespace hopscope::forecast
