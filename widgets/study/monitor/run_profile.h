#pragma once

// The profile of a run, taken from its report: as rows, and as a tree of run, stages, modules and operators. Work
// outside operators has rows of its own, so that both forms add up to the run.

#include <QStringList>

#include "models/selection.h"
#include "protocol/model.h"
#include "schema/report.h"

namespace hopscope::study {

// The cost of an operator and those fused with it in one pass, over all loops of a stage; or the cost of work that
// belongs to no operator.
struct ProfileRow {
    protocol::StageId stage;          // none: outside the stages
    QString name, module;             // module: its path; empty: none
    QString about;                    // a sentence if there is no operator
    models::Target target;            // the operator; otherwise the stage
    std::vector<protocol::OpId> ops;  // of the pass, that of `name` first, if the model contains them
    QStringList fused;                // names of the others
    double seconds = 0;
    std::optional<std::int64_t> bytes;  // of the results in a batch, at most
};

struct ProfileFrame {
    int parent = -1, level = 0;  // the run has level 0; frames of a parent follow each other in time
    QString name, title;         // "convs.0", "module convs.0"
    models::Target target;       // none for the run and for work outside the stages
    protocol::StageId stage;
    int row = -1;                   // for operators, and for work that belongs to none
    double begin = 0, seconds = 0;  // of the run
};

class RunProfile {
public:
    RunProfile() = default;  // without a run
    // The profile is empty if the report has no times of operators; see measured().
    RunProfile(const protocol::ModelRecord& model, const schema::Report& report);

    [[nodiscard]] static bool measured(const schema::Report& report);

    // Returns the rows: the work before the stages; the stages in the order of computation, each with its operators
    // followed by its other work; and the remainder.
    [[nodiscard]] const std::vector<ProfileRow>& rows() const { return m_rows; }
    // Returns the tree with the run first and parents before their children. A frame is as long as its children
    // together.
    [[nodiscard]] const std::vector<ProfileFrame>& frames() const { return m_frames; }
    // Returns the time of the run. If the parts of a stage were measured to be longer than the stage, the sum of the
    // parts counts.
    [[nodiscard]] double seconds() const { return m_frames.empty() ? 0 : m_frames.front().seconds; }
    [[nodiscard]] double share(double seconds) const;  // of the run, 0..1
    [[nodiscard]] QString sentence(int frame) const;   // "convs.0.lin output, stage 1: 12 ms, 34.0 % of the run"

    // Returns true if the row concerns the target; fused operators count as well.
    [[nodiscard]] bool isAbout(const ProfileRow& row, const models::Target& target) const;
    [[nodiscard]] int rowOf(const models::Target& target) const;    // the first row; -1: none
    [[nodiscard]] int frameOf(const models::Target& target) const;  // the first frame; -1: none

private:
    void addRows(const protocol::ModelRecord& model, const schema::Report& report);
    void addFrames();

    std::vector<ProfileRow> m_rows;
    std::vector<ProfileFrame> m_frames;
};

QString percentText(double share);  // "34.0 %"

}  // namespace hopscope::study
