#pragma once

// Shows messages about the engine, refused cuts and other failures in the banner.

#include "window_parts.h"

namespace hopscope::window {

class Notices : public QObject {
    Q_OBJECT
public:
    explicit Notices(const WindowParts& parts);

    void sayFailure(const QString& what, const QString& sentence, const QString& hint);

    // Offers the nearest position for which the engine has a plan, after a refused drop.
    void offerPlace(const QString& why, const graphview::DropOffer& offer);

signals:
    void dataWanted();    // for the open model, which has no data
    void reloadWanted();  // of the open model, which the engine has lost

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
    bool m_lost = false;  // the engine was lost, and its return has not been announced yet
};

}  // namespace hopscope::window
