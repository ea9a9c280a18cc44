#pragma once

// Random models as text: message passing, row-wise operators, skips, and means over all rows that are taken off again.

#include <random>
#include <string>

namespace hopscope::test {

inline std::string randomModel(std::uint64_t seed, int operators)
{
    std::mt19937_64 random(seed);
    const std::string rows = " -> f[7,4]\n";
    std::string text = "x = node f[7,4]\ne = index i[2,9]\nw = weight f[4,4]\nn = scalar::size(self=x, dim=0) -> n7\n"
                       "src = aten::select(self=e, dim=0, index=0) -> i[9]\n"
                       "dst = aten::select(self=e, dim=0, index=1) -> i[9]\n"
                       "z = aten::new_zeros(self=x, size=[n, 4], dtype=none, layout=none, device=none, "
                       "pin_memory=none) -> f[7,4]\nv0 = aten::relu(self=x)" +
                       rows;
    const auto line = [&](const std::string& result, const std::string& call, const std::string& shape) {
        text += result + " = aten::" + call + " -> f" + shape + "\n";
    };
    for (int i = 1; i <= operators; ++i) {
        const std::string now = "v" + std::to_string(i), last = "v" + std::to_string(i - 1);
        const std::string other = "v" + std::to_string(random() % static_cast<std::uint64_t>(i));
        switch (random() % 8) {
        case 0:
        case 1:
            line("m" + now, "index_select(self=" + last + ", dim=0, index=src)", "[9,4]");
            line(now, "index_add(self=z, dim=0, index=dst, source=m" + now + ", alpha=1)", "[7,4]");
            break;
        case 2: line(now, "add.Tensor(self=" + last + ", other=" + other + ", alpha=1)", "[7,4]"); break;
        case 3:
            line("r" + now, "mean.dim(self=" + last + ", dim=[0], keepdim=true, dtype=none)", "[1,4]");
            line(now, "sub.Tensor(self=" + last + ", other=r" + now + ", alpha=1)", "[7,4]");
            break;
        case 4: line(now, "linear(input=" + last + ", weight=w, bias=none)", "[7,4]"); break;
        default: line(now, "relu(self=" + last + ")", "[7,4]"); break;
        }
    }
    return text + "out = v" + std::to_string(operators) + "\n";
}

}  // namespace hopscope::test
