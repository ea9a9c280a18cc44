#pragma once

// The engine's answers about exported folders, in the wording of the dialogs.

#include <QString>
#include <QVector>

#include "protocol/export_requests.h"

namespace hopscope::window {

// "equal within the tolerance on all rows".
QString verdictText(const std::optional<schema::Verification>& verification);

// The facts about an export by name.
QVector<std::pair<QString, QString>> rowsOf(const protocol::ExportRecord& record);

// Says whether an export still holds, by the answer to export/check.
QString heldText(const base::Result<protocol::ExportVerdict>& answer);

// The sentence and what to do about it.
QString failureText(const base::Error& error);

}  // namespace hopscope::window
