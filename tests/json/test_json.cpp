#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "json/json.h"
#include "json/reader.h"

using namespace hopscope::json;
using hopscope::base::ErrorCode;

namespace {

Value parsed(const std::string& text)
{
    auto value = parse(text);
    REQUIRE_MESSAGE(value, text);
    return *value;
}

std::string repeated(const std::string& text, int times)
{
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
}

}  // namespace

TEST_CASE("values keep their kind")
{
    const Value value =
        parsed(R"({"i": 1, "d": 1.0, "e": 1e2, "s": "x", "b": true, "n": null, "a": [1, "2"], "o": {}})");
    REQUIRE(value.isObject());
    CHECK(*value.find("i")->asInt() == 1);
    CHECK(value.find("d")->asInt() == nullptr);
    CHECK(*value.find("d")->asDouble() == 1.0);
    CHECK(*value.find("e")->asDouble() == 100.0);
    CHECK(*value.find("s")->asString() == "x");
    CHECK(*value.find("b")->asBool());
    CHECK(value.find("n")->isNull());
    CHECK(value.find("a")->size() == 2);
    CHECK(value.find("o")->isObject());
    CHECK(value.find("missing") == nullptr);
}

TEST_CASE("integers are exact over the whole 64-bit range")
{
    CHECK(*parsed("9223372036854775807").asInt() == INT64_MAX);
    CHECK(*parsed("-9223372036854775808").asInt() == INT64_MIN);
    CHECK(*parsed("9007199254740993").asInt() == 9007199254740993);
}

TEST_CASE("malformed text is refused with its place")
{
    struct Row {
        std::string text, expected, where;
    };
    const std::vector<Row> rows{{"", "unexpected end of text", ":0"},
                                {"   ", "unexpected end of text", ":"},
                                {"{", "unexpected end of text", ":"},
                                {R"({"a": 1)", "unexpected end of text", ":7"},
                                {R"({"a": 1} x)", "unexpected text", ":9"},
                                {R"({"a": 1}{})", "unexpected text", ":8"},
                                {R"({"a": 1, "a": 2})", "key 'a' is repeated", "/a"},
                                {R"({"a": {"b": 1, "b": 1}})", "field /a/b", "/a/b"},
                                {R"({"a": [1, {"b": 1, "b": 2}]})", "key 'b' is repeated", "/a/1/b"},
                                {R"({"a": [0, 9223372036854775808]})", "64-bit range", "/a/1"},
                                {"18446744073709551616", "64-bit range", ":"},
                                {"-9223372036854775809", "64-bit range", ":"},
                                {"[1e999]", "the number 1e999 is out of range", "/0"},
                                {"-1e999", "the number -1e999 is out of range", ":"},
                                {"[1,]", "unexpected text", ":3"},
                                {"[01]", "unexpected text", ":2"},
                                {"[NaN]", "unexpected text", ":1"},
                                {"[Infinity]", "unexpected text", ":1"},
                                {"[1] // comment", "unexpected text", ":4"},
                                {"{'a': 1}", "unexpected text", ":1"},
                                {"{a: 1}", "unexpected text", ":1"},
                                {"[\"\x01\"]", "unexpected text", ":2"},
                                {"[\"\xff\"]", "a string is not valid UTF-8", ":2"},
                                {R"(["\ud800"])", "unexpected text", ":"},
                                {"\xEF\xBB\xBF{}", "byte order mark", ":0"},
                                {repeated("[", 65) + repeated("]", 65), "deeper than 64", ":"},
                                {repeated("{\"k\":", 65) + "1" + repeated("}", 65), "deeper than 64", "/k/k/k"},
                                {repeated("[", 1'000'000), "deeper than 64", ":"},
                                {std::string(1, '\0'), "unexpected text", ":0"}};
    for (const Row& row : rows) {
        CAPTURE(row.text.substr(0, 60));
        const auto value = parse(row.text, "plan.json");
        REQUIRE(!value);
        CHECK(value.error().code == ErrorCode::Input);
        CAPTURE(value.error().message);
        CAPTURE(value.error().where);
        CHECK(value.error().message.starts_with("plan.json: "));
        CHECK(value.error().message.find(row.expected) != std::string::npos);
        CHECK(value.error().where.find(row.where) != std::string::npos);
        CHECK_FALSE(value.error().where.ends_with(' '));
    }
}

TEST_CASE("limits are inclusive")
{
    CHECK(parse(repeated("[", 64) + repeated("]", 64)));
    CHECK(parse("[1]", "x", {3, 1}));
    const auto large = parse("[1] ", "x", {3, 1});
    REQUIRE(!large);
    CHECK(large.error().message.find("limit of 3") != std::string::npos);
    CHECK(!parse("[[]]", "x", {4, 1}));
}

TEST_CASE("a document beyond 16 MiB is refused before it is read")
{
    const std::string text((std::size_t{16} << 20) + 1, ' ');
    const auto value = parse(text);
    REQUIRE(!value);
    CHECK(value.error().message.find("limit of 16777216") != std::string::npos);
}

TEST_CASE("writing is deterministic: keys sorted, doubles shortest, characters escaped")
{
    Value value;
    value["b"] = 0.1;
    value["a"] = hopscope::json::Array{1, 2, 3};
    value["text"] = "quote \" back \\ line \n bell \x07 \u00e9";
    value["whole"] = 5.0;
    value["none"] = std::numeric_limits<double>::quiet_NaN();
    CHECK(write(value) ==
          R"({"a":[1,2,3],"b":0.1,"none":null,"text":"quote \" back \\ line \n bell \u0007 é","whole":5.0})");
    CHECK(write(Value("a\xff"
                      "b\xc3")) == "\"a\xEF\xBF\xBD"
                                   "b\xEF\xBF\xBD\"");
    CHECK(write(Value("\xed\xa0\x80")) == "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
    CHECK(write(Value()) == "null");
    CHECK(write(Value(-0.0)) == "-0.0");
}

TEST_CASE("pretty text indents and keeps scalar arrays on one line")
{
    const Value value = parsed(R"({"a": [1, 2], "b": [{"c": null}], "d": {}, "e": []})");
    CHECK(write(value, true) == "{\n"
                                "  \"a\": [1, 2],\n"
                                "  \"b\": [\n"
                                "    {\n"
                                "      \"c\": null\n"
                                "    }\n"
                                "  ],\n"
                                "  \"d\": {},\n"
                                "  \"e\": []\n"
                                "}\n");
}

TEST_CASE("any finite double and any integer survives writing and reading")
{
    std::mt19937_64 random(20240611);
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t bits = random();
        double real = 0;
        static_assert(sizeof(real) == sizeof(bits));
        std::memcpy(&real, &bits, sizeof(bits));
        if (!std::isfinite(real)) continue;
        const Value value(hopscope::json::Array{real, static_cast<std::int64_t>(bits)});
        const Value again = parsed(write(value));
        CAPTURE(bits);
        CHECK(again == value);
        CHECK(std::signbit(*again.asArray()->front().asDouble()) == std::signbit(real));
    }
}

TEST_CASE("random documents survive writing and reading, compact and pretty")
{
    std::mt19937 random(7);
    const std::function<Value(int)> make = [&](int depth) -> Value {
        switch (random() % (depth > 4 ? 5 : 7)) {
        case 0: return nullptr;
        case 1: return random() % 2 == 0;
        case 2: return static_cast<std::int64_t>(random()) - 1000000;
        case 3: return static_cast<double>(random()) / 7.0;
        case 4: return std::string(random() % 5, static_cast<char>(random() % 127 + 1)) + "\u4e2d";
        case 5: {
            Value array = Value::array();
            for (unsigned n = random() % 4; n > 0; --n) array.push(make(depth + 1));
            return array;
        }
        default: {
            Value object = Value::object();
            for (unsigned n = random() % 4; n > 0; --n)
                object["k/~" + std::to_string(random() % 100)] = make(depth + 1);
            return object;
        }
        }
    };
    for (int i = 0; i < 500; ++i) {
        const Value value = make(0);
        const std::string text = write(value);
        CAPTURE(text);
        CHECK(parsed(text) == value);
        CHECK(parsed(write(value, true)) == value);
        CHECK(write(parsed(text)) == text);
    }
}

TEST_CASE("truncating or changing any byte of a document never crashes and never passes for the original")
{
    const std::string text = R"({"stages":[{"index":1,"ops":["op1","op2"],"x":-1.5e3}],"ok":true,"none":null})";
    const Value original = parsed(text);
    for (std::size_t i = 0; i < text.size(); ++i) {
        CHECK(!parse(std::string_view(text).substr(0, i)));
        std::string changed = text;
        changed[i] = static_cast<char>(changed[i] ^ 0x15);
        const auto value = parse(changed);
        if (value) CHECK(*value != original);
    }
}

TEST_CASE("pointers find values as RFC 6901 says")
{
    const Value value = parsed(R"({"foo": ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, "o": {"01": 3}})");
    CHECK(resolve(value, "") == &value);
    CHECK(*resolve(value, "/foo/0")->asString() == "bar");
    CHECK(*resolve(value, "/")->asInt() == 0);
    CHECK(*resolve(value, "/a~1b")->asInt() == 1);
    CHECK(*resolve(value, "/m~0n")->asInt() == 8);
    CHECK(*resolve(value, "/o/01")->asInt() == 3);
    for (const char* missing : {"/foo/2", "/foo/-", "/foo/01", "/foo/-1", "/foo/x", "/foo/0/1", "foo", "/none"})
        CHECK_MESSAGE(resolve(value, missing) == nullptr, missing);
    CHECK(childPointer("/x", "a/b~c") == "/x/a~1b~0c");
}

TEST_CASE("a field is read by its pointer or refused by it")
{
    const Value value = parsed(R"({"stages": [{"index": 3, "big": 3000000000, "name": "s"}]})");
    CHECK(field<std::int64_t>(value, "/stages/0/index").value() == 3);
    CHECK(field<double>(value, "/stages/0/index").value() == 3.0);
    CHECK(field<std::string>(value, "/stages/0/name").value() == "s");
    const auto wrong = field<std::string>(value, "/stages/0/index", "plan.json");
    REQUIRE(!wrong);
    CHECK(wrong.error().message == "plan.json: field /stages/0/index must be a string, but is of kind integer");
    CHECK(wrong.error().where == "plan.json /stages/0/index");
    CHECK(!field<int>(value, "/stages/0/big"));
    const auto missing = field<bool>(value, "/stages/1/index", "plan.json");
    REQUIRE(!missing);
    CHECK(missing.error().message == "plan.json: field /stages/1/index is missing");
}

TEST_CASE("a reader reads straight through and keeps the first failure")
{
    const Value value =
        parsed(R"({"name": "n", "list": [1, 2], "stages": [{"index": 1}, {"index": "two"}, {}], "none": null})");
    const Reader root(value, "plan.json");
    CHECK(root.get<std::string>("name") == "n");
    CHECK(root.get<std::vector<std::int64_t>>("list") == std::vector<std::int64_t>{1, 2});
    CHECK(!root.maybe<bool>("none"));
    CHECK(!root.maybe<bool>("absent"));
    CHECK(root.ok());
    std::vector<std::int64_t> indices;
    for (const Reader& stage : root.items("stages")) indices.push_back(stage.get<std::int64_t>("index"));
    CHECK(indices == std::vector<std::int64_t>{1, 0, 0});
    REQUIRE(!root.ok());
    CHECK(root.status().error().code == ErrorCode::Input);
    CHECK(root.status().error().message ==
          "plan.json: field /stages/1/index must be an integer, but is of kind string");
    CHECK(root.items("stages").empty());
}

TEST_CASE("a reader names what is missing, of the wrong kind or unknown")
{
    struct Row {
        std::string text;
        std::function<void(const Reader&)> read;
        std::string expected;
    };
    const std::vector<Row> rows{
        {"{}", [](const Reader& r) { (void)r.get<int>("x"); }, "d: field /x is missing"},
        {"[]", [](const Reader& r) { (void)r.get<int>("x"); },
         "d: the document must be an object, but is of kind array"},
        {R"({"x": null})", [](const Reader& r) { (void)r.get<int>("x"); },
         "d: field /x must be a 32-bit integer, but is null"},
        {R"({"x": 1.5})", [](const Reader& r) { (void)r.get<std::int64_t>("x"); },
         "d: field /x must be an integer, but is of kind number"},
        {R"({"x": {"a/b": [1, null]}})", [](const Reader& r) { (void)r.child("x").get<std::vector<double>>("a/b"); },
         "d: field /x/a~1b/1 must be a number, but is null"},
        {R"({"x": 1})", [](const Reader& r) { (void)r.items("x"); },
         "d: field /x must be an array, but is of kind integer"},
        {R"({"x": 1, "y": 2})", [](const Reader& r) { r.only({"x"}); }, "d: field /y is not known"},
        {R"({"x": 1})", [](const Reader& r) { r.child("x").refuse("names no value"); }, "d: field /x names no value"}};
    for (const Row& row : rows) {
        const Value value = parsed(row.text);
        const Reader root(value, "d");
        row.read(root);
        CAPTURE(row.text);
        REQUIRE(!root.ok());
        CHECK(root.status().error().message == row.expected);
    }
}
