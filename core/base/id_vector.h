#pragma once

// A vector that the ids of its elements are indices of: table[id], without a cast. Positions are accepted as well.

#include <vector>

namespace hopscope::base {

template <class Id, class T>
class IdVector : public std::vector<T> {
public:
    using std::vector<T>::vector;
    using std::vector<T>::operator[];
    using std::vector<T>::at;

    [[nodiscard]] T& operator[](Id id) { return (*this)[id.at()]; }
    [[nodiscard]] const T& operator[](Id id) const { return (*this)[id.at()]; }
    [[nodiscard]] T& at(Id id) { return at(id.at()); }
    [[nodiscard]] const T& at(Id id) const { return at(id.at()); }
    [[nodiscard]] bool contains(Id id) const { return id.valid() && id.at() < this->size(); }
};

}  // namespace hopscope::base
