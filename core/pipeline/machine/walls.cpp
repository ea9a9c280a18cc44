#include "pipeline/machine/walls.h"

#include <array>

#include "base/units.h"
#include "json/names.h"

namespace hopscope::pipeline {

namespace {

using plan::WallKind;
using plan::WallRate;

constexpr std::array<std::pair<const char*, std::int64_t WallRate::*>, 3> sizes{
    {{"bytes", &WallRate::bytes}, {"width", &WallRate::width}, {"outputs", &WallRate::outputs}}};

json::Value wallValue(const WallRate& wall)
{
    json::Value item;
    item["wall"] = base::nameOf(wall.kind);
    item["all"] = wall.all;
    item["one"] = wall.one;
    for (const auto& [name, size] : sizes)
        if (wall.*size != 0) item[name] = wall.*size;
    if (wall.kind == WallKind::Gemm) item["dtype"] = base::dtypeName(wall.dtype);
    return item;
}

WallRate wallFrom(const json::Reader& item)
{
    WallRate wall;
    wall.kind = json::named<WallKind>(item, "wall");
    wall.all = item.get<double>("all");
    wall.one = item.get<double>("one");
    for (const auto& [name, size] : sizes) wall.*size = item.maybe<std::int64_t>(name).value_or(0);
    if (wall.kind == WallKind::Gemm) wall.dtype = json::named<base::DType>(item, "dtype");
    if (!(wall.all > 0 && wall.one > 0)) item.refuse("must have positive rates");
    return wall;
}

std::string sizeText(std::int64_t bytes) { return base::formatBytes(static_cast<double>(bytes)); }

}  // namespace

json::Value wallsValue(const plan::Walls& walls)
{
    json::Value list = json::Value::array();
    for (const WallRate& wall : walls) list.push(wallValue(wall));
    return list;
}

plan::Walls readWalls(const json::Reader& list)
{
    plan::Walls walls;
    for (const json::Reader& item : list.items()) walls.push_back(wallFrom(item));
    return walls;
}

std::string wallText(const WallRate& wall)
{
    switch (wall.kind) {
    case WallKind::Stream: return "operators on rows, tensors of " + sizeText(wall.bytes);
    case WallKind::Fresh: return "operators on rows, results in fresh memory";
    case WallKind::Rows: return "random rows of " + std::to_string(wall.width) + " B, table of " + sizeText(wall.bytes);
    case WallKind::Segments:
        return "aggregation of rows of " + std::to_string(wall.width) + " B, table of " + sizeText(wall.bytes);
    case WallKind::Gemm:
        return "products with " + std::to_string(wall.width) + " \u00d7 " + std::to_string(wall.outputs) + ", " +
               base::dtypeName(wall.dtype);
    case WallKind::Pages: return "fresh memory, cleared and written";
    case WallKind::Stores: return "writes to a store";
    case WallKind::DiskWrite: return "writes to the disk";
    case WallKind::DiskRead: return "reads from the disk";
    case WallKind::Up: return "copies to the GPU";
    case WallKind::Down: return "copies from the GPU";
    }
    return "";
}

const char* wallUnit(const WallRate& wall) { return wall.kind == WallKind::Gemm ? "FLOP/s" : "B/s"; }

}  // namespace hopscope::pipeline
