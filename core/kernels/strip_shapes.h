#pragma once

// Private to kernels: the programs of common convolutions, which have CUDA kernels of their own for float32. The steps of
// such a kernel are known when it is compiled, so that it decides nothing for each element, and does not write rows that
// only the next step reads. (C++17: nvcc reads it.)

#include <cstdint>

#include "kernels/strip.h"

namespace hopscope::kernels {

// A program without its widths, numbers and pointers. Two programs of a shape differ in these alone.
struct ShapeOperand {
    StripOperand::From from = StripOperand::From::None;
    std::uint8_t at = 0;
    StripRows rows = StripRows::Edges;  // of a table
    bool whole = true;                  // its elements are not repeated
};

struct ShapeStep {
    StripOp op = StripOp::Add;
    std::uint8_t to = 0;
    ShapeOperand a = {}, b = {};
    Combine combine = Combine::Sum;
    bool perDestination = false;
};

struct Shape {
    int count = 0;
    ShapeStep steps[12];
};

namespace shapes {

constexpr ShapeOperand edge(std::uint8_t at) { return {StripOperand::From::Edge, at}; }
constexpr ShapeOperand own(std::uint8_t at) { return {StripOperand::From::Destination, at}; }
constexpr ShapeOperand table(std::uint8_t at, StripRows rows) { return {StripOperand::From::Table, at, rows}; }
constexpr ShapeOperand ofEdge(std::uint8_t at) { return table(at, StripRows::Edges); }
constexpr ShapeOperand ofDestination(std::uint8_t at) { return table(at, StripRows::Destinations); }
constexpr ShapeOperand gathered(std::uint8_t at) { return table(at, StripRows::Gathered); }
constexpr ShapeOperand single(std::uint8_t at) { return table(at, StripRows::Single); }
constexpr ShapeOperand repeated(ShapeOperand o) { return {o.from, o.at, o.rows, false}; }
constexpr ShapeStep sum(std::uint8_t to, ShapeOperand a, ShapeOperand b = {}) { return {StripOp::Aggregate, to, a, b}; }
constexpr ShapeStep most(std::uint8_t to, ShapeOperand a) { return {StripOp::Aggregate, to, a, {}, Combine::Max}; }
constexpr ShapeStep least(std::uint8_t to, ShapeOperand a) { return {StripOp::Aggregate, to, a, {}, Combine::Min}; }
constexpr ShapeStep plus(std::uint8_t to, ShapeOperand a, ShapeOperand b)
{
    return {StripOp::Add, to, a, b, Combine::Sum, true};
}

constexpr Shape gat{9,
                    {{StripOp::Add, 0, gathered(0), ofDestination(1)},
                     {StripOp::LeakyRelu, 0, edge(0)},
                     most(0, edge(0)),
                     {StripOp::Sub, 0, edge(0), own(0)},
                     {StripOp::Exp, 0, edge(0)},
                     sum(1, edge(0)),
                     plus(2, own(1), repeated(single(2))),
                     {StripOp::Div, 0, edge(0), own(2)},
                     sum(3, gathered(3), repeated(edge(0)))}};
constexpr Shape gatv2{11,
                      {{StripOp::Add, 0, ofDestination(1), gathered(0)},
                       {StripOp::LeakyRelu, 0, edge(0)},
                       {StripOp::Mul, 0, edge(0), single(2)},
                       {StripOp::RowSum, 1, edge(0)},
                       most(0, edge(1)),
                       {StripOp::Sub, 1, edge(1), own(0)},
                       {StripOp::Exp, 1, edge(1)},
                       sum(1, edge(1)),
                       plus(2, own(1), repeated(single(3))),
                       {StripOp::Div, 1, edge(1), own(2)},
                       sum(3, gathered(0), repeated(edge(1)))}};
constexpr Shape transformer{10,
                            {{StripOp::Mul, 0, ofDestination(0), gathered(1)},
                             {StripOp::RowSum, 1, edge(0)},
                             {StripOp::Div, 1, edge(1), repeated(single(3))},
                             most(0, edge(1)),
                             {StripOp::Sub, 1, edge(1), own(0)},
                             {StripOp::Exp, 1, edge(1)},
                             sum(1, edge(1)),
                             plus(2, own(1), repeated(single(4))),
                             {StripOp::Div, 1, edge(1), own(2)},
                             sum(3, gathered(2), repeated(edge(1)))}};
constexpr Shape resgated{
    3,
    {{StripOp::Add, 0, ofDestination(0), gathered(1)}, {StripOp::Sigmoid, 0, edge(0)}, sum(0, edge(0), gathered(2))}};
constexpr Shape gine{3, {{StripOp::Add, 0, gathered(0), ofEdge(1)}, {StripOp::Relu, 0, edge(0)}, sum(0, edge(0))}};
constexpr Shape edgeconv{2, {{StripOp::Relu, 0, ofEdge(0)}, most(0, edge(0))}};
constexpr Shape edgeconvOnNodes{
    3,
    {{StripOp::Add, 0, ofDestination(0), gathered(1)}, {StripOp::Relu, 0, edge(0)}, most(0, edge(0))}};
constexpr Shape pna{4, {sum(0, ofEdge(0)), least(1, ofEdge(0)), most(2, ofEdge(0)), sum(3, ofEdge(0), ofEdge(0))}};
constexpr Shape pnaOnNodes{5,
                           {{StripOp::Add, 0, ofDestination(0), gathered(1)},
                            sum(0, edge(0)),
                            least(1, edge(0)),
                            most(2, edge(0)),
                            sum(3, edge(0), edge(0))}};

}  // namespace shapes

constexpr Shape kShapes[] = {shapes::gat,       shapes::gatv2,    shapes::transformer,     shapes::resgated,
                             shapes::gine,      shapes::edgeconv, shapes::edgeconvOnNodes, shapes::pna,
                             shapes::pnaOnNodes};
constexpr int kShapeCount = sizeof(kShapes) / sizeof(kShapes[0]);
constexpr int kNoShape = -1;

// Returns the number of the program's shape in kShapes; kNoShape: no kernel is made for it, or for these arguments, because
// rows are not float32, have numbers of 64 bits, or lie on the host in part.
int shapeOf(const StripProgram& program, const StripArguments& arguments);

constexpr bool onEdges(const ShapeStep& s) { return !s.perDestination && s.op != StripOp::Aggregate; }

constexpr bool same(const ShapeOperand& a, const ShapeOperand& b)
{
    return a.from == b.from && a.at == b.at && a.whole == b.whole;
}

// Whether the step aggregates the same rows as the step before, alone or with themselves as factors. Such steps are computed
// together, and each row is read once.
constexpr bool joins(const Shape& p, int s)
{
    if (s == 0 || s >= p.count) return false;
    for (const ShapeStep& one : {p.steps[s - 1], p.steps[s]})
        if (one.op != StripOp::Aggregate || (one.b.from != StripOperand::From::None && !same(one.a, one.b)))
            return false;
    return same(p.steps[s - 1].a, p.steps[s].a);
}

// The first of the steps that are computed together with this one.
constexpr int leaderOf(const Shape& p, int s)
{
    while (joins(p, s)) --s;
    return s;
}

// How many steps are computed together from this one on.
constexpr int togetherFrom(const Shape& p, int s)
{
    int count = 1;
    while (joins(p, s + count)) ++count;
    return count;
}

// Whether only the next step reads the step's rows of edges, element by element. It then computes them itself. A phase
// that needs the one needs the other.
constexpr bool isInlined(const Shape& p, int s)
{
    const ShapeStep& writer = p.steps[s];
    if (!onEdges(writer) || writer.op == StripOp::RowSum || s + 1 == p.count) return false;
    const int next = s + togetherFrom(p, s + 1);
    for (int r = s + 1; r < p.count; ++r) {
        const ShapeStep& reader = p.steps[r];
        bool whole = false, repeated = false;
        for (const ShapeOperand& o : {reader.a, reader.b})
            if (o.from == StripOperand::From::Edge && o.at == writer.to) (o.whole ? whole : repeated) = true;
        if (repeated || whole != (r <= next)) return false;
        if (onEdges(reader) && reader.to == writer.to) break;
    }
    return true;
}

}  // namespace hopscope::kernels
