#pragma once

// The tensors of an exported program: parameters, buffers and constants. For the LibTorch modules only.

#include <ATen/ATen.h>

#include <map>
#include <set>
#include <span>
#include <string>

#include "loader/archive/archive.h"
#include "loader/exported/members.h"

namespace hopscope::loader::exported {

// Convert the enumerations of the file by their names in PyTorch's schema, since the numbers differ from those of c10.
// All throw Refusal for a number without a counterpart.
at::ScalarType scalarTypeOf(const json::Reader& number);
at::Layout layoutOf(const json::Reader& number);
at::MemoryFormat memoryFormatOf(const json::Reader& number);

struct Archived {  // the file: its bytes, its directory, and its name in messages
    std::span<const std::byte> bytes;
    const Archive& archive;
    const std::string& path;
};

// Returns the uncompressed contents of a member, parsed strictly.
json::Value readJson(const Archived& file, const std::string& member);

// Tensors of the file by name. Those that share bytes in the file share memory, and two names for the same view are one
// tensor. Their memory is a copy, since forward may temporarily write to it.
class Weights {
public:
    explicit Weights(Archived file) : m_file(file) {}

    // Adds the tensors that a table ("data/weights/model_weights_config.json") lists, from records of `folder`.
    void add(const std::string& table, const std::string& folder);
    // Returns a tensor. Throws Refusal if there is no such tensor, or if it is pickled; the pickle is not read.
    const at::Tensor& named(const std::string& name) const;

private:
    at::Tensor viewOf(const json::Reader& meta, const std::string& record, const std::string& name);
    const at::Tensor& bytesOf(const std::string& record, const std::string& name);

    Archived m_file;
    std::map<std::string, at::Tensor> m_tensors;
    std::set<std::string> m_pickled;
    std::map<std::string, at::Tensor> m_records;  // as bytes
    std::map<std::string, at::Tensor> m_views;    // by record and position in it
};

}  // namespace hopscope::loader::exported
