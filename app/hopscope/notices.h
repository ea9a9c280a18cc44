#pragma once

// The banner's messages about the engine, refused cuts and other failures.

#include "window_parts.h"

namespace hopscope::window {

class Notices : public QObject {
    Q_OBJECT
public:
    explicit Notices(const WindowParts& parts);

    void sayFailure(const QString& what, const QString& sentence, const QString& hint);

    // After a refused drop: offers the nearest place for which the engine has a plan.
    void offerPlace(const QString& why, const graphview::DropOffer& offer);

signals:
    void dataWanted();    // for the open model, which has none
    void reloadWanted();  // of the open model: the engine has lost it

private:
    void engineLost(const QString& reason);
    void engineBack();
    void refusalChanged(const QString& sentence);
    void forget();
    void tryPlace(const QString& why, const graphview::DropOffer& offer, std::size_t number);
    void tellRun();
    BannerButton limitButton(qint64 bytes);
    [[nodiscard]] QVector<BannerButton> suggestedFixes();

    const WindowParts& m_parts;
    bool m_lost = false;  // the engine was lost, and its return is not announced yet
};

}  // namespace hopscope::window
