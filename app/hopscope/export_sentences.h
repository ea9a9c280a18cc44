#pragma once

// Formats the engine's answers about exported folders in the wording of the dialogs.

#include <QString>
#include <QVector>

#include "protocol/export_requests.h"

namespace hopscope::window {

// Returns "equal within the tolerance on all rows".
QString verdictText(const std::optional<schema::Verification>& verification);

// Returns the facts about an export by name.
QVector<std::pair<QString, QString>> rowsOf(const protocol::ExportRecord& record);

// States whether an export is still valid, based on the answer to export/check.
QString heldText(const base::Result<protocol::ExportVerdict>& answer);

// Returns the sentence of an error and what to do about it.
QString failureText(const base::Error& error);

}  // namespace hopscope::window
