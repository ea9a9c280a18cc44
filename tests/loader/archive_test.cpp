#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <unistd.h>

#include "loader/archive/archive.h"
#include "loader/archive/load_code.h"
#include "loader/archive/repair.h"
#include "loader/names.h"

using namespace hopscope;
using loader::StoredRecord;

namespace {

std::string bytesOf(const std::vector<StoredRecord>& records)
{
    const std::string path =
        (std::filesystem::temp_directory_path() / ("hopscope-archive-test-" + std::to_string(::getpid()))).string();
    REQUIRE(loader::writeArchive(path, records));
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    std::filesystem::remove(path);
    return out.str();
}

std::string small()
{
    return bytesOf(
        {{"m/constants.pkl", "abc"},
         {"m/data.pkl", "de"},
         {"m/version", "3"},
         {"m/code/__torch__.py", "x = ops.torch_scatter.scatter_max(y)\nz = ops.aten.add(xops.b.c, ops.pyg.f)"}});
}

auto scan(const std::string& bytes, const loader::ArchiveLimits& limits = {})
{
    return loader::scanArchive(std::as_bytes(std::span(bytes)), "f.pt", limits);
}

void expectRefused(const std::string& bytes, const std::string& words, base::ErrorCode code = base::ErrorCode::Input)
{
    const auto archive = scan(bytes);
    REQUIRE_FALSE(archive);
    INFO(archive.error().message);
    CHECK(archive.error().code == code);
    CHECK(archive.error().message.find(words) != std::string::npos);
    CHECK_FALSE(archive.error().where.empty());
}

std::string patched(std::string bytes, std::size_t at, std::initializer_list<int> values)
{
    for (const int v : values) bytes.at(at++) = static_cast<char>(v);
    return bytes;
}

}  // namespace

TEST_CASE("A small archive is read with its records and custom operators")
{
    const std::string bytes = small();
    const auto archive = scan(bytes);
    REQUIRE(archive);
    CHECK(archive->root == "m");
    CHECK(archive->records.size() == 4);
    const auto file = std::as_bytes(std::span(bytes));
    CHECK(*loader::readRecord(file, *archive->find("data.pkl")) == "de");
    CHECK(*loader::listCustomOps(file, *archive) == std::vector<std::string>{"pyg::f", "torch_scatter::scatter_max"});
}

TEST_CASE("An exported program is recognised by its members")
{
    const auto archive = scan(bytesOf({{"m/archive_format", "pt2"}, {"m/models/model.json", "{}"}}));
    REQUIRE(archive);
    CHECK(archive->kind == loader::ArchiveKind::Exported);
    CHECK(scan(small())->kind == loader::ArchiveKind::TorchScript);
}

TEST_CASE("Other formats are recognised and named")
{
    expectRefused("", "empty");
    expectRefused("hello, this is a text", "text file");
    expectRefused(std::string("\x93NUMPY\x01\x00", 8), "NumPy");
    expectRefused(std::string("\x80\x02}q\x01.", 6), "pickle");
    expectRefused(std::string("\x40\0\0\0\0\0\0\0{\"x\":1}", 15), "safetensors");
    expectRefused(std::string("\0\0\0\0PTMF\0\0\0\0", 12), "FlatBuffer", base::ErrorCode::Unsupported);
    expectRefused(bytesOf({{"m/archive_format", "pt2"}, {"m/data/aotinductor/model/a.so", "x"}}), "AOTInductor",
                  base::ErrorCode::Unsupported);
    expectRefused(bytesOf({{"m/archive_format", "pt2"}, {"m/version", "0"}}), "models/NAME.json is missing");
    expectRefused(bytesOf({{"m/data.pkl", "x"}, {"m/version", "3"}}), "torch.save");
    expectRefused(bytesOf({{"a.txt", "x"}}), "neither TorchScript nor an exported program");
    expectRefused(bytesOf({{"m/constants.pkl", "x"}, {"m/data.pkl", "x"}}), "'version' is missing");
}

TEST_CASE("The remedy names the format that a damaged file was meant to have")
{
    const auto hint = [](const std::string& bytes, const char* name = "f.pt") {
        const auto archive = loader::scanArchive(std::as_bytes(std::span(bytes)), name);
        REQUIRE_FALSE(archive);
        return archive.error().hint;
    };
    const std::string program = bytesOf({{"m/data/weights/weight_0", "abcd"}, {"m/models/model.json", "{}"}});
    const std::string script = small();
    const auto cut = [](const std::string& bytes) { return bytes.substr(0, bytes.size() * 2 / 3); };
    for (const char* name : {"f.pt", "f.pt2"}) {
        CHECK(hint(cut(program), name).find("damaged or not an exported program:") != std::string::npos);
        CHECK(hint(cut(script), name).find("damaged or not a TorchScript archive:") != std::string::npos);
    }
    CHECK(hint(program.substr(0, 20), "f.pt2").find("not an exported program:") != std::string::npos);
    const std::string reordered = bytesOf({{"m/version", "3"}, {"m/constants.pkl", "abc"}, {"m/data.pkl", "de"}});
    CHECK(loader::scanArchive(std::as_bytes(std::span(reordered)), "f.pt2"));
    CHECK(hint("", "f.pt2").find("torch.export.save") != std::string::npos);
    CHECK(hint("", "f.pt").find("torch.jit.trace") != std::string::npos);
    CHECK(hint(bytesOf({{"version", "7"}, {"a.json", "{}"}}), "f.pt2").find("torch.export.save") != std::string::npos);
    CHECK(hint(bytesOf({{"m/models/model.json", "{}"}, {"other", "x"}}), "f.pt2").find("torch.export.save") !=
          std::string::npos);
    CHECK(hint(bytesOf({{"m/data.pkl", "x"}, {"other", "x"}})).find("torch.jit.trace") != std::string::npos);
    CHECK(hint(bytesOf({{"m/data.pkl", "x"}, {"m/version", "3"}}), "f.pt2").find("torch.jit.trace") !=
          std::string::npos);
}

TEST_CASE("Hostile names are refused")
{
    for (const char* name : {"m/../x", "/m/x", "m/./x", "m\\x", "C:x", "m//x", ""})
        expectRefused(bytesOf({{"m/data.pkl", "x"}, {name, "y"}}), "entry name");
    expectRefused(bytesOf({{"m/data.pkl", "x"}, {std::string("m/a\0b", 5), "y"}}), "NUL");
    expectRefused(bytesOf({{"m/data.pkl", "x"}, {"m/data.pkl", "y"}}), "duplicate");
}

TEST_CASE("Sizes and offsets that do not fit are refused")
{
    const std::string bytes = small();
    const std::size_t end = bytes.size() - 22, directory = bytes.find("PK\x01\x02");
    expectRefused(patched(bytes, end + 16, {0xF0, 0xFF, 0xFF, 0x7F}), "outside the file");
    expectRefused(patched(bytes, end + 10, {0xFF, 0xFE}), "");
    expectRefused(patched(bytes, directory + 24, {9}), "disagrees");
    expectRefused(patched(bytes, directory + 20, {0xFF, 0xFF, 0xFF, 0x7F}), "disagrees");
    expectRefused(patched(bytes, directory + 8, {1}), "encrypted");
    expectRefused(patched(bytes, directory + 10, {12}), "compression");
    expectRefused(patched(bytes, directory + 42, {1}), "local header");
    expectRefused(bytes.substr(0, bytes.size() - 1), "truncated");
    expectRefused(bytes + "x", "truncated");
}

TEST_CASE("Two entries on the same bytes are refused")
{
    // The second directory entry points to the first local header, whose name it takes.
    std::string bytes = bytesOf({{"m/a", "x"}, {"m/b", "x"}});
    const std::size_t second = bytes.find("PK\x01\x02", bytes.find("PK\x01\x02") + 4);
    bytes = patched(bytes, second + 42, {0, 0});
    expectRefused(bytes, "disagrees");
}

TEST_CASE("Limits on count, size and ratio hold")
{
    const std::string bytes = small();
    loader::ArchiveLimits few, tiny;
    few.records = 3;
    tiny.bytes = 4;
    CHECK(scan(bytes, few).error().message.find("too many") != std::string::npos);
    CHECK(scan(bytes, tiny).error().message.find("limit") != std::string::npos);
}

TEST_CASE("No truncation and no flipped byte crashes the scan")
{
    const std::string bytes = small();
    for (std::size_t n = 0; n < bytes.size(); ++n) CHECK_FALSE(scan(bytes.substr(0, n)));
    std::mt19937 random(11);
    for (std::size_t at = 0; at < bytes.size(); ++at)
        for (int k = 0; k < 4; ++k) {
            std::string changed = bytes;
            changed[at] = static_cast<char>(random());
            const auto archive = scan(changed);
            if (!archive) continue;
            const auto file = std::as_bytes(std::span(changed));
            for (const loader::Record& r : archive->records) static_cast<void>(loader::readRecord(file, r));
            static_cast<void>(loader::listCustomOps(file, *archive));
        }
}

TEST_CASE("A wrong checksum is noticed when the record is read")
{
    std::string bytes = small();
    bytes[bytes.find("abc")] = 'X';
    const auto archive = scan(bytes);
    REQUIRE(archive);
    CHECK_FALSE(loader::readRecord(std::as_bytes(std::span(bytes)), *archive->find("constants.pkl")));
}

TEST_CASE("A type mismatch is understood and repaired")
{
    const std::string error = "\n\nType mismatch: v1 is set to type Tensor in the true branch and type "
                              "__torch__.a.Sparse (of Python compilation "
                              "unit at: 0x5) in the false branch:\n  File \"code/__torch__/m.py\", line 3\n    if a:\n "
                              "     _6 = b\n      if _6:\n"
                              "      ~~~~~~\n        v1 = x\n        ~~~~~~ <--- HERE\n";
    const auto mismatch = loader::parseTypeMismatch(error);
    REQUIRE(mismatch);
    CHECK(mismatch->variable == "v1");
    CHECK(mismatch->types[1] == "__torch__.a.Sparse");
    std::string code = "def f():\n    if a:\n      if _6:\n        v1 = x\n";
    const auto insertion = loader::declareUnion(code, *mismatch);
    REQUIRE(insertion);
    CHECK(insertion->line == 3);
    CHECK(code == "def f():\n    if a:\n      v1: Union[Tensor, __torch__.a.Sparse] = uninitialized(Union[Tensor, "
                  "__torch__.a.Sparse])\n      if _6:\n        v1 = x\n");
}

TEST_CASE("Other errors are not taken for a type mismatch")
{
    CHECK_FALSE(loader::parseTypeMismatch("Unknown builtin op: a::b"));
    CHECK_FALSE(loader::parseTypeMismatch(
        "Type mismatch: v is set to type A in the true branch and type B in the false branch"));
    const loader::TypeMismatch gone{"v", {"A", "B"}, "code/m.py", 3, "if x:"};
    std::string code = "a\nb\n";
    CHECK_FALSE(loader::declareUnion(code, gone));
}

TEST_CASE("Slips of a key are told from other names")
{
    for (const char* key : {"edge_weigth", "Edge_Weight", "edge_weights", "edgeweight", "edge_wieght"})
        CHECK_MESSAGE(loader::names::similar(key, "edge_weight"), key);
    for (const char* key : {"edge_attr", "y", "train_mask", "edge_index"})
        CHECK_FALSE_MESSAGE(loader::names::similar(key, "edge_weight"), key);
    CHECK_FALSE(loader::names::similar("y", "x"));
    CHECK(loader::names::firstLine("\n\n  a b \n c") == "a b");
    CHECK(loader::names::firstLine(
              "The following operation failed in the TorchScript interpreter.\nTraceback of TorchScript "
              "(most recent call last):\n  File \"a.py\", line 3\nRuntimeError: shapes differ\n") == "shapes differ");
    CHECK(
        loader::names::firstLine("isTensor() INTERNAL ASSERT FAILED at \"/build/ivalue.h\":12, please report a bug to "
                                 "PyTorch. Expected Tensor but got Int\nmore") == "Expected Tensor but got Int");
    CHECK(loader::names::firstLine("x INTERNAL ASSERT FAILED at \"/build/a.h\":1, please report a bug to PyTorch. ") ==
          "a check within PyTorch fails");
    CHECK(loader::names::firstLine("") == "");
}

TEST_CASE("What LibTorch would run while it reads a file is found in code and pickles")
{
    const auto check = [](const std::string& data, const std::string& code) {
        const std::string bytes =
            bytesOf({{"m/constants.pkl", "abc"}, {"m/data.pkl", data}, {"m/version", "3"}, {"m/code/a/b.py", code}});
        const auto archive = scan(bytes);
        REQUIRE(archive);
        return loader::checkLoadRunsNothing(std::as_bytes(std::span(bytes)), *archive, "f.pt");
    };
    CHECK(check("c__torch__\nSub\n)", "def forward(self):\n  return 1\n"));
    for (const char* code :
         {"x\n  def __setstate__(self, state: Tensor) -> None:", "y\ndef\t__getstate__ (self)", "z\n# __setstate__"}) {
        const base::Status refused = check("d", code);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == base::ErrorCode::Unsupported);
        CHECK(refused.error().where == "f.pt:m/code/a/b.py:2");
    }
    for (const char* data : {"c__torch__.torch.classes.quantized\nPacked\n", "c__torch__\ntorch.classes.x.Y\n",
                             "c__torch__.torch\nclasses.x.Y\n"})
        CHECK_FALSE(check(data, "def forward(self): pass"));
    CHECK_FALSE(check("d", "def forward(self, x: __torch__.torch.classes.x.Y): pass"));
}
