#pragma once

// How much of a GPU's copying ran while it computed.

#include <vector>

namespace hopscope::executor {

class Overlap {
public:
    struct Span {
        double begin = 0, end = 0;  // seconds
    };
    // Spans of one kind may touch or cover each other, as copies in and out do.
    void copied(Span span) { m_copies.push_back(span); }
    void computed(Span span) { m_computing.push_back(span); }
    [[nodiscard]] bool empty() const { return m_copies.empty() || m_computing.empty(); }

    // The time in which both went on, as a share of the shorter one: 1 if it is all hidden behind the other. Sorts.
    [[nodiscard]] double share() const;

private:
    std::vector<Span> m_copies, m_computing;
};

}  // namespace hopscope::executor
