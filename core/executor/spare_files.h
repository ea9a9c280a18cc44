#pragma once

// Private to executor: the files of stores that nobody reads any more. The next stores are written into their pages: fresh
// ones cost as much as what is written, and on virtual machines, whose host has to provide them, several times that.

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "executor/store.h"

namespace hopscope::executor {

class SpareFiles {
public:
    explicit SpareFiles(std::string folder) : m_folder(std::move(folder)) {}

    // A store that nobody reads or writes any more.
    void add(std::shared_ptr<Store> store);
    // The shortest file that has room for so many bytes, unless it is much longer.
    std::optional<graph::NewFile> take(std::int64_t bytes);
    // What a store's file has too much goes while the store is written.
    void shorten(const std::shared_ptr<Store>& store);
    // Waits for that: before a store is published.
    void finishShortening() { m_shortening.clear(); }
    // What nobody has taken goes while others work, or at once where its room may be needed.
    void drop();

private:
    std::string m_folder;
    std::vector<std::shared_ptr<Store>> m_stores;
    std::vector<std::jthread> m_shortening;
    std::jthread m_removing;
};

}  // namespace hopscope::executor
