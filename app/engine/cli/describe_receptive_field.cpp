#include <array>
#include <cstdio>
#include <utility>

#include "base/units.h"
#include "cli/describe.h"
#include "cli/table.h"

namespace hopscope::engine {

namespace {

// "35.2", "7.3 M".
std::string mean(double number)
{
    if (number >= 10'000) return base::formatCount(number);
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", number);
    return text.data();
}

std::string levelTable(const schema::ReceptiveField& field)
{
    Table table({Align::Right, Align::Left, Align::Right, Align::Left, Align::Right, Align::Right});
    table.add({"depth", "rows of", "needed", "of", "edges", "of"});
    for (const schema::FieldLevel& level : field.levels) {
        std::string depth = std::to_string(level.depth);
        for (const schema::FieldRows& rows : level.rows) {
            table.add({depth, rows.table, count(rows.rows), count(rows.of)});
            depth.clear();
        }
        for (const schema::FieldEdges& edges : level.edges) {
            table.add({depth, edges.table, "", "", count(edges.edges), count(edges.of)});
            depth.clear();
        }
    }
    return table.render();
}

std::string roundTable(const schema::ReceptiveField& field)
{
    Table table({Align::Right, Align::Left, Align::Right, Align::Right});
    table.add({"depth", "reads", "edges", "rows"});
    for (int depth = field.depth; depth > 0; --depth) {
        std::string number = std::to_string(depth);
        for (const schema::FieldBlock& block : field.blocks)
            if (block.depth == depth) table.add({std::exchange(number, ""), block.table, count(block.edges)});
        for (const schema::FieldRead& read : field.reads)
            if (read.depth == depth)
                table.add({std::exchange(number, ""), read.table + " of depth " + std::to_string(read.from), "",
                           count(read.rows)});
    }
    return table.render();
}

std::string meanTable(const schema::FieldExplosion& explosion)
{
    Table table({Align::Right, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right});
    table.add({"depth", "", "mean", "error", "repeated", "node by node", "layer-wise"});
    for (const schema::FieldMean& m : explosion.means)
        table.add({std::to_string(m.depth), m.edges ? "edges of " + m.table : m.table, mean(m.mean),
                   m.error > 0 ? mean(m.error) : "", mean(m.repeated) + " x",
                   m.bytes > 0 ? base::formatBytes(m.bytes) : "", m.ownBytes > 0 ? base::formatBytes(m.ownBytes) : ""});
    return table.render();
}

std::string sampleText(const schema::FieldExplosion& explosion)
{
    if (explosion.method == schema::MeanMethod::Exact)
        return "exact: " + (explosion.nodes == 1 ? "the only node" : "all " + base::counted(explosion.nodes, "node"));
    return "estimated from " + base::counted(explosion.nodes, "random node") + ", with standard errors";
}

}  // namespace

std::string describeReceptiveField(const schema::ReceptiveField& field, const Style& style)
{
    std::string text = style.bold("Receptive field of " + field.table + " " + std::to_string(field.node)) + "\n" +
                       levelTable(field) + "\n";
    if (field.depth > 0)
        text += style.bold("Layer-wise inference reads, once per hop") + "\n" + roundTable(field) + "\n";
    text += style.bold("Average over nodes") + " (" + sampleText(field.explosion) + ")\n" + meanTable(field.explosion);
    for (const std::string& note : field.notes) text += "\n" + style.warn(note) + "\n";
    return text;
}

}  // namespace hopscope::engine
