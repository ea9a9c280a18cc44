#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

#include "loader/archive/tensor_records.h"

using namespace hopscope;

namespace {

// Pickles by hand, operation by operation, as Python's pickletools prints them.
std::string text(const std::string& t)
{
    return std::string("X") + static_cast<char>(t.size()) + std::string(3, '\0') + t;
}
std::string number(int n)
{
    return std::string("J") + static_cast<char>(n) + static_cast<char>(n >> 8) + std::string(2, n < 0 ? '\xff' : '\0');
}
std::string global(const std::string& module, const std::string& name) { return "c" + module + "\n" + name + "\n"; }
std::string tuple(const std::vector<std::string>& items)
{
    std::string all = "(";
    for (const std::string& i : items) all += i;
    return all + "t";
}
std::string storage(const std::string& type, const std::string& key, int elements)
{
    return tuple({text("storage"), global("torch", type), text(key), text("cpu"), number(elements)}) + "Q";
}
std::string tensor(const std::string& of, int offset, const std::vector<int>& sizes, const std::vector<int>& strides)
{
    std::vector<std::string> s, t;
    for (const int n : sizes) s.push_back(number(n));
    for (const int n : strides) t.push_back(number(n));
    return global("torch._utils", "_rebuild_tensor_v2") + tuple({of, number(offset), tuple(s), tuple(t), "\x89"}) + "R";
}

// What is wrong with a file of one pickle and the record data/0 of so many bytes.
std::string faultOf(const std::string& pickle, std::size_t bytes)
{
    const std::string path = "tensor-records-" + std::to_string(::getpid()) + ".pt";
    REQUIRE(loader::writeArchive(path, {{"m/constants.pkl", "\x80\x02)."},
                                        {"m/version", "3"},
                                        {"m/data.pkl", "\x80\x02" + pickle + "."},
                                        {"m/data/0", std::string(bytes, 'x')}}));
    const auto file = loader::MappedFile::open(path);
    std::filesystem::remove(path);
    REQUIRE(file);
    const auto archive = loader::scanArchive(file->bytes(), "f.pt");
    REQUIRE(archive);
    const auto ok = loader::checkTensorRecords(file->bytes(), *archive, "f.pt");
    if (!ok) CHECK(ok.error().where.starts_with("data.pkl:"));
    return ok ? "" : ok.error().message;
}

void expectFault(const std::string& pickle, std::size_t bytes, const std::string& words)
{
    const std::string fault = faultOf(pickle, bytes);
    INFO(fault);
    CHECK(fault.find(words) != std::string::npos);
}

struct Dim {
    int size, stride;
};

// The highest element that the tensor touches, plus one: by visiting all.
int touched(int offset, const std::vector<Dim>& dims, std::size_t d = 0)
{
    if (d == dims.size()) return offset + 1;
    int most = 0;
    for (int i = 0; i < dims[d].size; ++i) most = std::max(most, touched(offset + i * dims[d].stride, dims, d + 1));
    return most;
}

}  // namespace

TEST_CASE("A storage needs all its bytes, of its type")
{
    const std::vector<std::pair<std::string, std::size_t>> types{
        {"BoolStorage", 1}, {"HalfStorage", 2}, {"FloatStorage", 4}, {"LongStorage", 8}, {"ComplexDoubleStorage", 16}};
    for (const auto& [type, each] : types) {
        CAPTURE(type);
        CHECK(faultOf(storage(type, "0", 5), 5 * each).empty());
        expectFault(storage(type, "0", 5), 5 * each - 1,
                    "data/0 has " + std::to_string(5 * each - 1) + " bytes, but its tensor needs " +
                        std::to_string(5 * each));
    }
    CHECK(faultOf(storage("FloatStorage", "1", 0), 0).empty());
    expectFault(storage("FloatStorage", "1", 1), 4, "data/1 is missing");
    expectFault(storage("FloatStorage", "0", -1), 4, "is said to have -1 elements");
    expectFault(storage("StringStorage", "0", 1), 4, "unknown type torch.StringStorage");
}

TEST_CASE("A tensor fits exactly where each of its elements does")
{
    std::mt19937 random(7);
    const auto upTo = [&](int n) { return std::uniform_int_distribution(0, n)(random); };
    int fitting = 0;
    for (int round = 0; round < 400; ++round) {
        std::vector<Dim> dims(static_cast<std::size_t>(upTo(3)));
        for (Dim& d : dims) d = {upTo(4), upTo(5)};
        const int offset = upTo(6), elements = upTo(14);
        std::vector<int> sizes, strides;
        for (const Dim& d : dims) {
            sizes.push_back(d.size);
            strides.push_back(d.stride);
        }
        CAPTURE(round);
        const std::string fault = faultOf(tensor(storage("FloatStorage", "0", elements), offset, sizes, strides), 56);
        const bool empty = std::ranges::any_of(dims, [](const Dim& d) { return d.size == 0; });
        const bool fits = empty || touched(offset, dims) <= elements;
        CHECK(fault.empty() == fits);
        fitting += fits;
    }
    CHECK(fitting > 100);
    CHECK(fitting < 300);
}

TEST_CASE("Sizes that are negative, overflow or have no strides do not fit")
{
    const std::string of = storage("FloatStorage", "0", 4);
    expectFault(tensor(of, -1, {1}, {1}), 16, "does not fit");
    expectFault(tensor(of, 0, {-1}, {1}), 16, "does not fit");
    expectFault(tensor(of, 0, {2}, {-1}), 16, "does not fit");
    expectFault(tensor(of, 0, {2, 2}, {1}), 16, "does not fit");
    expectFault(tensor(number(1), 0, {1}, {1}), 16, "does not fit");
}

TEST_CASE("Storages are found through the memo, and a subclass holds a tensor like any other")
{
    const std::string of = storage("FloatStorage", "0", 4);
    CHECK(faultOf(of + "q\x07" + tensor("h\x07", 0, {4}, {1}), 16).empty());
    expectFault(of + "q\x07" + tensor("h\x07", 0, {5}, {1}), 16, "does not fit");
    const std::string rebuild = global("torch._utils", "_rebuild_tensor_v2"), type = global("torch", "Tensor");
    const auto subclass = [&](int n) {
        return global("torch._tensor", "_rebuild_from_type_v2") +
               tuple({rebuild, type, tuple({of, number(0), tuple({number(n)}), tuple({number(1)}), "\x89"}), "}"}) +
               "R";
    };
    CHECK(faultOf(subclass(4), 16).empty());
    expectFault(subclass(5), 16, "does not fit");
}

TEST_CASE("No pickle crashes the check: cut off, random, or nested without end")
{
    const std::string whole = tensor(storage("FloatStorage", "0", 4), 0, {4}, {1});
    for (std::size_t length = 0; length < whole.size(); ++length)
        static_cast<void>(faultOf(whole.substr(0, length), 16));
    std::mt19937 random(11);
    for (int round = 0; round < 300; ++round) {
        std::string damaged = whole;
        for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
        static_cast<void>(faultOf(damaged, 16));
    }
    CHECK(faultOf(")" + std::string(1'000'000, '\x85'), 0).empty());
    expectFault("0", 0, "an operation that TorchScript files do not have: 48");
    expectFault("h\x09", 0, "an object that it has not made");
    expectFault("R", 0, "more objects than it has made");
}
