#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cmath>
#include <limits>

#include "graph/dataset.h"
#include "graph/files.h"
#include "graph/formats.h"
#include "graph/safetensors.h"

using namespace hopscope;
using namespace hopscope::graph;
using namespace hopscope::graph::testing;
using base::DType;
using base::ErrorCode;

namespace {

std::string npyOf(const std::string& descr, const std::string& shape, const std::string& elements, bool fortran = false)
{
    return npyBytes("{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                        ", 'shape': " + shape + ", }\n",
                    elements);
}

const std::string kFloats = npyOf("<f4", "(2,)", bytesOf<float>({1, 2}));
const std::string kTensorFile =
    safetensorsBytes(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", bytesOf<float>({1}));

std::vector<std::string> keys(const base::TensorMap& data)
{
    std::vector<std::string> result;
    for (const auto& [name, view] : data) result.push_back(name);
    return result;
}

}  // namespace

TEST_CASE("the three forms of data arguments add up")
{
    const TempFolder folder;
    std::filesystem::create_directory(folder.file("npys"));
    (void)folder.write("npys/edge_index.npy", npyOf("<i8", "(2, 1)", bytesOf<std::int64_t>({0, 1})));
    (void)folder.write("npys/xs%2Fuser.npy", kFloats);
    (void)folder.write("npys/notes.txt", "not looked at");
    const std::string one = folder.write("odd=name.bin", kTensorFile);
    const std::string two = folder.write("w=1.npy", kFloats);
    const auto data = readData({folder.file("npys"), one, "edge_weight=" + two});
    REQUIRE_MESSAGE(data, data.error().message);
    CHECK(keys(*data) == std::vector<std::string>{"edge_index", "edge_weight", "x", "xs/user"});
    CHECK(readData({}).value().empty());
}

TEST_CASE("what is no data file is told what it is")
{
    const TempFolder folder;
    struct Row {
        std::string bytes, expected;
    };
    const std::vector<Row> rows{{"0 1\n1 2\n", "is a text file"},
                                {"{\"x\": [1, 2]}", "is a text file"},
                                {"PK\x03\x04rest", "is a zip archive"},
                                {std::string("PK\x05\x06\0\0", 6), "is a zip archive"},
                                {std::string("\x80\x04\x95\x10\0\0\0\0\0\0\0.", 12), "is a Python pickle"},
                                {std::string("\x80\x02\x8a\x0al\xfc\x9c", 7), "is a Python pickle"},
                                {std::string("\x89HDF\r\n\x1a\n\0\0", 10), "is an HDF5 file"},
                                {"\x1f\x8b\x08", "compressed with gzip"},
                                {"PAR1\x15\x04", "is a Parquet file"},
                                {"", "is empty"},
                                {std::string("\x01\x02\0\x03", 4), "is neither a .npy nor a "}};
    for (const Row& row : rows) {
        for (const std::string prefix : {"", "x="}) {
            const std::string path = folder.write("data.npy", row.bytes);
            const auto data = readData({prefix + path});
            CAPTURE(row.expected);
            REQUIRE(!data);
            CAPTURE(data.error().message);
            CHECK(data.error().code == ErrorCode::Input);
            CHECK(data.error().message.find(path + " ") != std::string::npos);
            CHECK(data.error().message.find(row.expected) != std::string::npos);
            CHECK(!data.error().hint.empty());
        }
    }
}

TEST_CASE("a name tells nothing, the content all")
{
    const TempFolder folder;
    CHECK(readData({folder.write("data.npy", kTensorFile)}));
    CHECK(readData({"x=" + folder.write("x.safetensors", kFloats)}));
}

TEST_CASE("every format has a sample, which is read as another program wrote it, or not at all if it is cut short")
{
    const std::string expected = bytesOf<float>({1.5F, -2, 3.25F, 0, 0.001F, 7});
    for (const Format& format : formats) {
        const std::string name = std::string("sample.") + format.suffix;
        const std::string bytes = readAll(HOPSCOPE_FORMAT_SAMPLES "/" + name);
        const TempFolder folder;
        CAPTURE(name);
        for (std::size_t size = bytes.size() + 1; size-- > 0;) {
            const std::string file = folder.write(name, bytes.substr(0, size));
            const auto data = readData({format.holds == Holds::Array ? "x=" + file : file});
            CAPTURE(size);
            CHECK((data || size < bytes.size()));
            if (!data) continue;
            const base::TensorView& x = data->at("x");
            CHECK(x.dtype == DType::Float32);
            CHECK(x.shape == std::vector<std::int64_t>{2, 3});
            CHECK(std::string(reinterpret_cast<const char*>(x.data), expected.size()) == expected);
        }
    }
}

TEST_CASE("the forms of arguments and the table of the formats follow from the formats")
{
    for (const Format& format : formats) {
        const std::string suffix = std::string(".") + format.suffix;
        CAPTURE(suffix);
        CHECK(dataForms().find((format.holds == Holds::Array ? "NAME=FILE" : "a ") + suffix) != std::string::npos);
        CHECK(listSuffixes({}, " ", "*.").find("*" + suffix) != std::string::npos);
        CHECK(formatNamed("/a.b/x" + suffix) == &format);
        CHECK(formatNamed("/a" + suffix + "/x.npz") == nullptr);
    }
}

TEST_CASE("arguments that fit no form are refused")
{
    const TempFolder folder;
    std::filesystem::create_directory(folder.file("empty"));
    REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
    const std::string npy = folder.write("x.npy", kFloats), tensors = folder.write("t.safetensors", kTensorFile);
    struct Row {
        std::vector<std::string> arguments;
        ErrorCode code;
        std::string expected;
    };
    const std::vector<Row> rows{
        {{npy}, ErrorCode::Usage, "needs a name"},
        {{"x=" + tensors}, ErrorCode::Usage, "names of their own"},
        {{"=" + npy}, ErrorCode::Usage, "is not a valid data argument"},
        {{"x="}, ErrorCode::Usage, "is not a valid data argument"},
        {{""}, ErrorCode::Input, "no such file"},
        {{folder.file("none.safetensors")}, ErrorCode::Input, "no such file: " + folder.file("none.safetensors")},
        {{"x=" + folder.file("none.npy")}, ErrorCode::Input, "no such file: " + folder.file("none.npy")},
        {{folder.file("empty")}, ErrorCode::Input, "has no .npy"},
        {{folder.file("pipe")}, ErrorCode::Input, "is a named pipe"},
        {{"x=" + folder.path()}, ErrorCode::Input, "is a folder"},
        {{"x=" + npy, tensors}, ErrorCode::Usage, "'x' is given twice, by " + npy + " and " + tensors + ":x"},
        {{"x=" + npy, "x=" + npy}, ErrorCode::Usage, "'x' is given twice"}};
    for (const Row& row : rows) {
        const auto data = readData(row.arguments);
        CAPTURE(row.expected);
        REQUIRE(!data);
        CAPTURE(data.error().message);
        CHECK(data.error().code == row.code);
        CHECK(data.error().message.find(row.expected) != std::string::npos);
    }
    const auto longName = readData({folder.file(std::string(300, 'x'))});  // as every file that cannot be opened
    REQUIRE(!longName);
    CHECK(longName.error().message.find("File name too long") != std::string::npos);
    CHECK(longName.error().hint.empty());
}

TEST_CASE("the hash sees names, types, shapes and every element, but not the layout")
{
    const TempFolder folder;
    int number = 0;
    const auto hash = [&](const std::string& name, const std::string& bytes) {
        const auto data = readData({name + "=" + folder.write("h" + std::to_string(number++) + ".npy", bytes)});
        REQUIRE(data);
        return hashData(*data);
    };
    const std::string original = hash("x", npyOf("<i4", "(2, 3)", bytesOf<std::int32_t>({1, 2, 3, 4, 5, 6})));
    CHECK(original.size() == 32);
    CHECK(original == hash("x", npyOf("<i4", "(2, 3)", bytesOf<std::int32_t>({1, 4, 2, 5, 3, 6}), true)));
    CHECK(original != hash("y", npyOf("<i4", "(2, 3)", bytesOf<std::int32_t>({1, 2, 3, 4, 5, 6}))));
    CHECK(original != hash("x", npyOf("<u4", "(2, 3)", bytesOf<std::int32_t>({1, 2, 3, 4, 5, 6}))));
    CHECK(original != hash("x", npyOf("<i4", "(3, 2)", bytesOf<std::int32_t>({1, 2, 3, 4, 5, 6}))));
    CHECK(original != hash("x", npyOf("<i4", "(2, 3)", bytesOf<std::int32_t>({1, 2, 3, 4, 5, 7}))));
    CHECK(hashData({}) == "99aa06d3014798d86001c324468d497f");
}

TEST_CASE("the hash of a large transposed tensor equals that of its copy")
{
    const TempFolder folder;
    std::vector<std::int64_t> values(300'000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i * i);
    base::TensorView view{DType::Int64, {100'000, 3}, {1, 100'000}, reinterpret_cast<const std::byte*>(values.data()),
                          {},           "m"};
    REQUIRE(writeSafetensors(folder.file("c.safetensors"), {{"t", view}}));
    const auto copy = readData({folder.file("c.safetensors")});
    REQUIRE(copy);
    CHECK(hashData(*copy) == hashData({{"t", view}}));
}

TEST_CASE("data that do not fit into memory are read once, with the same hash and the same counts")
{
    const TempFolder folder;
    std::vector<float> values(5'000'000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 3;
    values[1] = values[4'999'999] = std::numeric_limits<float>::infinity();
    const std::vector<std::int64_t> numbers{0, 1, 2, 3};
    const auto view = [](const auto& data, DType dtype, std::vector<std::int64_t> shape,
                         std::vector<std::int64_t> strides) {
        return base::TensorView{
            dtype, std::move(shape), std::move(strides), reinterpret_cast<const std::byte*>(data.data()), {}, {}};
    };
    REQUIRE(writeSafetensors(folder.file("d.safetensors"), {{"x", view(values, DType::Float32, {1'250'000, 4}, {4, 1})},
                                                            {"edge_index", view(numbers, DType::Int64, {2, 2}, {2, 1})},
                                                            {"none", view(values, DType::Float32, {0, 4}, {4, 1})}}));
    auto data = readData({folder.file("d.safetensors")});
    REQUIRE(data);
    data->emplace("columns", view(values, DType::Float32, {2, 3}, {1, 2}));  // in memory, and not in order
    const DataFacts facts = examine(*data, 1);
    CHECK(facts.hash == hashData(*data));
    CHECK(facts.notFinite == std::map<std::string, std::int64_t>{{"columns", 1}, {"x", 2}});
    const DataFacts fitting = examine(*data, std::int64_t{1} << 30);
    CHECK(fitting.hash == facts.hash);
    CHECK(fitting.notFinite == facts.notFinite);
}

TEST_CASE("NaN and infinities are counted per floating tensor")
{
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const std::vector<float> single{1, nan, inf, -inf, std::numeric_limits<float>::max(), 1e-45F};
    const std::vector<double> twice{0, -static_cast<double>(nan), 1e308};
    const std::vector<std::uint16_t> half{0x7C00, 0xFC01, 0x7BFF, 0x7F80};
    const auto view = [](const auto& values, DType dtype, std::vector<std::int64_t> shape,
                         std::vector<std::int64_t> strides) {
        return base::TensorView{
            dtype, std::move(shape), std::move(strides), reinterpret_cast<const std::byte*>(values.data()), {}, {}};
    };
    const auto facts = examine({{"single", view(single, DType::Float32, {6}, {1})},
                                {"columns", view(single, DType::Float32, {2, 3}, {1, 2})},
                                {"twice", view(twice, DType::Float64, {3}, {1})},
                                {"half", view(half, DType::Float16, {4}, {1})},
                                {"brain", view(half, DType::BFloat16, {4}, {1})},
                                {"fine", view(single, DType::Float32, {1}, {1})},
                                {"integers", view(half, DType::Int16, {4}, {1})}});
    CHECK(facts.notFinite ==
          std::map<std::string, std::int64_t>{{"single", 3}, {"columns", 3}, {"twice", 1}, {"half", 3}, {"brain", 1}});
    for (const std::int64_t memory : {0, 1 << 20}) {
        CHECK(countNotFinite(view(single, DType::Float32, {2, 3}, {1, 2}), memory) == NotFinite{3, 6});
        CHECK(countNotFinite(view(single, DType::Complex64, {3}, {1}), memory) == NotFinite{3, 6});
        CHECK(countNotFinite(view(half, DType::Float16, {4}, {1}), memory) == NotFinite{3, 4});
        CHECK(countNotFinite(view(half, DType::Int16, {4}, {1}), memory) == NotFinite{0, 0});
    }
}
