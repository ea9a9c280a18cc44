#pragma once

// Measures how much of a GPU's copying happened during computation.

#include <vector>

namespace hopscope::executor {

class Overlap {
public:
    struct Span {
        double begin = 0, end = 0;  // seconds
    };
    // Spans of the same kind may overlap, as those of copies in both directions do.
    void copied(Span span) { m_copies.push_back(span); }
    void computed(Span span) { m_computing.push_back(span); }
    [[nodiscard]] bool empty() const { return m_copies.empty() || m_computing.empty(); }

    // Returns the time in which the GPU both copied and computed, divided by the shorter of the two total times; 1
    // means that the shorter one is entirely hidden. Returns 0 if there were no copies or no computation.
    [[nodiscard]] double share() const;

private:
    std::vector<Span> m_copies, m_computing;
};

}  // namespace hopscope::executor
