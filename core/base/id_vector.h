#pragma once

// Defines a vector that is indexed by typed ids, table[id], without a cast. Plain positions are accepted as well.

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
