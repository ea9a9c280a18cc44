#include "base/sha256.h"

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace hopscope::base {

namespace {

using Word = std::uint32_t;
constexpr std::size_t blockSize = 64;

constexpr std::array<Word, 64> constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<Word, 8>;

std::array<Word, 64> schedule(const std::byte* block)
{
    std::array<Word, 64> w{};
    for (std::size_t i = 0; i < 16; ++i)
        for (std::size_t b = 0; b < 4; ++b) w[i] = w[i] << 8 | std::to_integer<Word>(block[4 * i + b]);
    for (std::size_t i = 16; i < 64; ++i) {
        const Word low = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
        const Word high = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + low + w[i - 7] + high;
    }
    return w;
}

void compress(State& state, const std::byte* block)
{
    const std::array<Word, 64> w = schedule(block);
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
        const Word one = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const Word first = h + one + ((e & f) ^ (~e & g)) + constants[i] + w[i];
        const Word zero = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const Word second = zero + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    const State mixed{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
}

// The remaining bytes, a one bit, zeros, and the number of bits.
std::vector<std::byte> tail(std::span<const std::byte> bytes)
{
    const std::size_t rest = bytes.size() % blockSize;
    std::vector<std::byte> last(bytes.end() - static_cast<std::ptrdiff_t>(rest), bytes.end());
    last.push_back(std::byte{0x80});
    while (last.size() % blockSize != blockSize - 8) last.push_back(std::byte{0});
    const std::uint64_t bits = static_cast<std::uint64_t>(bytes.size()) * 8;
    for (int shift = 56; shift >= 0; shift -= 8) last.push_back(static_cast<std::byte>(bits >> shift & 0xff));
    return last;
}

std::string hexadecimal(const State& state)
{
    std::string text;
    for (const Word word : state)
        for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 0xf];
    return text;
}

}  // namespace

std::string sha256(std::span<const std::byte> bytes)
{
    State state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (std::size_t i = 0; i + blockSize <= bytes.size(); i += blockSize) compress(state, &bytes[i]);
    const std::vector<std::byte> last = tail(bytes);
    for (std::size_t i = 0; i < last.size(); i += blockSize) compress(state, &last[i]);
    return hexadecimal(state);
}

}  // namespace hopscope::base
