#pragma once

// Private to executor: reuses the files of stores that are no longer read. New stores are written into their pages,
// because fresh pages cost as much as the writes themselves, and several times as much on virtual machines, whose host
// has to provide them.

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "executor/stores/store.h"

namespace hopscope::executor {

class SpareFiles {
public:
    explicit SpareFiles(std::string folder) : m_folder(std::move(folder)) {}

    // Adds a store that is no longer read or written.
    void add(std::shared_ptr<Store> store);
    // Takes the shortest file with room for this number of bytes, unless it is much longer.
    std::optional<graph::NewFile> take(std::int64_t bytes);
    // Frees the excess pages of a store's file while the store is written.
    void shorten(const std::shared_ptr<Store>& store);
    // Waits until these pages are freed. Call it before a store is published.
    void finishShortening() { m_shortening.clear(); }
    // Frees the unused files in the background, or at once if their space may be needed.
    void drop();

private:
    std::string m_folder;
    std::vector<std::shared_ptr<Store>> m_stores;
    std::vector<std::jthread> m_shortening;
    std::jthread m_removing;
};

}  // namespace hopscope::executor
