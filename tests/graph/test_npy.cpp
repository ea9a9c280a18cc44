#include <doctest/doctest.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmath>

#include "graph/files.h"
#include "graph/npy.h"
#include "graph/strided.h"

using namespace hopscope;
using namespace hopscope::graph;
using namespace hopscope::graph::testing;
using base::DType;
using base::ErrorCode;

namespace {

const std::string kTwoFloats = bytesOf<float>({1.5F, -2.0F});

// Row-major packed bytes of a view.
}  // namespace

TEST_CASE("a file written by hand is mapped as it stands")
{
    const TempFolder folder;
    const std::string path = folder.write(
        "x.npy", npyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }      \n", kTwoFloats));
    const auto view = mapNpy(path);
    REQUIRE(view);
    CHECK(view->dtype == DType::Float32);
    CHECK(view->shape == std::vector<std::int64_t>{2});
    CHECK(view->strides == std::vector<std::int64_t>{1});
    CHECK(view->origin == path);
    CHECK(packed(*view) == kTwoFloats);
}

TEST_CASE("headers may differ in version, key order, quotes and spaces")
{
    const TempFolder folder;
    for (const int major : {1, 2, 3}) {
        for (const std::string dictionary : {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
                                             "{\"shape\":(2,),\"descr\":\"<f4\",\"fortran_order\":False}",
                                             " { 'shape' : ( 2L , ) , 'fortran_order' : True , 'descr' : '=f4' } \n",
                                             "{'descr': 'f4', 'fortran_order': False, 'shape': (1, 2, 1), }\n"}) {
            CAPTURE(major);
            CAPTURE(dictionary);
            const auto view = mapNpy(folder.write("x.npy", npyBytes(dictionary, kTwoFloats, major)));
            REQUIRE(view);
            CHECK(packed(*view) == kTwoFloats);
        }
    }
}

TEST_CASE("Fortran order becomes strides")
{
    const TempFolder folder;
    const std::string elements = bytesOf<std::int32_t>({1, 4, 2, 5, 3, 6});
    const auto view = mapNpy(
        folder.write("x.npy", npyBytes("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }\n", elements)));
    REQUIRE(view);
    CHECK(view->strides == std::vector<std::int64_t>{1, 2});
    CHECK(packed(*view) == bytesOf<std::int32_t>({1, 2, 3, 4, 5, 6}));
}

TEST_CASE("big-endian numbers are converted, each half of a complex one")
{
    const TempFolder folder;
    const auto shorts =
        mapNpy(folder.write("s.npy", npyBytes("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }\n",
                                              std::string("\x01\x02\xff\xfe", 4))));
    REQUIRE(shorts);
    CHECK(packed(*shorts) == bytesOf<std::int16_t>({0x0102, -2}));
    const auto complex =
        mapNpy(folder.write("c.npy", npyBytes("{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }\n",
                                              std::string("\x3f\x80\0\0\xc0\0\0\0", 8))));
    REQUIRE(complex);
    CHECK(packed(*complex) == bytesOf<float>({1.0F, -2.0F}));
    const auto bytes = mapNpy(
        folder.write("b.npy", npyBytes("{'descr': '>u1', 'fortran_order': False, 'shape': (2,), }\n", "\x05\x06")));
    REQUIRE(bytes);
    CHECK(packed(*bytes) == "\x05\x06");
}

TEST_CASE("scalars and empty arrays are arrays")
{
    const TempFolder folder;
    const auto scalar = mapNpy(folder.write(
        "s.npy", npyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", bytesOf<float>({3}))));
    REQUIRE(scalar);
    CHECK(scalar->shape.empty());
    CHECK(scalar->elements() == 1);
    const auto empty =
        mapNpy(folder.write("e.npy", npyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 1433), }\n", "")));
    REQUIRE(empty);
    CHECK(empty->elements() == 0);
}

TEST_CASE("elements that start at an odd address are copied to a proper one")
{
    const TempFolder folder;
    for (const std::string padding : {"", " ", "  ", "   "}) {
        const std::string dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }" + padding + "\n";
        const auto view = mapNpy(folder.write("x.npy", npyBytes(dictionary, bytesOf<double>({0.25}))));
        REQUIRE(view);
        CHECK(reinterpret_cast<std::uintptr_t>(view->data) % 8 == 0);
        CHECK(packed(*view) == bytesOf<double>({0.25}));
    }
}

TEST_CASE("a mapped view outlives everything but itself")
{
    const TempFolder folder;
    base::TensorView kept;
    {
        auto view = mapNpy(
            folder.write("x.npy", npyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", kTwoFloats)));
        REQUIRE(view);
        kept = *view;
    }
    std::filesystem::remove(folder.file("x.npy"));
    CHECK(packed(kept) == kTwoFloats);
}

namespace {

void checkRefused(const std::vector<Malformed>& rows)
{
    for (const auto& [path, error] : refusals("bad.npy", rows, mapNpy)) {
        CAPTURE(error.message);
        CHECK(error.message.starts_with(path + ": at byte "));
        CHECK(error.where.starts_with(path + ":"));
    }
}

std::string header(const std::string& dictionary) { return npyBytes(dictionary, kTwoFloats); }

std::string descr(const std::string& code)
{
    return header("{'descr': " + code + ", 'fortran_order': False, 'shape': (2,), }\n");
}

std::string shape(const std::string& tuple)
{
    return header("{'descr': '<f4', 'fortran_order': False, 'shape': " + tuple + ", }\n");
}

std::string repeated(const std::string& text, int times)
{
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

}  // namespace

TEST_CASE("files that are too short, too long or of another format are refused by file, offset and field")
{
    const std::string good = shape("(2,)");
    checkRefused(
        {{"", "at byte 0: the file ends within"},
         {good.substr(0, 9), "at byte 9: the file ends within"},
         {good.substr(0, 40), "at byte 8: the header length is"},
         {good.substr(0, good.size() - 1), "field 'shape' needs this number of bytes: 8, but 7 follow"},
         {good + "x", "field 'shape' needs this number of bytes: 8, but 9 follow"},
         {"\x93NUMPZ" + good.substr(6), "at byte 0: the file is not a .npy file"},
         {npyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", kTwoFloats, 4), "version 4.0"},
         {std::string("\x93NUMPY\x01\x01\0\0", 10), "version 1.1"},
         {std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12), "4294967295, more than the limit"},
         {std::string("\x93NUMPY\x02\0\xff\xff\0", 11), "at byte 11: the file ends within"},
         {std::string("\x93NUMPY\x01\0\0\0", 10), "at byte 10: the header is not a dictionary"}});
}

TEST_CASE("element types that are not supported are refused by name")
{
    checkRefused({{descr("'|O'"), "field 'descr': dtype '|O' holds Python objects"},
                  {descr("'O'"), "holds Python objects"},
                  {descr("'<U7'"), "holds strings"},
                  {descr("'|S7'"), "holds strings"},
                  {descr("'<M8[ns]'"), "holds dates"},
                  {descr("'|V8'"), "holds raw records"},
                  {descr("'<f16'"), "dtype '<f16' is not a supported element type"},
                  {descr("'<i3'"), "dtype '<i3' is not a supported element type"},
                  {descr("''"), "dtype '' is not a supported element type"},
                  {descr("4"), "field 'descr': the dtype must be a quoted string"},
                  {descr("[('a', '<f4')]"), "field 'descr': a structured dtype"}});
}

TEST_CASE("shapes that are malformed or do not fit the file are refused")
{
    checkRefused({{shape("(3,)"), "needs this number of bytes: 12, but 8 follow"},
                  {shape("(-2,)"), "field 'shape': an extent is negative: -2"},
                  {shape("(4611686018427387904, 4611686018427387904)"), "exceeds 64-bit"},
                  {shape("(4611686018427387904, 4611686018427387904, 0)"), "exceeds 64-bit"},
                  {shape("(99999999999999999999,)"), "an extent exceeds 64 bits"},
                  {shape("[2]"), "field 'shape': a tuple was expected"},
                  {shape("(2"), "field 'shape': an integer extent was expected"},
                  {shape("(2.0,)"), "',' or ')' was expected"},
                  {shape("(a,)"), "an integer extent was expected"},
                  {shape("(" + repeated("1, ", 65) + "2)"), "more than 64 dimensions"}});
}

TEST_CASE("malformed headers are refused by field")
{
    checkRefused(
        {{header("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }\n"), "field 'fortran_order': True or False"},
         {header("{'descr': '<f4', 'shape': (2,), }\n"), "does not contain the field 'fortran_order'"},
         {header("{'descr': '<f4', 'fortran_order': False}\n"), "does not contain the field 'shape'"},
         {header("{'fortran_order': False, 'shape': (2,)}\n"), "does not contain the field 'descr'"},
         {header("{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (2,)}\n"),
          "field 'descr': the field is repeated"},
         {header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}\n"),
          "field 'x': the field is not known"},
         {header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} + 1\n"),
          "unexpected text after the header dictionary"},
         {header("{'descr' '<f4'}\n"), "':' was expected"},
         {header("{'descr': '<f4' 'shape': (2,)}\n"), "',' or '}' was expected"},
         {header("{descr: '<f4'}\n"), "a quoted field name"},
         {header("{'descr: <f4"), "a quoted field name"},
         {npyBytes("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }\n", std::string("\x01\0\x02", 3)),
          "a bool is 2, neither 0 nor 1"}});
}

TEST_CASE("no truncation and no changed byte crashes the reader")
{
    const TempFolder folder;
    const std::string good = npyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", kTwoFloats);
    for (std::size_t i = 0; i < good.size(); ++i) {
        const auto view = mapNpy(folder.write("cut.npy", good.substr(0, i)));
        CHECK(!view);
    }
    for (std::size_t i = 0; i < good.size() - kTwoFloats.size(); ++i) {
        for (const int flip : {1, 4, 0x20, 0x80}) {
            std::string changed = good;
            changed[i] = static_cast<char>(changed[i] ^ flip);
            const auto view = mapNpy(folder.write("flip.npy", changed));
            if (view) CHECK(view->bytes() == 8);
            else CHECK(view.error().code == ErrorCode::Input);
        }
    }
}

TEST_CASE("files that are no files are refused without waiting")
{
    const TempFolder folder;
    REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
    struct Row {
        std::string path, expected;
    };
    for (const Row& row : {Row{folder.file("pipe"), "is a named pipe"}, Row{folder.path(), "is a folder"},
                           Row{"/dev/zero", "is a device"}, Row{folder.file("none.npy"), "no such file: "},
                           Row{folder.file("pipe/x"), "cannot read "}}) {
        const auto view = mapNpy(row.path);
        REQUIRE(!view);
        CHECK(view.error().code == ErrorCode::Input);
        CAPTURE(view.error().message);
        CHECK(view.error().message.find(row.expected) != std::string::npos);
        CHECK(view.error().message.find(row.path) != std::string::npos);
    }
}

TEST_CASE("a written array appears under its name only when it is published, and its view lives on")
{
    const TempFolder folder;
    const std::string path = folder.file("out.npy");
    base::TensorView view;
    {
        auto writer = NpyWriter::create(path, DType::Int64, {2, 3});
        REQUIRE(writer);
        view = writer->view();
        for (int i = 0; i < 6; ++i) reinterpret_cast<std::int64_t*>(writer->data())[i] = 10 * i;
        CHECK(!std::filesystem::exists(path));
        REQUIRE(writer->publish());
        CHECK(folder.names() == std::vector<std::string>{"out.npy"});
    }
    CHECK(packed(view) == bytesOf<std::int64_t>({0, 10, 20, 30, 40, 50}));
    const auto again = mapNpy(path);
    REQUIRE(again);
    CHECK(again->shape == std::vector<std::int64_t>{2, 3});
    CHECK(packed(*again) == packed(view));
    const std::string bytes = readAll(path);
    CHECK(bytes.size() % 64 == 48);
    CHECK(bytes.substr(10, 55) == "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3");
}

TEST_CASE("an unpublished or moved-over writer leaves no file")
{
    const TempFolder folder;
    {
        auto first = NpyWriter::create(folder.file("a.npy"), DType::Float32, {4});
        auto second = NpyWriter::create(folder.file("b.npy"), DType::Float32, {4});
        REQUIRE(first);
        REQUIRE(second);
        CHECK(folder.names().size() == 2);
        *first = std::move(*second);
        CHECK(folder.names().size() == 1);
    }
    CHECK(folder.names().empty());
}

TEST_CASE("a lasting writer goes on with what an earlier one has left, published or not, if it has the same size")
{
    const TempFolder folder;
    const auto open = [&](std::int64_t rows) {
        auto writer = NpyWriter::create(folder.file("a.npy"), DType::Float32, {rows}, Lasting::Yes);
        REQUIRE(writer);
        return std::move(*writer);
    };
    const float written = 4.5F;
    const auto read = [](NpyWriter& writer) { return reinterpret_cast<const float*>(writer.data())[1]; };
    {
        NpyWriter first = open(4);
        CHECK_FALSE(first.file().continued());
        REQUIRE(first.put(sizeof(float), &written, sizeof(float)));
        REQUIRE(first.file().sync());
    }
    for (const bool publish : {false, true, false}) {
        NpyWriter next = open(4);
        CHECK(next.file().continued());
        CHECK(read(next) == written);
        if (publish) REQUIRE(next.publish());
    }
    {
        NpyWriter other = open(5);
        CHECK_FALSE(other.file().continued());
        CHECK(read(other) == 0);
        other.file().forget();
    }
    CHECK(folder.names().empty());
}

TEST_CASE("a shared writer takes no memory of a file system in memory before anything is written, and refuses what has "
          "no room")
{
    const std::string path = "/dev/shm/hopscope-test-" + std::to_string(::getpid()) + ".npy", part = path + ".part";
    constexpr std::int64_t rows = 1 << 20;
    {
        auto writer = NpyWriter::create(path, DType::Float32, {rows}, Lasting::Shared);
        if (!writer) return;  // no such file system here
        struct stat facts {};
        struct statfs system {};
        REQUIRE(::statfs(part.c_str(), &system) == 0);
        REQUIRE(::stat(part.c_str(), &facts) == 0);
        CHECK(facts.st_size > rows * 4);
        if (system.f_type == TMPFS_MAGIC) CHECK(facts.st_blocks < rows * 4 / 512 / 2);
        const float written = 4.5F;
        REQUIRE(writer->put((rows - 1) * 4, &written, sizeof(written)));
        CHECK(reinterpret_cast<const float*>(writer->data())[rows - 1] == written);
        writer->file().forget();
    }
    const auto large = NpyWriter::create(path, DType::Float32, {std::int64_t{1} << 50}, Lasting::Shared);
    CHECK_FALSE(large);
    if (!large) CHECK(large.error().code == ErrorCode::Resources);
    ::unlink(part.c_str());
}

TEST_CASE("publishing replaces an older file, and a view of the old one stays what it was")
{
    const TempFolder folder;
    const std::string path =
        folder.write("x.npy", npyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", kTwoFloats));
    const auto old = mapNpy(path);
    REQUIRE(old);
    auto writer = NpyWriter::create(path, DType::Float32, {2});
    REQUIRE(writer);
    REQUIRE(writer->publish());
    CHECK(packed(*old) == kTwoFloats);
    CHECK(packed(*mapNpy(path)) == std::string(8, '\0'));
}

TEST_CASE("what cannot be written is refused with its reason")
{
    const TempFolder folder;
    const auto bfloat = NpyWriter::create(folder.file("x.npy"), DType::BFloat16, {1});
    REQUIRE(!bfloat);
    CHECK(bfloat.error().message.find("bfloat16") != std::string::npos);
    const auto nowhere = NpyWriter::create(folder.file("none/x.npy"), DType::Float32, {1});
    REQUIRE(!nowhere);
    CHECK(nowhere.error().code == ErrorCode::Usage);
    CHECK(nowhere.error().message.find(folder.file("none/x.npy")) != std::string::npos);
    const auto huge = NpyWriter::create(folder.file("x.npy"), DType::Float32, {std::int64_t{1} << 52});
    REQUIRE(!huge);
    CHECK(huge.error().code == ErrorCode::Resources);
    const auto larger = NpyWriter::create(folder.file("x.npy"), DType::Float64, {INT64_MAX, 2});
    REQUIRE(!larger);
    CHECK(larger.error().code == ErrorCode::Resources);
    CHECK(folder.names().empty());
}

TEST_CASE("a full disk is found when the file is made")
{
    if (!std::filesystem::exists("/dev/shm")) return;
    const auto space = std::filesystem::space("/dev/shm");
    const std::string path = "/dev/shm/hopscope-test-" + std::to_string(::getpid()) + ".npy";
    const auto writer = NpyWriter::create(path, DType::UInt8, {static_cast<std::int64_t>(space.capacity) + (1 << 20)});
    REQUIRE(!writer);
    CHECK(writer.error().code == ErrorCode::Resources);
    CHECK(!std::filesystem::exists(path));
}
