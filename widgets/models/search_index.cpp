#include "models/search_index.h"

#include <QStringList>
#include <algorithm>

#include "models/labels.h"
#include "models/op_names.h"

namespace hopscope::models {

namespace {

QString lineOf(const protocol::ModelRecord& model, protocol::OpId id, const QString& type)
{
    const protocol::OpRecord& op = model.ops[id];
    QString line = text(op.id) + QLatin1Char(' ') + text(op.name) + QLatin1Char(' ') + text(op.module) +
                   QLatin1Char(' ') + type + QLatin1Char(' ') + opLabel(model, op) + QLatin1Char(' ') +
                   opName(model, id);
    for (const protocol::ValueId value : op.outputs) line += QLatin1Char(' ') + shapeLabel(model, model.values[value]);
    return line.toLower().replace(QLatin1Char('\n'), QLatin1Char(' '));
}

}  // namespace

SearchIndex::SearchIndex(const protocol::ModelRecord& model, const ModuleTree& tree)
{
    m_begin.reserve(model.ops.size());
    for (std::size_t op = 0; op < model.ops.size(); ++op) {
        m_begin.push_back(m_text.size());
        const Module& module = tree.modules[static_cast<std::size_t>(tree.moduleOf[op])];
        m_text += lineOf(model, protocol::OpId(op), module.type) + QLatin1Char('\n');
    }
}

// Searches the whole text for the first word, in one fast scan; for the others only the lines that contain it.
std::vector<protocol::OpId> SearchIndex::find(const QString& query) const
{
    const QStringList words = query.toLower().simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    std::vector<protocol::OpId> found;
    if (words.isEmpty()) return found;
    for (qsizetype at = m_text.indexOf(words.front()); at >= 0;) {
        const auto next = std::upper_bound(m_begin.begin(), m_begin.end(), at);
        const auto op = static_cast<std::size_t>(next - m_begin.begin()) - 1;
        const qsizetype end = next == m_begin.end() ? m_text.size() : *next;
        const QStringView line = QStringView(m_text).mid(m_begin[op], end - m_begin[op]);
        const auto inLine = [&](const QString& word) { return line.contains(word); };
        if (std::all_of(words.begin() + 1, words.end(), inLine)) found.emplace_back(op);
        at = m_text.indexOf(words.front(), end);
    }
    return found;
}

ModelParts partsOf(const protocol::ModelRecord& model)
{
    ModelParts parts;
    parts.modules = buildModuleTree(model);
    parts.search = SearchIndex(model, parts.modules);
    return parts;
}

}  // namespace hopscope::models
