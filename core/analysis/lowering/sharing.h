#pragma once

// Private to analysis: finds the values of a raw program that may share memory, by the observations of the walk.

#include <optional>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace hopscope::analysis {

// True if a result of the operator shared its first operand's memory in the walk. If the walk could not observe this,
// the table of operators decides.
bool sharesWithFirst(const ir::Program& raw, const ir::Op& op, ir::ValueId result);

// Finds harmful writes to shared memory. Functional programs follow writes from views to their bases. A write that
// cannot be followed does no harm unless a value that shares the written memory is read afterwards.
class Sharing {
public:
    // Keeps a reference. Linear in the program.
    explicit Sharing(const ir::Program& raw);

    // Returns the refusal of an in-place operator if a value that is read after it shares the written memory on some
    // graphs only, or in a way that cannot be followed. Linear in the program.
    [[nodiscard]] std::optional<base::Error> conflict(const ir::Op& write) const;

private:
    struct Doubt {  // two families that share memory on some graphs only, or in a way that cannot be traced
        int a = 0, b = 0;
        ir::OpId op;
    };
    int family(ir::ValueId v) const { return m_family[v.at()]; }
    int root(int v);
    void join(ir::ValueId a, ir::ValueId b);
    void follow(const ir::Op& op);
    void doubtMemory();
    [[nodiscard]] std::optional<ir::ValueId> readLater(int family, ir::OpId write) const;
    [[nodiscard]] base::Error error(const ir::Op& write, ir::ValueId read, const Doubt& doubt) const;

    const ir::Program& m_raw;
    std::vector<int> m_family;    // by value: a value that certainly shares its memory, in a way that is followed
    std::vector<int> m_lastRead;  // by value: position of the last operator that reads its numbers; -1: none
    std::vector<Doubt> m_doubts;  // by families
};

}  // namespace hopscope::analysis
