#pragma once

// Private to executor: keeps rows of a store in memory when they are written, for the loop that reads them next.

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "executor/stores/kept_rows.h"
#include "ir/program.h"
#include "ir/rows.h"

namespace hopscope::executor {

// The wanted rows of a store from `first` on, in two separate groups: rows that destinations of the next loop request
// by a key, and these destinations' own rows that no key refers to.
class HandedRows {
public:
    struct Wanted {
        std::shared_ptr<const graph::RowSet> asked, own;  // own: may be none
        std::int64_t first = 0, rowBytes = 0;
    };
    // `room` is the number of bytes that later windows may need for requested rows; `spare` has pages that the loop no
    // longer needs. Throws Failure.
    HandedRows(const Wanted& wanted, std::int64_t room, std::shared_ptr<graph::SparePages> spare);

    // Puts consecutive rows, from number `row` on. Threads may put different rows concurrently.
    void put(std::int64_t row, std::int64_t count, const std::byte* rows);
    // Ends the writing. Call it after the last put().
    void end() { m_spare.reset(); }
    // Returns whether all rows from `first` on have been put.
    [[nodiscard]] bool complete() const { return m_count == m_wanted.asked->rows() - m_wanted.first; }

    [[nodiscard]] std::int64_t bytes() const;
    // Hand the rows over to the loop that reads them. Call each of them once.
    KeptRows takeAsked() { return std::move(m_asked); }
    std::optional<KeptRows> takeOwn() { return std::exchange(m_own, {}); }

private:
    Wanted m_wanted;
    KeptRows m_asked;
    std::optional<KeptRows> m_own;
    std::shared_ptr<graph::SparePages> m_spare;
    std::atomic<std::int64_t> m_count = 0;
};

// The rows that a loop leaves in memory for the next one.
struct HandedOn {
    std::int64_t destinations = 0;                                      // of the next loop, from 0 on
    std::map<ir::SpaceId, std::shared_ptr<const graph::RowSet>> asked;  // rows that these request
    std::map<ir::ValueId, std::shared_ptr<HandedRows>> rows;
};

}  // namespace hopscope::executor
