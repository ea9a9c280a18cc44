#include "models/labels.h"

#include <QCoreApplication>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/units.h"

namespace hopscope::models {

namespace {

struct Word {
    std::string_view name;
    const char* word;
};

// By kind first: the same operator is another thing on rows of edges than on rows of nodes.
constexpr std::array aggregates{
    Word{"index_add", QT_TRANSLATE_NOOP("Op", "sum by destination")},
    Word{"scatter_add", QT_TRANSLATE_NOOP("Op", "sum by destination")},
    Word{"bincount", QT_TRANSLATE_NOOP("Op", "count by destination")},
    Word{"scatter_reduce", QT_TRANSLATE_NOOP("Op", "reduce by destination")},
    Word{"index_reduce", QT_TRANSLATE_NOOP("Op", "reduce by destination")},
    Word{"mm", QT_TRANSLATE_NOOP("Op", "sparse product")},
    Word{"matmul", QT_TRANSLATE_NOOP("Op", "sparse product")},
    Word{"_sparse_mm", QT_TRANSLATE_NOOP("Op", "sparse product")},
    Word{"scatter", QT_TRANSLATE_NOOP("Op", "scatter by destination")},
    Word{"index_put", QT_TRANSLATE_NOOP("Op", "put by destination")},
};

constexpr std::array reductions{
    Word{"sum", QT_TRANSLATE_NOOP("Op", "sum over all rows")},
    Word{"mean", QT_TRANSLATE_NOOP("Op", "mean over all rows")},
    Word{"amax", QT_TRANSLATE_NOOP("Op", "maximum over all rows")},
    Word{"max", QT_TRANSLATE_NOOP("Op", "maximum over all rows")},
    Word{"amin", QT_TRANSLATE_NOOP("Op", "minimum over all rows")},
    Word{"min", QT_TRANSLATE_NOOP("Op", "minimum over all rows")},
    Word{"var", QT_TRANSLATE_NOOP("Op", "variance over all rows")},
    Word{"std", QT_TRANSLATE_NOOP("Op", "deviation over all rows")},
    Word{"index_add", QT_TRANSLATE_NOOP("Op", "sum by group")},
    Word{"scatter_add", QT_TRANSLATE_NOOP("Op", "sum by group")},
    Word{"scatter_reduce", QT_TRANSLATE_NOOP("Op", "reduce by group")},
};

constexpr std::array words{
    Word{"add", QT_TRANSLATE_NOOP("Op", "add")},
    Word{"sub", QT_TRANSLATE_NOOP("Op", "subtract")},
    Word{"rsub", QT_TRANSLATE_NOOP("Op", "subtract")},
    Word{"mul", QT_TRANSLATE_NOOP("Op", "multiply")},
    Word{"div", QT_TRANSLATE_NOOP("Op", "divide")},
    Word{"neg", QT_TRANSLATE_NOOP("Op", "negate")},
    Word{"pow", QT_TRANSLATE_NOOP("Op", "power")},
    Word{"sqrt", QT_TRANSLATE_NOOP("Op", "square root")},
    Word{"rsqrt", QT_TRANSLATE_NOOP("Op", "inverse square root")},
    Word{"reciprocal", QT_TRANSLATE_NOOP("Op", "reciprocal")},
    Word{"matmul", QT_TRANSLATE_NOOP("Op", "matrix product")},
    Word{"mm", QT_TRANSLATE_NOOP("Op", "matrix product")},
    Word{"bmm", QT_TRANSLATE_NOOP("Op", "batched product")},
    Word{"addmm", QT_TRANSLATE_NOOP("Op", "linear")},
    Word{"cat", QT_TRANSLATE_NOOP("Op", "concat")},
    Word{"concat", QT_TRANSLATE_NOOP("Op", "concat")},
    Word{"stack", QT_TRANSLATE_NOOP("Op", "stack")},
    Word{"index_select", QT_TRANSLATE_NOOP("Op", "pick rows")},
    Word{"index", QT_TRANSLATE_NOOP("Op", "pick rows")},
    Word{"gather", QT_TRANSLATE_NOOP("Op", "pick entries")},
    Word{"embedding", QT_TRANSLATE_NOOP("Op", "embedding")},
    Word{"index_add", QT_TRANSLATE_NOOP("Op", "sum by destination")},
    Word{"scatter_add", QT_TRANSLATE_NOOP("Op", "sum by destination")},
    Word{"bincount", QT_TRANSLATE_NOOP("Op", "count by destination")},
    Word{"new_zeros", QT_TRANSLATE_NOOP("Op", "zeros")},
    Word{"zeros_like", QT_TRANSLATE_NOOP("Op", "zeros")},
    Word{"new_ones", QT_TRANSLATE_NOOP("Op", "ones")},
    Word{"ones_like", QT_TRANSLATE_NOOP("Op", "ones")},
    Word{"new_full", QT_TRANSLATE_NOOP("Op", "fill")},
    Word{"full_like", QT_TRANSLATE_NOOP("Op", "fill")},
    Word{"full", QT_TRANSLATE_NOOP("Op", "fill")},
    Word{"arange", QT_TRANSLATE_NOOP("Op", "numbers 0, 1, ...")},
    Word{"masked_fill", QT_TRANSLATE_NOOP("Op", "fill where masked")},
    Word{"where", QT_TRANSLATE_NOOP("Op", "choose by mask")},
    Word{"eq", QT_TRANSLATE_NOOP("Op", "equal")},
    Word{"ne", QT_TRANSLATE_NOOP("Op", "not equal")},
    Word{"gt", QT_TRANSLATE_NOOP("Op", "greater")},
    Word{"lt", QT_TRANSLATE_NOOP("Op", "less")},
    Word{"view", QT_TRANSLATE_NOOP("Op", "reshape")},
    Word{"reshape", QT_TRANSLATE_NOOP("Op", "reshape")},
    Word{"expand_as", QT_TRANSLATE_NOOP("Op", "expand")},
    Word{"unsqueeze", QT_TRANSLATE_NOOP("Op", "add a dimension")},
    Word{"squeeze", QT_TRANSLATE_NOOP("Op", "drop a dimension")},
    Word{"t", QT_TRANSLATE_NOOP("Op", "transpose")},
    Word{"to", QT_TRANSLATE_NOOP("Op", "cast")},
    Word{"type_as", QT_TRANSLATE_NOOP("Op", "cast")},
    Word{"amax", QT_TRANSLATE_NOOP("Op", "maximum")},
    Word{"amin", QT_TRANSLATE_NOOP("Op", "minimum")},
    Word{"_softmax", QT_TRANSLATE_NOOP("Op", "softmax")},
    Word{"_log_softmax", QT_TRANSLATE_NOOP("Op", "log softmax")},
};

// "aten::index_add_.out" -> "index_add": namespace, overload and the mark of in-place operators taken off.
std::string_view baseName(std::string_view name)
{
    if (const auto colon = name.rfind("::"); colon != std::string_view::npos) name.remove_prefix(colon + 2);
    if (const auto dot = name.find('.'); dot != std::string_view::npos) name = name.substr(0, dot);
    if (name.size() > 1 && name.back() == '_') name.remove_suffix(1);
    return name;
}

template <std::size_t N>
QString find(const std::array<Word, N>& vocabulary, std::string_view name)
{
    for (const Word& word : vocabulary)
        if (word.name == name) return QCoreApplication::translate("Op", word.word);
    return {};
}

QString spelled(std::string_view name)
{
    QString plain = QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
    return plain.replace(QLatin1Char('_'), QLatin1Char(' ')).trimmed();
}

QString dimension(const protocol::ModelRecord& model, const std::string& dim)
{
    if (dim.size() < 2 || dim.front() != '|') return text(dim);
    const auto size = model.sizes.find(dim.substr(1, dim.size() - 2));
    return size == model.sizes.end() ? text(dim) : formatCount(static_cast<double>(size->second));
}

// The module whose result an operator outside of all modules works on, where there is one such operand. Follows at most a
// few operators back.
QString moduleBefore(const protocol::ModelRecord& model, const protocol::OpRecord& op)
{
    const protocol::OpRecord* at = &op;
    for (int steps = 0; steps < 4; ++steps) {
        int producer = -1;
        for (const int input : at->inputs) {
            const protocol::ValueRecord& value = model.values[static_cast<std::size_t>(input)];
            if (value.producer < 0 || value.structureOnly) continue;
            if (producer >= 0) return {};
            producer = value.producer;
        }
        if (producer < 0) return {};
        at = &model.ops[static_cast<std::size_t>(producer)];
        if (!at->module.empty()) return text(at->module);
    }
    return {};
}

}  // namespace

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

QString formatBytes(double bytes) { return text(base::formatBytes(bytes)); }

QString formatCount(double count) { return text(base::formatCount(count)); }

QString formatSeconds(double seconds) { return text(base::formatSeconds(seconds)); }

QString formatSecondsFinely(double seconds)
{
    const double milliseconds = std::abs(seconds) * 1e3;
    if (milliseconds < 0.9995 || milliseconds >= 9.95) return formatSeconds(seconds);
    return QStringLiteral("%1 ms").arg(seconds * 1e3, 0, 'f', 1);
}

QString formatBytes(const std::optional<std::int64_t>& bytes)
{
    return bytes ? formatBytes(static_cast<double>(*bytes)) : QStringLiteral("–");
}

QString humanLabel(const protocol::OpRecord& op)
{
    if (op.kind == "input" || op.kind == "output") return text(op.name);
    const std::string_view name = baseName(op.name);
    if (op.kind == "gather") return QCoreApplication::translate("Op", "gather source");
    QString word;
    if (op.kind == "aggregate") word = find(aggregates, name);
    if (op.kind == "reduce") word = find(reductions, name);
    if (word.isEmpty()) word = find(words, name);
    return word.isEmpty() ? spelled(name) : word;
}

QString pathLabel(const protocol::OpRecord& op)
{
    QStringList parts;
    for (const std::string* part : {&op.module, &op.moduleType, &op.name})
        if (!part->empty()) parts << text(*part);
    return parts.join(QStringLiteral(" · "));
}

QString valueLabel(const protocol::ModelRecord& model, int value)
{
    if (value < 0 || static_cast<std::size_t>(value) >= model.values.size()) return {};
    const protocol::ValueRecord& record = model.values[static_cast<std::size_t>(value)];
    if (!record.name.empty()) return text(record.name);
    if (record.producer < 0) return text(record.id);
    const protocol::OpRecord& op = model.ops[static_cast<std::size_t>(record.producer)];
    const QString label = humanLabel(op);
    if (!op.module.empty()) return text(op.module) + QLatin1Char(' ') + label;
    const QString before = moduleBefore(model, op);
    return before.isEmpty() ? label : QCoreApplication::translate("Op", "%1 after %2").arg(label, before);
}

QString shapeLabel(const protocol::ModelRecord& model, const protocol::ValueRecord& value)
{
    QStringList dims;
    for (const std::string& dim : value.shape) dims << dimension(model, dim);
    const QString shape =
        dims.isEmpty() ? QCoreApplication::translate("Op", "scalar") : dims.join(QStringLiteral(" × "));
    return value.dtype.empty() ? shape : shape + QLatin1Char(' ') + text(value.dtype);
}

QString rowsLabel(const protocol::ValueRecord& value)
{
    QStringList tables;
    for (const auto& space : value.spaces)
        if (space) tables << text(*space);
    if (tables.isEmpty()) return QCoreApplication::translate("Op", "no rows: the same for every node");
    return QCoreApplication::translate("Op", "one per row of %1").arg(tables.join(QStringLiteral(" × ")));
}

QString kindLabel(const std::string& kind)
{
    static constexpr std::array kinds{
        Word{"input", QT_TRANSLATE_NOOP("Op", "input")},
        Word{"structure", QT_TRANSLATE_NOOP("Op", "structure only")},
        Word{"rowwise", QT_TRANSLATE_NOOP("Op", "row by row")},
        Word{"gather", QT_TRANSLATE_NOOP("Op", "gather")},
        Word{"aggregate", QT_TRANSLATE_NOOP("Op", "aggregation")},
        Word{"reduce", QT_TRANSLATE_NOOP("Op", "reduction over rows")},
        Word{"output", QT_TRANSLATE_NOOP("Op", "output")},
    };
    const QString word = find(kinds, kind);
    return word.isEmpty() ? text(kind) : word;
}

}  // namespace hopscope::models
