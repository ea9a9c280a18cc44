// Shows to other programs what this reader sees and this writer writes:
//   graph_dump read ARGUMENT...          the tensors of --data arguments, or the error, as JSON
//   graph_dump safetensors IN OUT        copies a data argument to a .safetensors file
//   graph_dump npy IN FOLDER             copies each tensor of a data argument to FOLDER/KEY.npy

#include <cstdio>
#include <iostream>

#include "base/failures.h"
#include "graph/dataset.h"
#include "graph/npy.h"
#include "graph/safetensors.h"
#include "graph/strided.h"
#include "json/json.h"

using namespace hopscope;

namespace {

std::string hexOf(const base::TensorView& view)
{
    std::string text;
    const std::size_t size = base::itemSize(view.dtype);
    graph::forEachPiece(view, [&](const std::byte* bytes, std::int64_t count) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(count) * size; ++i) {
            text += "0123456789abcdef"[std::to_integer<unsigned>(bytes[i]) >> 4U];
            text += "0123456789abcdef"[std::to_integer<unsigned>(bytes[i]) & 0xFU];
        }
    });
    return text;
}

json::Value describeError(const base::Error& error)
{
    json::Value value;
    value["error"]["code"] = base::nameOf(error.code);
    value["error"]["message"] = error.message;
    return value;
}

json::Value describeData(const base::TensorMap& data)
{
    json::Value value = json::Value::object();
    for (const auto& [name, view] : data) {
        json::Value& record = value[name];
        record["dtype"] = base::dtypeName(view.dtype);
        record["shape"] = json::Value(view.shape);
        record["contiguous"] = view.contiguous();
        record["data"] = hexOf(view);
    }
    return value;
}

base::Status writeNpys(const base::TensorMap& data, const std::string& folder)
{
    for (const auto& [name, view] : data) {
        auto writer = graph::NpyWriter::create(folder + "/" + name + ".npy", view.dtype, view.shape);
        if (!writer) return base::forward(writer);
        graph::copyElements(view, 0, view.elements(), writer->data());
        if (auto published = writer->publish(); !published) return published;
    }
    return {};
}

int show(const json::Value& value)
{
    std::cout << json::write(value) << "\n";
    return 0;
}

}  // namespace

int main(int count, char** arguments)
{
    const std::vector<std::string> words(arguments + 1, arguments + count);
    if (words.size() < 2) return 2;
    const auto data =
        graph::readData(words[0] == "read" ? std::vector(words.begin() + 1, words.end()) : std::vector{words[1]});
    if (!data) return show(describeError(data.error()));
    if (words[0] == "read") return show(describeData(*data));
    const auto written =
        words[0] == "npy" ? writeNpys(*data, words.at(2)) : graph::writeSafetensors(words.at(2), *data);
    return show(written ? json::Value::object() : describeError(written.error()));
}
