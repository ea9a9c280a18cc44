#include "support/generate_instance.h"

#include <algorithm>
#include <cmath>

#include "support/instance_draft.h"

namespace hopscope::optimiser {

namespace {

// Adds layers of one family to a draft. Several types: the same layers on each type, with hops between them.
class Layers {
public:
    explicit Layers(const GenerateOptions& options)
        : m_family(options.family),
          m_random(options.seed * 1000003 + static_cast<std::uint64_t>(options.nodes) * 31 +
                   familyIndex(options.family)),
          m_draft(m_random, options.types),
          m_layers(options.layers > 0 ? options.layers : layersFor(options.nodes)),
          m_perLayer(std::max(1.0, static_cast<double>(options.nodes) / m_layers / std::max(1, options.types)))
    {}

    Instance run()
    {
        m_width = m_random.pick({16, 32, 64, 128, 256});
        const int inputWidth = m_random.pick({32, 100, 128, 300, 602});
        for (int t = 0; t < m_draft.types(); ++t) {
            m_input.push_back(m_draft.input(t, inputWidth));
            const bool project = m_family == "gcnii" || m_family == "residual" || m_random.chance(0.3);
            m_current.push_back(project ? m_draft.linear(m_input.back(), m_width) : m_input.back());
        }
        m_initial = m_current;
        m_earlier.resize(m_current.size());
        for (int layer = 0; layer < m_layers; ++layer) addLayer(layer);
        finish();
        return m_draft.finish(m_family, m_outputs);
    }

private:
    static std::uint64_t familyIndex(const std::string& family)
    {
        return static_cast<std::uint64_t>(std::ranges::find(families(), family) - families().begin());
    }

    int layersFor(int nodes)
    {
        return std::clamp(static_cast<int>(std::lround(nodes / m_random.between(5, 25))), 2, 50);
    }

    void addLayer(int layer)
    {
        std::vector<NodeId> next;
        for (int t = 0; t < m_draft.types(); ++t) {
            const int begin = m_draft.size();
            const int wanted = std::max(0, static_cast<int>(m_perLayer * m_random.between(0.6, 1.4)));
            NodeId y = round(t, wanted);
            y = m_draft.filler(y, std::max(1, wanted - (m_draft.size() - begin)));
            next.push_back(y);
        }
        for (int t = 0; t < m_draft.types(); ++t) {
            NodeId h = next[t];
            if (m_family == "dense" && !m_earlier[t].empty() && layer + 1 < m_layers) h = withEarlier(t, h);
            m_earlier[t].push_back(next[t]);
            m_current[t] = h;
            if (m_family == "mixed" && m_random.chance(0.15)) m_outputs.push_back(h);
        }
    }

    NodeId withEarlier(int t, NodeId h)
    {
        std::vector<NodeId> parts{h};
        for (int k = 0; k < 3; ++k) {
            const NodeId other = m_earlier[t][m_random.below(m_earlier[t].size())];
            if (std::ranges::find(parts, other) == parts.end()) parts.push_back(other);
        }
        return m_draft.concatenate(parts);
    }

    // One round of message passing into type t.
    NodeId round(int t, int wanted)
    {
        std::string kind = m_family;
        if (kind == "mixed")
            kind = m_random.pick<std::string>({"chain", "residual", "parallel", "gat", "gcnii", "hetero"});
        if (kind == "residual") return residual(t, wanted);
        if (kind == "gcnii") return initialResidual(t);
        if (kind == "parallel") return parallel(t);
        if (kind == "gat") return attention(t);
        if (kind == "hetero") return relations(t);
        return plain(t, wanted);
    }

    // Where type t gathers from: itself, or with several types mostly the next one.
    NodeId neighbour(int t)
    {
        const int types = m_draft.types();
        return m_current[types > 1 && m_random.chance(0.7) ? (t + 1) % types : t];
    }

    NodeId fit(NodeId y) { return m_draft.width(y) == m_width ? y : m_draft.linear(y, m_width); }

    NodeId plain(int t, int wanted)
    {
        NodeId z = neighbour(t);
        const bool own = z == m_current[t];
        if (m_random.chance(0.5)) z = m_draft.filler(z, std::min(wanted / 3, 3));
        if (m_random.chance(0.6)) z = m_draft.linear(z, m_width);
        const bool local = own && m_random.chance(0.5);
        NodeId y = m_draft.hop(t, {z}, local ? std::vector{z} : std::vector<NodeId>(), m_draft.width(z));
        if (m_random.chance(0.3) && m_current[t] != m_input[t])
            y = m_draft.elementwise({y, m_draft.linear(m_current[t], m_draft.width(y))});
        return fit(y);
    }

    NodeId residual(int t, int wanted)
    {
        NodeId z = neighbour(t);
        if (m_random.chance(0.5)) z = m_draft.filler(z, 2);
        NodeId y = m_draft.hop(t, {z}, {}, m_draft.width(z));
        if (m_draft.width(y) != m_width || m_random.chance(0.5)) y = m_draft.linear(y, m_width);
        y = m_draft.filler(y, std::min(3, wanted / 4));
        NodeId skip = m_current[t];
        if (m_draft.width(skip) != m_draft.width(y)) skip = m_draft.linear(skip, m_draft.width(y));
        return m_draft.elementwise({y, skip});
    }

    NodeId initialResidual(int t)
    {
        const NodeId z = neighbour(t);
        const NodeId y = m_draft.hop(t, {z}, {}, m_draft.width(z));
        NodeId first = m_initial[t];
        if (m_draft.width(first) != m_draft.width(y)) first = m_draft.linear(first, m_draft.width(y));
        return fit(m_draft.elementwise({y, first}));
    }

    NodeId parallel(int t)
    {
        std::vector<NodeId> parts;
        for (int k = m_random.pick({2, 2, 3}); k > 0; --k) {
            const NodeId z = neighbour(t);
            const bool local = z == m_current[t] && m_random.chance(0.4);
            parts.push_back(m_draft.hop(t, {z}, local ? std::vector{z} : std::vector<NodeId>(), m_draft.width(z)));
        }
        return m_draft.linear(m_draft.concatenate(parts), m_width);
    }

    // Attention as primitives: logits and their softmax live on edges and stay in the stage.
    NodeId attention(int t)
    {
        const int heads = m_random.pick({1, 4, 8});
        const NodeId source = neighbour(t);
        const NodeId z = m_draft.linear(source, m_width);
        const NodeId here = source == m_current[t] ? z : m_draft.linear(m_current[t], m_width);
        const NodeId left = m_draft.narrow(z, heads), right = m_draft.narrow(here, heads);
        const NodeId logits = m_draft.hop(t, {left}, {right}, heads, 0, RowKind::Edge);
        const NodeId weights = m_draft.elementwise({m_draft.elementwise({logits})});
        return m_draft.hop(t, {z}, {weights}, m_width);
    }

    NodeId relations(int t)
    {
        std::vector<NodeId> parts;
        const int count = m_random.pick({2, 3});
        for (int r = 0; r < count; ++r)
            parts.push_back(m_draft.hop(t, {m_draft.linear(neighbour(t), m_width)}, {}, m_width, 1 + r));
        return m_draft.elementwise(parts);
    }

    void finish()
    {
        for (int t = 0; t < m_draft.types(); ++t) {
            NodeId h = m_current[t];
            if (m_family == "jk" || (m_family == "mixed" && m_random.chance(0.3)))
                h = m_draft.concatenate(m_earlier[t]);
            h = m_draft.linear(h, m_random.pick({7, 40, 64}));
            if (std::ranges::find(m_outputs, h) == m_outputs.end()) m_outputs.push_back(h);
        }
    }

    std::string m_family;
    Random m_random;
    Draft m_draft;
    int m_layers;
    double m_perLayer;
    int m_width = 16;
    std::vector<NodeId> m_input, m_initial, m_current, m_outputs;  // by type; outputs: of the instance
    std::vector<std::vector<NodeId>> m_earlier;                    // by type, one per layer
};

}  // namespace

const std::vector<std::string>& families()
{
    static const std::vector<std::string> all{"chain",    "residual", "jk",     "dense", "gcnii",
                                              "parallel", "gat",      "hetero", "mixed"};
    return all;
}

Instance generate(const GenerateOptions& options) { return Layers(options).run(); }

}  // namespace hopscope::optimiser
