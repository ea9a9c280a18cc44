#include "executor/stores/spare_files.h"

#include <algorithm>
#include <filesystem>

namespace hopscope::executor {

namespace {

// A longer file would keep its pages for too long.
constexpr std::int64_t mostRoom = 4;  // times the bytes needed

}  // namespace

void SpareFiles::add(std::shared_ptr<Store> store)
{
    if (!store->newFile()) return;
    if (!store->newFile()->reusable()) store->newFile()->forget();
    m_stores.push_back(std::move(store));
}

std::optional<graph::NewFile> SpareFiles::take(std::int64_t bytes)
{
    finishShortening();
    auto best = m_stores.end();
    for (auto at = m_stores.begin(); at != m_stores.end(); ++at) {
        const graph::NewFile& file = *(*at)->newFile();
        const bool fits = file.reusable() && file.room() > bytes && file.room() / mostRoom <= bytes;
        if (fits && (best == m_stores.end() || file.room() < (*best)->newFile()->room())) best = at;
    }
    if (best == m_stores.end()) return std::nullopt;
    std::optional<graph::NewFile> taken = std::move(*(*best)->newFile());
    m_stores.erase(best);
    return taken;
}

void SpareFiles::shorten(const std::shared_ptr<Store>& store)
{
    const graph::NewFile* const file = store->newFile();
    if (file && file->room() > file->size()) m_shortening.emplace_back([store] { store->newFile()->shorten(); });
}

// The system takes 70 ms per GiB for their pages, and more for a disk mounted with discard.
void SpareFiles::drop()
{
    if (m_stores.empty()) return;
    std::vector<std::shared_ptr<Store>> gone = std::exchange(m_stores, {});
    std::uintmax_t bytes = 0;
    for (const auto& store : gone) {
        store->newFile()->forget();
        bytes += static_cast<std::uintmax_t>(store->newFile()->room());
    }
    std::error_code unknown;
    const std::uintmax_t free = std::filesystem::space(m_folder, unknown).available;
    if (unknown || free < bytes) return;
    m_removing = std::jthread([gone = std::move(gone)]() mutable { gone.clear(); });
}

}  // namespace hopscope::executor
