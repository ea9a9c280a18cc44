#include <doctest/doctest.h>

#include <random>

#include "protocol/framing.h"

using namespace hopscope;
using protocol::frame;
using protocol::FrameReader;

namespace {

// All messages of a stream that arrives in these pieces.
std::vector<std::string> read(const std::vector<std::string>& pieces)
{
    FrameReader reader;
    std::vector<std::string> messages;
    for (const std::string& piece : pieces) {
        reader.append(piece);
        for (;;) {
            auto next = reader.next();
            REQUIRE(next);
            if (!next->has_value()) break;
            messages.push_back(**next);
        }
    }
    return messages;
}

std::string refusal(const std::string& stream)
{
    FrameReader reader;
    reader.append(stream);
    const auto next = reader.next();
    return next ? "" : next.error().message;
}

}  // namespace

TEST_CASE("messages come out whole wherever the stream is cut")
{
    const std::vector<std::string> messages{"{}", "", "{\"a\":\"\r\n\r\nContent-Length: 3\"}", "\u00e4\u00f6"};
    std::string stream;
    for (const std::string& message : messages) stream += frame(message);
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
        CAPTURE(cut);
        CHECK(read({stream.substr(0, cut), stream.substr(cut)}) == messages);
    }
    std::vector<std::string> bytes;
    for (const char c : stream) bytes.emplace_back(1, c);
    CHECK(read(bytes) == messages);
}

TEST_CASE("a long stream in random pieces comes out whole")
{
    std::mt19937 random(7);
    std::vector<std::string> messages;
    std::string stream;
    for (int i = 0; i < 300; ++i) {
        messages.emplace_back(random() % 3000, static_cast<char>('a' + i % 26));
        stream += frame(messages.back());
    }
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < stream.size();) {
        const std::size_t size = random() % 5000;
        pieces.push_back(stream.substr(at, size));
        at += size;
    }
    CHECK(read(pieces) == messages);
}

TEST_CASE("other header fields are passed over and names have no case")
{
    CHECK(read({"Content-Type: text; charset=utf-8\r\ncontent-LENGTH:   2  \r\n\r\nhi"}) ==
          std::vector<std::string>{"hi"});
}

TEST_CASE("broken headers are refused in words")
{
    CHECK(refusal("Content-Length: two\r\n\r\n").find("not a number") != std::string::npos);
    CHECK(refusal("Content-Length: -1\r\n\r\n").find("not a number") != std::string::npos);
    CHECK(refusal("Content-Length: 2 2\r\n\r\n").find("not a number") != std::string::npos);
    CHECK(refusal("Content-Length:\r\n\r\n").find("not a number") != std::string::npos);
    CHECK(refusal("Content-Length: 99999999999999999999999\r\n\r\n").find("not a number") != std::string::npos);
    CHECK(refusal("Content-Length: 16777217\r\n\r\n").find("too long") != std::string::npos);
    CHECK(refusal("Content-Type: x\r\n\r\n").find("no Content-Length") != std::string::npos);
    CHECK(refusal("\r\n\r\n").find("no Content-Length") != std::string::npos);
    CHECK(refusal("Content-Length: 2\r\nContent-Length: 3\r\n\r\n").find("twice") != std::string::npos);
    CHECK(refusal("GET / HTTP/1.1\r\n\r\n").find("no name") != std::string::npos);
    CHECK(refusal(std::string(protocol::maxHeaderBytes, 'x')).find("header has more than") != std::string::npos);
    CHECK(refusal("Content-Length: 16777216\r\n\r\n").empty());
}

TEST_CASE("after a failure the stream is lost")
{
    FrameReader reader;
    reader.append("nonsense\r\n\r\n");
    CHECK_FALSE(reader.next());
    reader.append(frame("{}"));
    CHECK_FALSE(reader.next());
}

TEST_CASE("random bytes never give a message that was not sent")
{
    std::mt19937 random(11);
    for (int round = 0; round < 500; ++round) {
        FrameReader reader;
        for (int piece = 0; piece < 20; ++piece) {
            std::string bytes(random() % 600, '\0');
            for (char& c : bytes) c = static_cast<char>(random());
            reader.append(bytes);
            const auto next = reader.next();
            if (!next) break;
            CHECK_FALSE(next->has_value());
        }
    }
}
