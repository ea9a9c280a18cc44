#include "debugger/statistics.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace hopscope::debugger {

namespace {

constexpr std::int64_t pieceNumbers = 1 << 18;

// All numbers, piece by piece along the first dimension.
template <class Look>
void forPieces(const at::Tensor& tensor, Look&& look)
{
    const at::Tensor table = tensor.dim() == 0 ? tensor.unsqueeze(0) : tensor;
    const std::int64_t rows = table.size(0);
    const std::int64_t each = std::max<std::int64_t>(1, pieceNumbers / std::max<std::int64_t>(1, table[0].numel()));
    for (std::int64_t begin = 0; begin < rows; begin += each) {
        const at::Tensor piece = table.slice(0, begin, std::min(rows, begin + each)).to(at::kDouble).contiguous();
        look(std::span(piece.const_data_ptr<double>(), static_cast<std::size_t>(piece.numel())));
    }
}

struct Sums {
    double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0;
};

void count(std::span<const double> numbers, schema::Statistics& found, Sums& sums)
{
    double sum = 0;
    for (const double number : numbers) {
        if (!std::isfinite(number)) {
            ++(std::isnan(number) ? found.nan : found.infinite);
            continue;
        }
        ++found.finite;
        found.zeros += number == 0 ? 1 : 0;
        sums.least = std::min(sums.least, number);
        sums.most = std::max(sums.most, number);
        sum += number;
    }
    sums.sum += sum;
}

// Equal parts of [least, most], or of one around them where they are the same.
class Histogram {
public:
    Histogram(double least, double most)
        : m_first(least == most ? least - 0.5 : least),
          m_last(least == most ? most + 0.5 : most),
          m_counts(schema::histogramBins, 0)
    {}

    [[nodiscard]] bool possible() const { return std::isfinite(m_last - m_first); }
    void add(double number)
    {
        const double part = (number - m_first) * (schema::histogramBins / (m_last - m_first));
        int bin = std::clamp(static_cast<int>(part), 0, schema::histogramBins - 1);
        if (number < edge(bin)) --bin;
        else if (bin + 1 < schema::histogramBins && number >= edge(bin + 1)) ++bin;
        ++m_counts[static_cast<std::size_t>(std::max(bin, 0))];
    }
    [[nodiscard]] std::vector<std::int64_t> take() { return std::move(m_counts); }

private:
    [[nodiscard]] double edge(int bin) const { return bin * ((m_last - m_first) / schema::histogramBins) + m_first; }

    double m_first, m_last;
    std::vector<std::int64_t> m_counts;
};

}  // namespace

schema::Statistics statisticsOf(const at::Tensor& tensor)
{
    schema::Statistics found{.numbers = tensor.numel()};
    if (tensor.numel() == 0 || tensor.is_complex()) return found;
    Sums sums;
    forPieces(tensor, [&](std::span<const double> numbers) { count(numbers, found, sums); });
    if (found.finite == 0) return found;
    const double mean = sums.sum / static_cast<double>(found.finite);
    Histogram histogram(sums.least, sums.most);
    double squares = 0;
    forPieces(tensor, [&](std::span<const double> numbers) {
        double piece = 0;
        for (const double number : numbers) {
            if (!std::isfinite(number)) continue;
            piece += (number - mean) * (number - mean);
            if (histogram.possible()) histogram.add(number);
        }
        squares += piece;
    });
    found.least = sums.least;
    found.most = sums.most;
    found.mean = mean;
    found.deviation = std::sqrt(squares / static_cast<double>(found.finite));
    if (histogram.possible()) found.histogram = histogram.take();
    return found;
}

}  // namespace hopscope::debugger
