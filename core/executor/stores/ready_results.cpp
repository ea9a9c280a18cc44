#include "executor/stores/ready_results.h"

#include <c10/core/InferenceMode.h>

namespace hopscope::executor {

void ReadyResults::begin(std::vector<ir::ValueId> values, Make make)
{
    if (values.empty()) return;
    m_creating = true;
    m_thread = std::jthread([this, values = std::move(values), make = std::move(make)](const std::stop_token& stop) {
        const c10::InferenceMode inference;
        for (const std::shared_ptr<Store>& store : create(values, make, stop)) store->preparePages(stop);
    });
}

std::vector<std::shared_ptr<Store>> ReadyResults::create(const std::vector<ir::ValueId>& values, const Make& make,
                                                         const std::stop_token& stop)
{
    std::map<ir::ValueId, std::shared_ptr<Store>> made;
    std::vector<std::shared_ptr<Store>> inOrder;
    try {
        for (const ir::ValueId value : values)
            if (!stop.stop_requested()) inOrder.push_back(made[value] = make(value));
    } catch (const std::exception&) {  // creating it again will report the reason
    }
    const std::lock_guard lock(m_mutex);
    m_stores = std::move(made);
    m_creating = false;
    m_created.notify_all();
    return inOrder;
}

std::shared_ptr<Store> ReadyResults::take(ir::ValueId value)
{
    std::unique_lock lock(m_mutex);
    m_created.wait(lock, [this] { return !m_creating; });
    const auto it = m_stores.find(value);
    return it == m_stores.end() ? nullptr : m_stores.extract(it).mapped();
}

}  // namespace hopscope::executor
