#pragma once

// Reads members of the archive's JSON files with json::Reader, and defines the refusal that ends the reading of a file.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/reader.h"

namespace hopscope::loader::exported {

// Thrown at any depth within this folder; readExported() catches it.
struct Refusal {
    base::Error error;
};

inline constexpr const char* damagedHint = "the file is damaged: copy it or save the program again";
[[noreturn]] void refuse(base::ErrorCode code, const std::string& message, const std::string& hint,
                         const std::string& where = {});

// All of these throw Refusal if the member is missing or has a different type.
void check(const json::Reader& reader);
json::Reader child(const json::Reader& reader, std::string_view key);
std::vector<json::Reader> items(const json::Reader& list);
std::vector<json::Reader> items(const json::Reader& reader, std::string_view key);
std::vector<std::pair<std::string, json::Reader>> members(const json::Reader& object);
std::string text(const json::Reader& reader, std::string_view key);
// Returns an empty text if there is no such member.
std::string textOr(const json::Reader& reader, std::string_view key);
std::int64_t number(const json::Reader& reader, std::string_view key);
// Reads a number. JSON has neither infinities nor NaN, so the file holds these as texts.
double real(const json::Reader& reader);

// A union of the schema: an object with one set member, whose name determines the type of its value.
struct Union {
    std::string kind;
    json::Reader value;
};
Union unionOf(const json::Reader& reader);

}  // namespace hopscope::loader::exported
