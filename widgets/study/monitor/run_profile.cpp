#include "study/monitor/run_profile.h"

#include <algorithm>
#include <array>
#include <map>

#include "models/labels.h"
#include "models/op_names.h"
#include "models/tr.h"

namespace hopscope::study {

namespace {

using models::Target;
using models::text;
using protocol::ModelRecord;
using protocol::OpId;
using protocol::StageId;

constexpr double rounding = 1e-9;  // of a sum of seconds, as a share of it

QString nameOf(const ModelRecord& model, const std::string& id, const std::string& label)
{
    const OpId op = model.findOp(id);
    if (op.valid() && !model.ops[op].outputs.empty()) return models::opName(model, op);
    return text(label.empty() ? id : label);
}

ProfileRow passRow(const ModelRecord& model, StageId stage, const schema::OperatorTimeRecord& pass)
{
    ProfileRow row{.stage = stage,
                   .name = nameOf(model, pass.op, pass.label),
                   .module = {},
                   .about = {},
                   .target = Target::stage(stage),
                   .ops = {},
                   .fused = {},
                   .seconds = pass.seconds,
                   .bytes = pass.bytes};
    if (const OpId op = model.findOp(pass.op); op.valid()) {
        row.module = text(model.ops[op].module);
        row.target = Target::op(op);
        row.ops.push_back(op);
    }
    for (const std::string& id : pass.fused) {
        row.fused << nameOf(model, id, {});
        if (const OpId op = model.findOp(id); op.valid()) row.ops.push_back(op);
    }
    return row;
}

// Loops that compute the same count together.
std::vector<ProfileRow> passRows(const ModelRecord& model, const schema::StageRecord& stage)
{
    std::vector<ProfileRow> rows;
    std::map<std::pair<std::string, std::vector<std::string>>, std::size_t> known;
    for (const schema::OperatorTimeRecord& pass : stage.operators) {
        const auto [place, isNew] = known.try_emplace({pass.op, pass.fused}, rows.size());
        if (isNew) {
            rows.push_back(passRow(model, stage.index, pass));
            continue;
        }
        ProfileRow& row = rows[place->second];
        row.seconds += pass.seconds;
        row.bytes = std::max(*row.bytes, pass.bytes);
    }
    return rows;
}

ProfileRow otherRow(StageId stage, const QString& name, const QString& about, double seconds)
{
    return {.stage = stage,
            .name = name,
            .module = {},
            .about = about,
            .target = stage.valid() ? Target::stage(stage) : Target(),
            .ops = {},
            .fused = {},
            .seconds = seconds,
            .bytes = {}};
}

// The time of a stage outside of its operators, by phase. If the phases add up to more than the remainder, as separate
// clocks may, all are scaled down alike.
std::vector<ProfileRow> otherRows(const schema::StageRecord& stage, double operators)
{
    const double left = std::max(0.0, stage.seconds - operators);
    const plan::PhaseSeconds& phases = stage.phases;
    const double block = phases.block, read = phases.gather + phases.h2d, write = phases.d2h + phases.write;
    const double known = block + read + write, scale = known > left ? left / known : 1;
    const StageId index = stage.index;
    std::vector<ProfileRow> rows{
        otherRow(index, tr("structure"), tr("Edges and frontiers of the batches."), scale * block),
        otherRow(index, tr("reading rows"), tr("Reading the rows of inputs and stored values for the batches."),
                 scale * read),
        otherRow(index, tr("writing rows"), tr("Writing the results of the batches to stores."), scale * write),
        otherRow(index, tr("other work"), tr("Time between operators and batches, and waiting."),
                 left - scale * known)};
    std::erase_if(rows, [&](const ProfileRow& row) { return row.seconds <= rounding * stage.seconds; });
    return rows;
}

double sumOf(const std::vector<ProfileRow>& rows)
{
    double sum = 0;
    for (const ProfileRow& row : rows) sum += row.seconds;
    return sum;
}

// "0" alone says little: "convs.0".
QString shortName(const QString& path)
{
    const QString last = path.section(u'.', -1);
    bool number = false;
    last.toInt(&number);
    return number ? path.section(u'.', -2) : last;
}

// Frames by their parents and what tells them from their siblings.
class Frames {
public:
    explicit Frames(std::vector<ProfileFrame>& frames) : m_frames(frames) {}

    int add(int parent, ProfileFrame frame)
    {
        frame.parent = parent;
        frame.level = parent < 0 ? 0 : at(parent).level + 1;
        m_frames.push_back(std::move(frame));
        return static_cast<int>(m_frames.size()) - 1;
    }
    int stage(StageId stage)
    {
        const auto [place, isNew] = m_stages.try_emplace(stage, 0);
        if (isNew) {
            const QString name = tr("stage %1").arg(stage.number);
            place->second = add(0, {.name = name, .title = name, .target = Target::stage(stage), .stage = stage});
        }
        return place->second;
    }
    int module(int parent, const QString& path)
    {
        const auto [place, isNew] = m_modules.try_emplace({parent, path}, 0);
        if (isNew)
            place->second = add(parent, {.name = shortName(path),
                                         .title = tr("module %1").arg(path),
                                         .target = Target::moduleAt(path),
                                         .stage = at(parent).stage});
        return place->second;
    }
    // The stage or the innermost module that a row belongs to.
    int above(const ProfileRow& row)
    {
        if (!row.stage.valid()) return 0;
        int parent = stage(row.stage);
        const qsizetype parts = row.module.isEmpty() ? 0 : row.module.count(u'.') + 1;
        for (qsizetype part = 0; part < parts; ++part) parent = module(parent, row.module.section(u'.', 0, part));
        return parent;
    }

private:
    [[nodiscard]] const ProfileFrame& at(int frame) const { return m_frames[static_cast<std::size_t>(frame)]; }

    std::vector<ProfileFrame>& m_frames;
    std::map<StageId, int> m_stages;
    std::map<std::pair<int, QString>, int> m_modules;
};

// Each as long as its children, which follow each other.
void layOut(std::vector<ProfileFrame>& frames)
{
    const auto parentOf = [&](const ProfileFrame& frame) -> ProfileFrame& {
        return frames[static_cast<std::size_t>(frame.parent)];
    };
    for (std::size_t at = frames.size(); at-- > 1;) parentOf(frames[at]).seconds += frames[at].seconds;
    std::vector<double> next(frames.size());
    for (std::size_t at = 1; at < frames.size(); ++at) {
        double& begin = next[static_cast<std::size_t>(frames[at].parent)];
        frames[at].begin = next[at] = begin;
        begin += frames[at].seconds;
    }
}

}  // namespace

RunProfile::RunProfile(const ModelRecord& model, const schema::Report& report)
{
    if (!measured(report)) return;
    addRows(model, report);
    addFrames();
}

bool RunProfile::measured(const schema::Report& report)
{
    return std::ranges::any_of(report.stages, [](const auto& stage) { return !stage.operators.empty(); });
}

void RunProfile::addRows(const ModelRecord& model, const schema::Report& report)
{
    if (report.prologueSeconds > 0)
        m_rows.push_back(otherRow({}, tr("prologue"), tr("Structure that is computed once for the whole graph."),
                                  report.prologueSeconds));
    for (const schema::StageRecord& stage : report.stages) {
        std::vector<ProfileRow> rows = passRows(model, stage);
        const std::vector<ProfileRow> others = otherRows(stage, sumOf(rows));
        m_rows.insert(m_rows.end(), rows.begin(), rows.end());
        m_rows.insert(m_rows.end(), others.begin(), others.end());
    }
    const double left = report.seconds - sumOf(m_rows);
    if (left > rounding * report.seconds)
        m_rows.push_back(
            otherRow({}, tr("outside the stages"), tr("Time before, between and after the stages."), left));
}

void RunProfile::addFrames()
{
    Frames frames(m_frames);
    frames.add(-1, {.name = tr("run"), .title = tr("the run"), .target = {}, .stage = {}});
    for (std::size_t at = 0; at < m_rows.size(); ++at) {
        const ProfileRow& row = m_rows[at];
        const QString place = row.stage.valid() ? tr("%1, stage %2").arg(row.name).arg(row.stage.number) : row.name;
        frames.add(frames.above(row), {.name = row.name,
                                       .title = place,
                                       .target = row.target,
                                       .stage = row.stage,
                                       .row = static_cast<int>(at),
                                       .seconds = row.seconds});
    }
    layOut(m_frames);
}

double RunProfile::share(double part) const { return seconds() > 0 ? part / seconds() : 0; }

QString RunProfile::sentence(int frame) const
{
    const ProfileFrame& shown = m_frames[static_cast<std::size_t>(frame)];
    const QString words =
        tr("%1: %2, %3 of the run")
            .arg(shown.title, models::formatSecondsFinely(shown.seconds), percentText(share(shown.seconds)));
    const QStringList fused = shown.row < 0 ? QStringList() : m_rows[static_cast<std::size_t>(shown.row)].fused;
    return fused.isEmpty() ? words : tr("%1; in one pass with %2").arg(words, fused.join(QStringLiteral(", ")));
}

bool RunProfile::isAbout(const ProfileRow& row, const Target& target) const
{
    return row.target == target ||
           (target.opId().valid() && std::ranges::find(row.ops, target.opId()) != row.ops.end());
}

int RunProfile::rowOf(const Target& target) const
{
    if (target.kind == Target::Kind::None) return -1;
    const auto found = std::ranges::find_if(m_rows, [&](const ProfileRow& row) { return isAbout(row, target); });
    return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

int RunProfile::frameOf(const Target& target) const
{
    if (target.kind == Target::Kind::None) return -1;
    const auto found = std::ranges::find_if(m_frames, [&](const ProfileFrame& frame) {
        return frame.target == target ||
               (frame.row >= 0 && isAbout(m_rows[static_cast<std::size_t>(frame.row)], target));
    });
    return found == m_frames.end() ? -1 : static_cast<int>(found - m_frames.begin());
}

QString percentText(double share) { return QStringLiteral("%1 %").arg(100 * share, 0, 'f', 1); }

}  // namespace hopscope::study
