#include <doctest/doctest.h>

#include "graph/files.h"
#include "graph/safetensors.h"
#include "graph/strided.h"

using namespace hopscope;
using namespace hopscope::graph;
using namespace hopscope::graph::testing;
using base::DType;
using base::ErrorCode;

namespace {

// A view with strides of its own over a vector that outlives it.
template <class T>
base::TensorView viewOf(const std::vector<T>& values, DType dtype, std::vector<std::int64_t> shape,
                        std::vector<std::int64_t> strides)
{
    return {dtype, std::move(shape), std::move(strides), reinterpret_cast<const std::byte*>(values.data()),
            {},    "memory"};
}

}  // namespace

TEST_CASE("a .safetensors file written by hand is mapped tensor by tensor")
{
    const TempFolder folder;
    const std::string path = folder.write(
        "x.safetensors",
        safetensorsBytes(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I64","shape":[2],"data_offsets":[4,20]},)"
                         R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                         R"("e":{"dtype":"U8","shape":[0,3],"data_offsets":[20,20]}}  )",
                         bytesOf<float>({2.5F}) + bytesOf<std::int64_t>({-1, 7})));
    const auto tensors = mapSafetensors(path);
    REQUIRE(tensors);
    REQUIRE(tensors->size() == 3);
    CHECK(tensors->at("a").dtype == DType::Float32);
    CHECK(tensors->at("a").shape.empty());
    CHECK(packed(tensors->at("a")) == bytesOf<float>({2.5F}));
    CHECK(packed(tensors->at("b")) == bytesOf<std::int64_t>({-1, 7}));
    CHECK(reinterpret_cast<std::uintptr_t>(tensors->at("b").data) % 8 == 0);
    CHECK(tensors->at("b").origin == path + ":b");
    CHECK(tensors->at("e").elements() == 0);
}

TEST_CASE("a file without tensors is a file")
{
    const TempFolder folder;
    const auto tensors = mapSafetensors(folder.write("x.safetensors", safetensorsBytes("{}", "")));
    REQUIRE(tensors);
    CHECK(tensors->empty());
}

namespace {

void checkRefused(const std::vector<Malformed>& rows)
{
    for (const auto& [path, error] : refusals("bad.safetensors", rows, mapSafetensors)) {
        CAPTURE(error.message);
        CHECK(error.message.starts_with(path));
    }
}

const std::string fourFloats = bytesOf<float>({1, 2, 3, 4});

std::string two(const std::string& first, const std::string& second)
{
    return safetensorsBytes(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)" + first +
                                R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" + second + "}}",
                            fourFloats);
}

std::string one(const std::string& record) { return safetensorsBytes("{\"a\":" + record + "}", fourFloats); }

}  // namespace

TEST_CASE(".safetensors files that are too short or without a header are refused by file and offset")
{
    const std::string good = two("[0,8]", "[8,16]");
    checkRefused({{"", "at byte 0: the file ends within"},
                  {std::string(7, '\0'), "at byte 7: the file ends within"},
                  {std::string("\x05\xf5\xe1\x00\xff\xff\xff\xff{", 9), "more than the limit of 100000000"},
                  {std::string("\x00\xe1\xf5\x06\0\0\0\0{}", 10), "more than the limit of 100000000"},
                  {std::string("\x00\xe1\xf5\x05\0\0\0\0{}", 10),
                   "the header length is 100000000, but the file ends at byte 10"},
                  {std::string(8, '\0'), "unexpected end of text"},
                  {safetensorsBytes("[]", ""), "the document must be an object"},
                  {safetensorsBytes("{", ""), "unexpected end of text"},
                  {good.substr(0, good.size() - 1),
                   "tensor 'b', field data_offsets: ends at 16, but the data of the file end at 15"}});
}

TEST_CASE("offsets that do not fit the file are refused by tensor")
{
    const std::string good = two("[0,8]", "[8,16]");
    checkRefused({{good + "x", "bytes that belong to no tensor: 1"},
                  {two("[0,8]", "[4,12]"), "tensor 'b', field data_offsets: begins at 4, overlapping"},
                  {two("[0,8]", "[0,8]"), "overlapping"},
                  {two("[0,8]", "[9,17]"), "leaving a gap"},
                  {two("[4,12]", "[12,20]"), "tensor 'a', field data_offsets: begins at 4, leaving a gap"},
                  {two("[0,8]", "[8,20]"),
                   "field /b/data_offsets spans [8, 20), but dtype and shape need this number of bytes: 8"},
                  {two("[8,0]", "[8,16]"), "field /a/data_offsets spans"},
                  {two("[-8,0]", "[0,8]"), "field /a/data_offsets spans"},
                  {two("[0,8,9]", "[8,16]"), "field /a/data_offsets must have two numbers"},
                  {two("[0,8.0]", "[8,16]"), "field /a/data_offsets/1 must be an integer"},
                  {two("[0,99999999999999999999]", "[8,16]"), "outside the 64-bit range"},
                  {two("\"0\"", "[8,16]"), "field /a/data_offsets must be an array"}});
}

TEST_CASE("malformed records of a .safetensors header are refused by field")
{
    checkRefused(
        {{one(R"({"dtype":"F32","shape":[4],"data_offsets":[0,16]},"a":{"dtype":"U8","shape":[],"data_offsets":[0,4]})"),
          "the key 'a' is repeated"},
         {one(R"({"dtype":"F32","dtype":"I32","shape":[4],"data_offsets":[0,16]})"),
          "field /a/dtype: the key 'dtype' is repeated"},
         {one(R"({"dtype":"F8_E4M3","shape":[16],"data_offsets":[0,16]})"),
          "field /a/dtype is 'F8_E4M3', which is not supported"},
         {one(R"({"dtype":"f32","shape":[4],"data_offsets":[0,16]})"), "field /a/dtype is 'f32'"},
         {one(R"({"dtype":5,"shape":[4],"data_offsets":[0,16]})"), "field /a/dtype must be a string"},
         {one(R"({"shape":[4],"data_offsets":[0,16]})"), "field /a/dtype is missing"},
         {one(R"({"dtype":"F32","data_offsets":[0,16]})"), "field /a/shape is missing"},
         {one(R"({"dtype":"F32","shape":[4]})"), "field /a/data_offsets is missing"},
         {one(R"({"dtype":"F32","shape":[-4],"data_offsets":[0,16]})"), "field /a/shape has a negative extent"},
         {one(R"({"dtype":"F32","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,16]})"),
          "field /a/shape exceeds 64-bit sizes"},
         {one(R"({"dtype":"F32","shape":[4611686018427387904,4611686018427387904,0],"data_offsets":[0,0]})"),
          "field /a/shape exceeds 64-bit sizes"},
         {one("[]"), "field /a must be an object"},
         {safetensorsBytes(R"({"__metadata__":{"x":1}})", ""), "field /__metadata__/x must be a string"},
         {safetensorsBytes(R"({"__metadata__":[]})", ""), "field /__metadata__ must be an object"},
         {safetensorsBytes(R"({"m":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", "\x01\x03"), "a bool is 3"}});
}

TEST_CASE("no truncation and no changed header byte crashes the .safetensors reader")
{
    const TempFolder folder;
    const std::string good =
        safetensorsBytes(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", bytesOf<float>({1, 2}));
    for (std::size_t i = 0; i < good.size(); ++i) CHECK(!mapSafetensors(folder.write("cut", good.substr(0, i))));
    for (std::size_t i = 0; i < good.size() - 8; ++i) {
        for (const int flip : {1, 2, 0x10, 0x80}) {
            std::string changed = good;
            changed[i] = static_cast<char>(changed[i] ^ flip);
            const auto tensors = mapSafetensors(folder.write("flip", changed));
            if (tensors) CHECK(tensors->begin()->second.bytes() == 8);
            else CHECK(tensors.error().code == ErrorCode::Input);
        }
    }
}

TEST_CASE("tensors are filled in place or piece by piece and aligned by size")
{
    const TempFolder folder;
    const std::string path = folder.file("out.safetensors");
    {
        auto writer = SafetensorsWriter::create(path, {{"m", DType::Bool, {3}},
                                                       {"h", DType::BFloat16, {1}},
                                                       {"e", DType::Int64, {2, 1}},
                                                       {"x", DType::Float32, {}}});
        REQUIRE(writer);
        CHECK(!std::filesystem::exists(path));
        writer->data("m")[1] = std::byte{1};
        const float value = 4.5F;
        std::memcpy(writer->data("x"), &value, 4);
        const std::int64_t edge = 77;
        REQUIRE(writer->put("e", 8, &edge, 8));
        CHECK(packed(writer->view("e")) == bytesOf<std::int64_t>({0, 77}));
        CHECK(writer->view("e").shape == std::vector<std::int64_t>{2, 1});
        REQUIRE(writer->publish());
    }
    CHECK(folder.names() == std::vector<std::string>{"out.safetensors"});
    const auto tensors = mapSafetensors(path);
    REQUIRE(tensors);
    CHECK(packed(tensors->at("m")) == std::string("\0\1\0", 3));
    CHECK(packed(tensors->at("e")) == bytesOf<std::int64_t>({0, 77}));
    CHECK(packed(tensors->at("x")) == bytesOf<float>({4.5F}));
    CHECK(tensors->at("h").dtype == DType::BFloat16);
    CHECK(tensors->at("h").origin == path + ":h");
}

TEST_CASE("strided views are written in row-major order")
{
    const TempFolder folder;
    const std::vector<std::int16_t> values{1, 2, 3, 4, 5, 6};
    const std::vector<std::uint8_t> wide(3 << 20, 9);
    const base::TensorMap tensors{{"t", viewOf(values, DType::Int16, {3, 2}, {1, 3})},
                                  {"step", viewOf(values, DType::Int16, {3}, {2})},
                                  {"spread", viewOf(values, DType::Int16, {2, 2}, {0, 5})},
                                  {"large", viewOf(wide, DType::UInt8, {1 << 20, 3}, {1, 1 << 20})}};
    const std::string path = folder.file("s.safetensors");
    REQUIRE(writeSafetensors(path, tensors));
    const auto again = mapSafetensors(path);
    REQUIRE(again);
    CHECK(packed(again->at("t")) == bytesOf<std::int16_t>({1, 4, 2, 5, 3, 6}));
    CHECK(packed(again->at("step")) == bytesOf<std::int16_t>({1, 3, 5}));
    CHECK(packed(again->at("spread")) == bytesOf<std::int16_t>({1, 6, 1, 6}));
    CHECK(packed(again->at("large")) == std::string(3 << 20, '\x09'));
}

TEST_CASE("names and types that the format lacks are refused and leave no file")
{
    const TempFolder folder;
    const std::string path = folder.file("x.safetensors");
    struct Row {
        std::vector<TensorSpec> specs;
        std::string expected;
    };
    for (const Row& row : {Row{{{"c", DType::Complex128, {1}}}, "complex128 (tensor 'c')"},
                           Row{{{"a", DType::Float32, {1}}, {"a", DType::Float32, {1}}}, "'a' is repeated"},
                           Row{{{"__metadata__", DType::Float32, {1}}}, "reserved"}}) {
        const auto writer = SafetensorsWriter::create(path, row.specs);
        REQUIRE(!writer);
        CHECK(writer.error().code == ErrorCode::Usage);
        CHECK(writer.error().message.find(row.expected) != std::string::npos);
    }
    const auto huge = SafetensorsWriter::create(path, {{"a", DType::Float64, {INT64_MAX}}, {"b", DType::Float32, {1}}});
    REQUIRE(!huge);
    CHECK(huge.error().code == ErrorCode::Resources);
    {
        const auto dropped = SafetensorsWriter::create(path, {{"a", DType::Float64, {4}}});
    }
    CHECK(folder.names().empty());
}
