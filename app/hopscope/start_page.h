#pragma once

// The page shown while no model is open, with first steps, samples and recent files.

#include <QWidget>

#include "samples.h"
#include "settings.h"

class QBoxLayout;
class QVBoxLayout;

namespace hopscope::window {

class StartPage : public QWidget {
    Q_OBJECT
public:
    explicit StartPage(const QVector<Sample>& samples, QWidget* parent = nullptr);

    void setRecent(const QVector<RecentFile>& recent);

signals:
    void lessonChosen(const QString& id);  // one of study::bundledLessons()
    void openRequested();
    void sampleChosen(const hopscope::window::Sample& sample);
    void recentChosen(const hopscope::window::RecentFile& recent);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void setupWidgets(const QVector<Sample>& samples);
    QWidget* headline();
    QWidget* lessonsButton(QWidget* parent);
    QWidget* samplesCard(const QVector<Sample>& samples);
    QWidget* recentCard();

    QWidget* m_headline = nullptr;
    QBoxLayout* m_cards = nullptr;
    QVBoxLayout* m_recent = nullptr;
};

}  // namespace hopscope::window
