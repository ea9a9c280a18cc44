#include "graphview/view/graph_panel.h"

#include "graphview/scene/check_geometry.h"
#include "graphview/scene/export_picture.h"
#include "graphview/view/graph_controller.h"

namespace hopscope::graphview {

struct GraphPanel::Impl {
    Impl(models::Document& document, models::Selection& selection, GraphPanel& panel)
        : controller(document, selection, panel)
    {}
    GraphController controller;
};

GraphPanel::GraphPanel(models::Document& document, models::Selection& selection, QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("graph"));
    setAccessibleName(tr("Graph"));
    // The controller is not a child: the panel's pointer destroys it before the widgets.
    m_impl = std::make_unique<Impl>(document, selection, *this);
}

GraphPanel::~GraphPanel() = default;

void GraphPanel::setTheme(const style::Theme& theme) { m_impl->controller.setTheme(theme); }
void GraphPanel::setReducedMotion(bool reduced) { m_impl->controller.setReducedMotion(reduced); }
void GraphPanel::setLayoutCommand(const QStringList& command)
{
    m_impl->controller.maker().client().setCommand(command);
}
void GraphPanel::setColourMode(ColourMode mode) { m_impl->controller.setColourMode(mode); }
ColourMode GraphPanel::colourMode() const { return m_impl->controller.colourMode(); }
QList<QAction*> GraphPanel::viewActions() const { return m_impl->controller.actions(); }
void GraphPanel::holdStill(QPoint moved) { m_impl->controller.view().viewport().holdStill(moved); }
bool GraphPanel::layoutReady() const { return !m_impl->controller.maker().busy(); }
void GraphPanel::showBeside(const QString& name, const models::PlanPtr& plan)
{
    m_impl->controller.showBeside(name, plan);
}
void GraphPanel::showErrors(const schema::DivergenceRecord& found) { m_impl->controller.showErrors(found); }
QByteArray GraphPanel::saveView() const { return m_impl->controller.saveView(); }
void GraphPanel::restoreView(const QByteArray& state) { m_impl->controller.restoreView(state); }

namespace {

bool showsSomething(const GraphView& view)
{
    return view.scene() && view.colouring().fill.size() == view.scene()->nodes.size();
}

}  // namespace

QStringList GraphPanel::faults() const
{
    const GraphView& view = m_impl->controller.view();
    return showsSomething(view) ? checkGeometry(*view.scene(), view.colouring(), view.theme()) : QStringList();
}

QString GraphPanel::exportPicture(const QString& file, int width) const
{
    const GraphView& view = m_impl->controller.view();
    if (!showsSomething(view)) return tr("No model is open.");
    return exportScene(*view.scene(), view.colouring(), view.theme(), file, width);
}

}  // namespace hopscope::graphview
