#include "graphview/scene/colours.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "models/labels.h"
#include "models/operator_times.h"
#include "models/tr.h"
#include "style/depth_scale.h"

namespace hopscope::graphview {

namespace {

using Numbers = std::vector<std::optional<double>>;

struct Pair {
    QColor fill, text;
};

Pair pick(const QVector<QColor>& fills, const QVector<QColor>& texts, int index)
{
    const auto at = std::clamp<qsizetype>(index, 0, fills.size() - 1);
    return {fills[at], texts[at]};
}

Pair neutral(const style::Theme& theme) { return {theme.raised, theme.text}; }

void put(Colouring& colouring, const Pair& pair)
{
    colouring.fill.push_back(pair.fill);
    colouring.text.push_back(pair.text);
}

Colouring byDepth(const Scene& scene, const style::Theme& theme)
{
    Colouring colouring{.title = tr("Message-passing depth"), .fill = {}, .text = {}, .legend = {}};
    const auto steps = static_cast<int>(theme.depth.size());
    int deepest = 0;
    for (const VisibleNode& node : scene.graph->nodes) deepest = std::max(deepest, node.depth);
    for (const VisibleNode& node : scene.graph->nodes) {
        const int step = style::depthStep(node.depth, deepest, steps);
        put(colouring, {theme.depthColour(step), theme.depthTextColour(step)});
    }
    for (int step = 0; step < std::min(steps, deepest + 1); ++step) {
        const auto [first, last] = style::depthsOfStep(step, deepest, steps);
        if (last < first) continue;
        const QString label =
            first == last ? QString::number(first) : QStringLiteral("%1\u2013%2").arg(first).arg(last);
        colouring.legend.push_back(
            {.fill = theme.depthColour(step), .text = theme.depthTextColour(step), .label = label});
    }
    return colouring;
}

Colouring byStage(const Scene& scene, const style::Theme& theme)
{
    Colouring colouring{.title = tr("Stage"), .fill = {}, .text = {}, .legend = {}};
    const auto colours = static_cast<int>(theme.kinds.size());
    const auto pairOf = [&](StageId stage) {
        return stage.valid() ? pick(theme.kinds, theme.kindsText, (stage.number - 1) % colours) : neutral(theme);
    };
    for (const StageId stage : scene.staging.stage) put(colouring, pairOf(stage));
    for (StageId stage(1); stage.number <= std::min(scene.staging.count, colours); ++stage.number)
        colouring.legend.push_back(
            {.fill = pairOf(stage).fill, .text = pairOf(stage).text, .label = QString::number(stage.number)});
    return colouring;
}

Colouring byKind(const Scene& scene, const style::Theme& theme)
{
    static const std::vector<std::pair<Shape, const char*>> kinds{
        {Shape::Input, QT_TRANSLATE_NOOP("GraphColours", "input")},
        {Shape::Structure, QT_TRANSLATE_NOOP("GraphColours", "structure")},
        {Shape::Rowwise, QT_TRANSLATE_NOOP("GraphColours", "row-wise")},
        {Shape::Gather, QT_TRANSLATE_NOOP("GraphColours", "gather")},
        {Shape::Aggregate, QT_TRANSLATE_NOOP("GraphColours", "aggregation")},
        {Shape::Reduce, QT_TRANSLATE_NOOP("GraphColours", "reduction")},
        {Shape::Module, QT_TRANSLATE_NOOP("GraphColours", "module")},
        {Shape::Output, QT_TRANSLATE_NOOP("GraphColours", "output")}};
    Colouring colouring{.title = tr("Kind"), .fill = {}, .text = {}, .legend = {}};
    std::vector<bool> used(kinds.size());
    for (const VisibleNode& node : scene.graph->nodes)
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            if (kinds[i].first != node.shape) continue;
            used[i] = true;
            put(colouring, pick(theme.kinds, theme.kindsText, static_cast<int>(i)));
        }
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const Pair pair = pick(theme.kinds, theme.kindsText, static_cast<int>(i));
        if (used[i]) colouring.legend.push_back({.fill = pair.fill, .text = pair.text, .label = tr(kinds[i].second)});
    }
    return colouring;
}

constexpr double smallestRange = 16;  // of the ramp: smaller differences are not to look like large ones

// By magnitude on the ramp; nodes without a number stay neutral. The legend names the ends and the middle.
Colouring byNumber(const QString& title, const Numbers& numbers, QString (*write)(double), const style::Theme& theme)
{
    Colouring colouring{.title = title, .fill = {}, .text = {}, .legend = {}};
    double least = INFINITY, most = 0;
    bool zeros = false;
    for (const auto& number : numbers) {
        zeros = zeros || (number && *number <= 0);
        if (number && *number > 0) least = std::min(least, *number), most = std::max(most, *number);
    }
    if (most > 0) least = std::min(least, most / smallestRange);
    const auto steps = static_cast<int>(theme.scale.size());
    const double span = most > least ? std::log(most / least) : 1;
    const auto step = [&](double value) {
        if (value <= 0 || !(least < INFINITY)) return 0;
        return std::clamp(static_cast<int>(std::lround(std::log(value / least) / span * (steps - 1))), 0, steps - 1);
    };
    for (const auto& number : numbers)
        put(colouring, number ? pick(theme.scale, theme.scaleText, step(*number)) : neutral(theme));
    std::vector<double> named;
    if (zeros) named.push_back(0);
    if (most > 0) named.insert(named.end(), {least, std::sqrt(least * most), most});
    for (double value : named) {
        const Pair pair = pick(theme.scale, theme.scaleText, step(value));
        colouring.legend.push_back({.fill = pair.fill, .text = pair.text, .label = write(value)});
    }
    return colouring;
}

Numbers bytesOf(const Scene& scene, const protocol::ModelRecord& model)
{
    Numbers numbers;
    for (const VisibleNode& node : scene.graph->nodes) {
        std::optional<double> sum;
        const auto& op = model.ops[node.ops.empty() ? node.op : node.ops.back()];
        for (const protocol::ValueId value : op.kind == protocol::NodeKind::Output ? op.inputs : op.outputs)
            if (const auto bytes = model.values[value].bytes) sum = sum.value_or(0) + static_cast<double>(*bytes);
        numbers.push_back(sum);
    }
    return numbers;
}

double sum(double a, double b) { return a + b; }
double larger(double a, double b) { return std::max(a, b); }

// A box that holds several stages counts all of them.
Numbers byStageNumber(const Scene& scene, const std::map<StageId, double>& stages, double (*together)(double, double))
{
    Numbers numbers;
    for (std::size_t node = 0; node < scene.staging.stage.size(); ++node) {
        std::optional<double> number;
        const auto end = stages.upper_bound(scene.staging.lastStage[node]);
        for (auto at = stages.lower_bound(scene.staging.stage[node]); at != stages.end() && at != end; ++at)
            number = number ? together(*number, at->second) : at->second;
        numbers.push_back(number);
    }
    return numbers;
}

std::map<StageId, double> predictedSeconds(const ColourData& data)
{
    std::map<StageId, double> stages;
    if (data.plan && data.plan->predicted)
        for (const auto& stage : data.plan->predicted->stages)
            if (stage.seconds) stages[stage.index] = *stage.seconds;
    return stages;
}

std::span<const OpId> operatorsOf(const VisibleNode& node)
{
    return node.ops.empty() && node.op.valid() ? std::span(&node.op, 1) : std::span<const OpId>(node.ops);
}

// A box counts all of its operators, in all stages.
Numbers predictedByOperator(const Scene& scene, const ColourData& data)
{
    std::map<protocol::OpId, double> seconds;
    for (const auto& stage : data.plan->predicted->stages)
        for (const auto& [op, part] : stage.operators) seconds[data.model->findOp(op)] += part;
    Numbers numbers;
    for (const VisibleNode& node : scene.graph->nodes) {
        std::optional<double> sum;
        for (const OpId op : operatorsOf(node))
            if (const auto found = seconds.find(op); found != seconds.end()) sum = sum.value_or(0) + found->second;
        numbers.push_back(sum);
    }
    return numbers;
}

bool hasPredictedOperators(const ColourData& data)
{
    return data.plan && data.plan->predicted &&
           std::ranges::any_of(data.plan->predicted->stages, [](const auto& s) { return !s.operators.empty(); });
}

std::map<StageId, double> measuredSeconds(const ColourData& data)
{
    std::map<StageId, double> stages;
    if (data.report)
        for (const auto& stage : data.report->stages) stages[stage.index] = stage.seconds;
    return stages;
}

std::map<StageId, double> peakMemory(const ColourData& data)
{
    std::map<StageId, double> stages;
    if (data.plan && data.plan->predicted)
        for (const auto& stage : data.plan->predicted->stages)
            stages[stage.index] = static_cast<double>(stage.peakMemory);
    if (data.report)
        for (const auto& stage : data.report->stages) stages[stage.index] = static_cast<double>(stage.peakMemory);
    return stages;
}

// A box counts all of its operators.
Numbers byOperator(const Scene& scene, const ColourData& data, double (*take)(const models::OperatorTimes::Sum&))
{
    const models::OperatorTimes times(*data.report);
    Numbers numbers;
    for (const VisibleNode& node : scene.graph->nodes) {
        std::vector<std::string> operators;
        for (const OpId op : operatorsOf(node)) operators.push_back(data.model->ops[op].id);
        const auto sum = times.of(operators);
        numbers.push_back(sum ? std::optional(take(*sum)) : std::nullopt);
    }
    return numbers;
}

// Not available for runs on a GPU, nor in older reports.
bool hasOperatorTimes(const ColourData& data)
{
    return data.report && std::ranges::any_of(data.report->stages, [](const auto& s) { return !s.operators.empty(); });
}

QString writeBytes(double value) { return models::formatBytes(value); }
QString writeSeconds(double value) { return models::formatSeconds(value); }
QString writeSecondsFinely(double value) { return models::formatSecondsFinely(value); }
QString writeError(double value) { return QString::number(value, 'g', 2); }

// Stored values and outputs have an error of their own; what lies between them has none.
Numbers errorsOf(const Scene& scene, const ColourData& data)
{
    std::map<std::string, double> errors;
    for (const auto* list : {&data.report->verify->checkpoints, &data.report->verify->outputs})
        for (const schema::TensorRecord& tensor : *list) errors[tensor.name] = tensor.maxAbsolute;
    Numbers numbers(scene.graph->nodes.size());
    const auto take = [&](std::optional<double>& number, const std::string& name) {
        if (const auto place = errors.find(name); place != errors.end())
            number = std::max(number.value_or(0), place->second);
    };
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        for (const OpId op : scene.graph->nodes[i].ops) {
            const auto& record = data.model->ops[op];
            if (record.kind == protocol::NodeKind::Output) take(numbers[i], record.name);
            for (const protocol::ValueId value : record.outputs) take(numbers[i], data.model->values[value].id);
        }
    }
    return numbers;
}

// A box takes the largest error of its operators. NaN: a number is not finite on one side.
Numbers comparedErrors(const Scene& scene, const ColourData& data)
{
    std::map<OpId, double> errors;
    for (const schema::ErrorPoint& point : data.divergence->growth)
        errors[data.model->findOp(point.op)] = point.maxAbsolute;
    Numbers numbers(scene.graph->nodes.size());
    const auto take = [&](std::optional<double>& number, OpId op) {
        const auto place = errors.find(op);
        if (place == errors.end() || (number && !std::isfinite(*number))) return;
        number = std::isfinite(place->second) ? std::max(number.value_or(0), place->second) : place->second;
    };
    for (std::size_t i = 0; i < numbers.size(); ++i)
        for (const OpId op : operatorsOf(scene.graph->nodes[i])) take(numbers[i], op);
    return numbers;
}

// Nodes with a number that is not finite on one side have the colour of errors.
Colouring byComparedError(const Scene& scene, const ColourData& data, const style::Theme& theme)
{
    Numbers numbers = comparedErrors(scene, data), finite = numbers;
    for (auto& number : finite)
        if (number && !std::isfinite(*number)) number.reset();
    const auto name = [](const std::string& file) { return models::text(file).section(u'/', -1); };
    const QString title =
        tr("Largest difference: %1, %2").arg(name(data.divergence->first), name(data.divergence->second));
    Colouring colouring = byNumber(title, finite, writeError, theme);
    bool any = false;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!numbers[i] || std::isfinite(*numbers[i])) continue;
        colouring.fill[i] = theme.bad;
        colouring.text[i] = theme.panel;
        any = true;
    }
    if (any) colouring.legend.push_back({.fill = theme.bad, .text = theme.panel, .label = tr("not finite")});
    return colouring;
}

bool hasCompared(const ColourData& data) { return data.divergence && !data.divergence->growth.empty(); }

Colouring byTime(const Scene& scene, const ColourData& data, const style::Theme& theme)
{
    if (hasOperatorTimes(data))
        return byNumber(tr("Measured time"), byOperator(scene, data, [](const auto& sum) { return sum.seconds; }),
                        writeSecondsFinely, theme);
    return byNumber(tr("Measured time of the stage"), byStageNumber(scene, measuredSeconds(data), sum), writeSeconds,
                    theme);
}

Colouring byPredictedTime(const Scene& scene, const ColourData& data, const style::Theme& theme)
{
    if (hasPredictedOperators(data))
        return byNumber(tr("Predicted time"), predictedByOperator(scene, data), writeSecondsFinely, theme);
    return byNumber(tr("Predicted time of the stage"), byStageNumber(scene, predictedSeconds(data), sum), writeSeconds,
                    theme);
}

Colouring byMemory(const Scene& scene, const ColourData& data, const style::Theme& theme)
{
    const auto bytes = [](const models::OperatorTimes::Sum& sum) { return static_cast<double>(sum.bytes); };
    if (hasOperatorTimes(data))
        return byNumber(tr("Result in a batch"), byOperator(scene, data, bytes), writeBytes, theme);
    return byNumber(tr("Peak memory of the stage"), byStageNumber(scene, peakMemory(data), larger), writeBytes, theme);
}

bool hasErrors(const ColourData& data)
{
    return data.report && data.report->verify &&
           !(data.report->verify->outputs.empty() && data.report->verify->checkpoints.empty());
}

}  // namespace

QString modeName(ColourMode mode)
{
    switch (mode) {
    case ColourMode::Depth: return tr("Depth");
    case ColourMode::Stage: return tr("Stage");
    case ColourMode::Kind: return tr("Kind");
    case ColourMode::Bytes: return tr("Bytes");
    case ColourMode::PredictedTime: return tr("Predicted time");
    case ColourMode::Time: return tr("Measured time");
    case ColourMode::Memory: return tr("Memory");
    case ColourMode::Error: return tr("Error");
    }
    return {};
}

QString modeKey(ColourMode mode)
{
    static constexpr const char* keys[modeCount] = {"depth",          "stage", "kind",   "bytes",
                                                    "predicted-time", "time",  "memory", "error"};
    return QString::fromLatin1(keys[static_cast<int>(mode)]);
}

QString whyUnavailable(ColourMode mode, const ColourData& data)
{
    if (!data.model) return tr("No model is open.");
    const auto known = [](const auto& value) { return value.bytes.has_value(); };
    switch (mode) {
    case ColourMode::Depth:
    case ColourMode::Kind: return {};
    case ColourMode::Stage: return data.plan ? QString() : tr("There is no plan yet, or the model cannot be split.");
    case ColourMode::Bytes:
        return std::any_of(data.model->values.begin(), data.model->values.end(), known)
                   ? QString()
                   : tr("Sizes are unknown without data: open the model with its graph.");
    case ColourMode::PredictedTime:
        return predictedSeconds(data).empty() ? tr("There is no prediction: it needs a plan and the graph.")
                                              : QString();
    case ColourMode::Time: return data.report ? QString() : tr("No measurements yet: run the model first.");
    case ColourMode::Memory:
        return peakMemory(data).empty()
                   ? tr("There is neither a run nor a prediction, which needs a plan and the graph.")
                   : QString();
    case ColourMode::Error:
        return hasCompared(data) || hasErrors(data)
                   ? QString()
                   : tr("No errors are known yet: run the model with verification, or compare it in the Debugger.");
    }
    return {};
}

Colouring colourNodes(const Scene& scene, ColourMode mode, const ColourData& data, const style::Theme& theme)
{
    if (!whyUnavailable(mode, data).isEmpty()) return byDepth(scene, theme);
    switch (mode) {
    case ColourMode::Depth: break;
    case ColourMode::Stage: return byStage(scene, theme);
    case ColourMode::Kind: return byKind(scene, theme);
    case ColourMode::Bytes: return byNumber(tr("Bytes of the result"), bytesOf(scene, *data.model), writeBytes, theme);
    case ColourMode::PredictedTime: return byPredictedTime(scene, data, theme);
    case ColourMode::Time: return byTime(scene, data, theme);
    case ColourMode::Memory: return byMemory(scene, data, theme);
    case ColourMode::Error:
        if (hasCompared(data)) return byComparedError(scene, data, theme);
        return byNumber(tr("Maximum error"), errorsOf(scene, data), writeError, theme);
    }
    return byDepth(scene, theme);
}

}  // namespace hopscope::graphview
