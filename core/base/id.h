#pragma once

// Defines typed ids: an OpId cannot be used as a ValueId. An id is an index into the table that issued it; -1 means
// none.

#include <compare>
#include <cstdint>
#include <functional>

namespace hopscope::base {

template <class Tag>
struct Id {
    std::int32_t index = -1;

    constexpr Id() = default;
    constexpr explicit Id(std::int32_t i) : index(i) {}
    constexpr explicit Id(std::size_t i) : index(static_cast<std::int32_t>(i)) {}

    [[nodiscard]] constexpr bool valid() const { return index >= 0; }
    [[nodiscard]] constexpr std::size_t at() const { return static_cast<std::size_t>(index); }
    constexpr auto operator<=>(const Id&) const = default;
};

}  // namespace hopscope::base

template <class Tag>
struct std::hash<hopscope::base::Id<Tag>> {
    std::size_t operator()(hopscope::base::Id<Tag> id) const noexcept { return std::hash<std::int32_t>{}(id.index); }
};
