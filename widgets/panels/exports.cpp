#include "models/checkpoint_model.h"
#include "models/labels.h"
#include "models/op_names.h"
#include "models/run_log.h"
#include "models/stage_model.h"
#include "panels/run_plots.h"
#include "plots/figure.h"
#include "schema/trace.h"

namespace hopscope::panels {

namespace {

using models::text;
using plots::csvField;

// A table as RFC 4180 text with "\n" at the ends of lines.
class Csv {
public:
    explicit Csv(const QStringList& header) { row(header); }
    void row(const QStringList& fields)
    {
        QStringList quoted;
        for (const QString& field : fields) quoted << csvField(field);
        m_text += quoted.join(QLatin1Char(',')) + QLatin1Char('\n');
    }
    [[nodiscard]] QString text() const { return m_text; }

private:
    QString m_text;
};

template <class T>
QString number(T value)
{
    return QString::number(value);
}

QString number(const std::optional<std::int64_t>& value) { return value ? QString::number(*value) : QString(); }

QString seconds(double value) { return QString::number(value, 'g', 9); }

QString names(const protocol::ModelRecord& model, const std::vector<protocol::ValueId>& values)
{
    QStringList ids;
    for (const protocol::ValueId value : values) ids << text(model.values[value].id);
    return ids.join(QLatin1Char(' '));
}

QString opsCsv(const protocol::ModelRecord& model, const protocol::PlanRecord* plan)
{
    Csv csv({"id", "label", "name", "kind", "module", "module_type", "depth", "depth_module", "depth_op", "stages",
             "structure_only", "inputs", "outputs", "source"});
    for (std::size_t at = 0; at < model.ops.size(); ++at) {
        const protocol::OpRecord& op = model.ops[at];
        QStringList stages;
        if (plan != nullptr)
            for (const protocol::StageId stage : plan->stagesOf(protocol::OpId(at))) stages << number(stage.number);
        const QString source =
            op.source.file.empty() ? QString() : QStringLiteral("%1:%2").arg(text(op.source.file)).arg(op.source.line);
        csv.row({text(op.id), models::opName(model, protocol::OpId(at)), text(op.name),
                 QString::fromLatin1(base::nameOf(op.kind)), text(op.module), text(op.moduleType), number(op.depth),
                 number(op.depthModule), number(op.depthOp), stages.join(QLatin1Char(' ')),
                 op.structureOnly ? QStringLiteral("true") : QStringLiteral("false"), names(model, op.inputs),
                 names(model, op.outputs), source});
    }
    return csv.text();
}

QString checkpointsCsv(const protocol::ModelRecord& model, const protocol::PlanRecord& plan)
{
    Csv csv({"value", "label", "shape", "stage", "bytes_written", "bytes_read", "output", "pinned"});
    using State = models::CheckpointRow::State;
    for (const models::CheckpointRow& row : models::checkpointRows(model, plan))
        csv.row({row.id, row.label, row.shape, number(row.stage.number), number(row.written), number(row.read),
                 row.state == State::Output ? QStringLiteral("true") : QStringLiteral("false"),
                 row.pinned ? QStringLiteral("true") : QStringLiteral("false")});
    return csv.text();
}

QStringList stageFields(const models::StageRow& row, const schema::Report* report)
{
    QStringList fields{number(row.stage.number), number(row.reads),
                       number(row.writes),       number(row.ops),
                       number(row.recomputed),   number(row.bytes),
                       number(row.peak),         row.seconds ? seconds(*row.seconds) : QString()};
    const schema::StageRecord* const record = schema::stageOf(report, row.stage);
    const plan::StageFigures none;
    plan::forEachLabelled(record != nullptr ? *record : none, [&](const auto&, std::optional<double> figure) {
        fields << (figure ? QString::number(*figure, 'g', 15) : QString());
    });
    return fields;
}

QString stagesCsv(const models::Document& document)
{
    QStringList header{"stage", "reads", "writes", "ops", "recomputed", "bytes", "peak_memory", "seconds"};
    plan::forEachLabelled({}, [&](const auto& figure, auto) {
        header << QStringLiteral("measured_") + QString::fromLatin1(figure.name);
    });
    Csv csv(header);
    for (const models::StageRow& row :
         models::stageRows(*document.plan(), document.runLog().get(), document.lastReport()))
        csv.row(stageFields(row, document.lastReport()));
    return csv.text();
}

QString batchesCsv(const models::RunLog& log)
{
    Csv csv({"time", "stage", "destinations", "edges", "frontier", "memory", "peak_memory", "reserved_memory"});
    for (const models::BatchPoint& batch : log.batches())
        csv.row({seconds(batch.time), number(batch.stage.number), number(batch.destinations), number(batch.edges),
                 number(batch.frontier), number(batch.memory), number(batch.peakMemory), number(batch.reservedMemory)});
    return csv.text();
}

QString phasesCsv(const models::RunLog& log)
{
    Csv csv({"start", "seconds", "phase", "stage", "batch"});
    for (const models::PhasePoint& phase : log.phases())
        csv.row({seconds(phase.start), seconds(phase.seconds), QString::fromLatin1(protocol::phaseName(phase.phase)),
                 number(phase.stage.number), number(phase.batch)});
    return csv.text();
}

}  // namespace

QString exportCsv(const models::Document& document, const QString& what)
{
    const models::ModelPtr& model = document.model();
    const models::PlanPtr& plan = document.plan();
    const models::RunLog* log = document.runLog().get();
    if (what == QLatin1String("ops") && model) return opsCsv(*model, plan.get());
    if (what == QLatin1String("checkpoints") && model && plan) return checkpointsCsv(*model, *plan);
    if (what == QLatin1String("stages") && plan) return stagesCsv(document);
    if (what == QLatin1String("batches") && log != nullptr) return batchesCsv(*log);
    if (what == QLatin1String("phases") && log != nullptr) return phasesCsv(*log);
    return {};
}

QByteArray exportTrace(const models::Document& document)
{
    if (!document.runLog()) return {};
    const models::RunLog& log = *document.runLog();
    json::Array events;
    int devices = 1;
    for (const models::PhasePoint& phase : log.phases()) devices = std::max(devices, phase.device + 1);
    for (int device = 0; device < devices; ++device)
        for (json::Value& lane : schema::traceLanes(device)) events.push_back(std::move(lane));
    for (const models::StageProgress& stage : log.stages())
        events.push_back(schema::traceStage(stage.index, stage.start, stage.end - stage.start));
    for (const models::PhasePoint& phase : log.phases())
        events.push_back(schema::tracePhase(static_cast<std::size_t>(phase.phase), phase.stage, phase.batch,
                                            phase.start, phase.seconds, phase.device));
    for (const models::BatchPoint& batch : log.batches())
        events.push_back(schema::traceMemory(batch.time, batch.memory, batch.peakMemory));
    json::Value trace = json::Value::object();
    trace["traceEvents"] = std::move(events);
    return QByteArray::fromStdString(json::write(trace));
}

QString exportPlots(QWidget& plots, const QString& file)
{
    auto* shown = qobject_cast<RunPlots*>(&plots);
    if (shown != nullptr) shown->bringUpToDate();
    const QList<plots::Figure*> figures = shown != nullptr ? shown->figures() : QList<plots::Figure*>();
    if (figures.isEmpty()) return QCoreApplication::translate("Plots", "Nothing to export yet");
    return plots::exportFigures(figures, file);
}

}  // namespace hopscope::panels
