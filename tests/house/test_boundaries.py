"""The tree keeps to the module map, and the check that says so catches what it should (see boundaries.py)."""

import tempfile
import unittest
from pathlib import Path

import boundaries

ROOT = Path(__file__).parents[2]

# A small tree that keeps to the map.
CLEAN = {
    "core/base/result.h": "#include <string>\n#include <tl/expected.hpp>\n",
    "core/ir/program.h": '#include "base/result.h"\n',
    "core/analysis/analysis.h": '#include "ir/program.h"\n#include "base/result.h"\n',
    "core/loader/loader.h": '#include "ir/program.h"\n',
    "core/loader/tensors.h": '#include "loader/loader.h"\n#include <ATen/ATen.h>\n',
    "core/executor/run.cpp": '#include "loader/tensors.h"\n#include <sys/mman.h>\n',
    "app/engine/main.cpp": '#include "cli/options.h"\n#include "loader/loader.h"\n',
    "app/engine/cli/options.h": "#include <vector>\n",
    "app/engine/cli/options.cpp": '#include <CLI/CLI.hpp>\n#include "cli/options.h"\n#include "server/server.h"\n',
    "app/engine/server/server.h": "#include <string>\n",
    "app/engine/server/server.cpp": '#include "server/server.h"\n#include "version.h"\n',
    "app/engine/version.h.in": "",
    "core/protocol/rpc.h": '#include "base/result.h"\n',
    "widgets/pch.h": "#include <QWidget>\n",
    "widgets/models/document.h": '#include <QObject>\n#include "protocol/rpc.h"\n',
    "widgets/plots/canvas.h": '#include <qcustomplot.h>\n#include "models/document.h"\n',
    "app/hopscope/main.cpp": '#include <QWidget>\n#include "models/document.h"\n#include "protocol/rpc.h"\n',
    "tools/bench/main.cpp": '#include <CLI/CLI.hpp>\n#include <torch/script.h>\n#include "bench/sage.h"\n#include "loader/tensors.h"\n',
    "tools/bench/sage.h": "#include <vector>\n",
    "app/layout/main.cpp": '#include <graphviz/gvc.h>\n#include "layout/coordinates.h"\n',
    "app/layout/coordinates.h": "#include <vector>\n",
    "packaging/python/src/hopscope/_words.py": "import math\n",
    "packaging/python/src/hopscope/errors.py": "from . import _words\n",
    "packaging/python/src/hopscope/reports.py": "def shown():\n    from ._words import counted\n",
    "packaging/python/src/hopscope/__init__.py": "from .errors import HopscopeError\n",
    "core/executor/device/queue.h": "#include <vector>\n",
    "core/executor/forecast/predict.h": "#include <string>\n",
    "core/executor/memory.h": '#include "executor/device/queue.h"\n',
    "core/executor/measuring/walls.cpp": '#include "executor/memory.h"\n',
    "core/verify/verify.cpp": '#include "executor/forecast/predict.h"\n#include "executor/memory.h"\n',
    "widgets/graphview/scene/scene.h": '#include "graphview/fold/fold.h"\n',
    "widgets/graphview/fold/fold.h": "#include <vector>\n",
    "core/base/CMakeLists.txt": "hopscope_module(base SOURCES result.cpp LIBRARIES Threads::Threads)\n",
    "core/ir/CMakeLists.txt": "hopscope_module(ir DEPENDS base)\n",
    "core/analysis/CMakeLists.txt": "# a comment (with brackets)\nhopscope_module(analysis\n  DEPENDS ir)\n",
    "core/loader/CMakeLists.txt": "hopscope_module(loader TORCH_SOURCES load.cpp DEPENDS ir)\n",
    "core/executor/CMakeLists.txt": "hopscope_module(executor TORCH_SOURCES run.cpp DEPENDS loader)\n",
    "core/verify/CMakeLists.txt": "hopscope_module(verify SOURCES verify.cpp DEPENDS executor)\n",
    "core/protocol/CMakeLists.txt": "hopscope_module(protocol DEPENDS base)\n",
    "widgets/models/CMakeLists.txt": "hopscope_widget(models SOURCES document.cpp CORE base protocol LIBRARIES Qt6::Svg)\n",
    "widgets/plots/CMakeLists.txt": "hopscope_widget(plots DEPENDS models LIBRARIES QCustomPlotQt6::QCustomPlotQt6)\n",
}

# What is planted into it -> words that a finding must contain.
VIOLATIONS = [
    ({"core/ir/walk.cpp": '#include "analysis/analysis.h"\n'}, "ir must not use analysis"),
    ({"core/base/deep.h": '  #  include "ir/program.h"\n'}, "base must not use ir"),
    ({"core/analysis/sample.cpp": '#include "loader/loader.h"\n'}, "analysis must not use loader"),
    ({"core/ir/walk.cpp": "#include <nlohmann/json.hpp>\n"}, "belongs in json only"),
    ({"core/analysis/rules.cpp": "#include <torch/script.h>\n"}, "belongs in debugger or executor or export or loader or receptive or tools/bench or verify only"),
    ({"core/ir/inner.h": "#pragma once\n\n// Private to ir: steps.\n", "core/analysis/rules.cpp": '#include "ir/inner.h"\n'},
     "core/ir/inner.h is private to ir"),
    ({"core/ir/walk.cpp": "#include <CLI/CLI.hpp>\n"}, "belongs in app/engine/cli or tools/bench only"),
    ({"app/engine/main.cpp": "#include <CLI/CLI.hpp>\n"}, "belongs in app/engine/cli or tools/bench only"),
    ({"app/engine/server/server.cpp": "#include <CLI/CLI.hpp>\n"}, "belongs in app/engine/cli or tools/bench only"),
    ({"app/engine/server/server.cpp": '#include "cli/options.h"\n'}, "app/engine/server must not use app/engine/cli"),
    ({"app/engine/server/server.cpp": '#include "main.h"\n', "app/engine/main.h": ""},
     "app/engine/server must not use app/engine/main.h"),
    ({"core/ir/walk.cpp": '#include "cli/options.h"\n'}, "is no header of a module"),
    ({"tools/bench/main.cpp": '#include "cli/options.h"\n'}, "is no header of a module"),
    ({"tools/other/main.cpp": '#include "bench/sage.h"\n'}, "is no header of a module"),
    ({"app/engine/tools/help.h": ""}, "app/engine: the map has no part tools"),
    ({"core/ir/deep/help.h": ""}, "core/ir: the map has no part deep"),
    ({"widgets/graphview/fold/words.h": '#include "graphview/scene/scene.h"\n'},
     "widgets/graphview/fold must not use widgets/graphview/scene"),
    ({"core/executor/calls/call.cpp": '#include "executor/device/queue.h"\n'}, "core/executor/calls must not use core/executor/device"),
    ({"core/executor/calls/call.cpp": '#include "executor/memory.h"\n'},
     "core/executor/calls must not reach core/executor/device/queue.h"),
    ({"core/verify/late.cpp": '#include "executor/device/queue.h"\n'}, "core/executor/device/queue.h is private to core/executor"),
    ({"core/ir/simd.h": "#include <hwy/highway.h>\n"}, "belongs in kernels only"),
    ({"core/ir/walk.cpp": "#include <boost/graph/graph.hpp>\n"}, "of no library that the map knows"),
    ({"core/ir/walk.cpp": '#include "program.h"\n'}, "is no header of a module"),
    ({"core/ir/walk.cpp": '#include "ir/gone.h"\n'}, "is no header of a module"),
    ({"core/extras/help.h": "#include <string>\n"}, "no module extras"),
    ({"app/engine/main.cpp": '#include "loader/tensors.h"\n'}, "reaches LibTorch's headers"),
    ({"core/ir/CMakeLists.txt": "hopscope_module(ir DEPENDS base analysis)\n"}, "core/ir: must not link analysis"),
    ({"core/ir/CMakeLists.txt": "hopscope_module(ir SOURCES program.cpp)\n"}, "includes base but does not link it"),
    ({"core/ir/CMakeLists.txt": "hopscope_module(ir TORCH_SOURCES program.cpp DEPENDS base)\n"}, "core/ir: must not link LibTorch"),
    ({"core/ir/CMakeLists.txt": "hopscope_module(ir DEPENDS base LIBRARIES CLI11::CLI11)\n"}, "links CLI11::CLI11"),
    ({"core/ir/CMakeLists.txt": "hopscope_module(ir DEPENDS base LIBRARIES mystery)\n"}, "links mystery"),
    ({"core/ir/CMakeLists.txt": "hopscope_module(ir LIBRARIES hopscope_base)\n"}, "belongs under DEPENDS"),
    ({"core/base/CMakeLists.txt": "hopscope_module(base DEPENDS ir)\n"}, "link lists: base is part of a cycle"),
    ({"core/base/deep.h": '#include "ir/program.h"\n'}, "includes: base is part of a cycle"),
    ({"core/ir/walk.cpp": "#include <QString>\n"}, "belongs in app/hopscope or"),
    ({"core/ir/walk.cpp": '#include "models/document.h"\n'}, "ir must not use models"),
    ({"widgets/models/late.h": '#include "loader/loader.h"\n'}, "models must not use loader"),
    ({"widgets/models/late.h": '#include "plots/canvas.h"\n'}, "models must not use plots"),
    ({"widgets/models/late.h": "#include <qcustomplot.h>\n"}, "belongs in plots only"),
    ({"widgets/models/late.h": "#include <torch/script.h>\n"}, "belongs in debugger or executor or export or loader or receptive or tools/bench or verify only"),
    ({"widgets/extras/help.h": "#include <QWidget>\n"}, "no module extras"),
    ({"widgets/ir/help.h": "#include <QWidget>\n"}, "no module ir"),
    ({"app/engine/main.cpp": '#include "models/document.h"\n'}, "app/engine must not use models"),
    ({"app/engine/main.cpp": "#include <QString>\n"}, "belongs in app/hopscope or"),
    ({"app/layout/main.cpp": "#include <QString>\n"}, "belongs in app/hopscope or"),
    ({"app/hopscope/main.cpp": "#include <graphviz/gvc.h>\n"}, "belongs in app/layout only"),
    ({"app/hopscope/main.cpp": '#include "layout/coordinates.h"\n'}, "is no header of a module"),
    ({"widgets/models/CMakeLists.txt": "hopscope_widget(models CORE protocol loader)\n"}, "models: must not link loader"),
    ({"widgets/models/CMakeLists.txt": "hopscope_widget(models CORE protocol LIBRARIES QCustomPlotQt6)\n"},
     "widgets/models: links QCustomPlotQt6"),
]


PACKAGE = "packaging/python/src/hopscope/"
VIOLATIONS += [
    ({PACKAGE + "_words.py": "from .errors import HopscopeError\n"}, "imports of the Python package: _words is part of a cycle"),
    ({PACKAGE + "_words.py": "def late():\n    from . import errors\n"}, "imports of the Python package: errors is part of a cycle"),
    ({PACKAGE + "_words.py": "if TYPE_CHECKING:\n    import hopscope.errors\n"}, "_words is part of a cycle"),
    ({PACKAGE + "errors.py": "from hopscope import Engine\n"}, "errors.py must not import __init__, which is of a later layer"),
    ({PACKAGE + "errors.py": "from .reports import Report\n"}, "errors.py must not import reports, which is of a later layer"),
    ({PACKAGE + "extras.py": ""}, "extras.py: LAYERS has no such module"),
]


def findings(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return boundaries.check(folder)


class Boundaries(unittest.TestCase):
    def test_the_tree_keeps_to_the_module_map(self):
        self.assertEqual(boundaries.check(ROOT), [])

    def test_it_really_reads_the_tree(self):
        found = boundaries.sources(ROOT)
        self.assertGreater(sum(len(includes) for includes in found.values()), 100)
        self.assertIn("base", boundaries.link_lists(ROOT))
        self.assertIn("_words", boundaries.import_edges(ROOT)["documents"])

    def test_a_clean_tree_has_no_findings(self):
        self.assertEqual(findings(CLEAN), [])

    def test_planted_violations_are_caught(self):
        for planted, words in VIOLATIONS:
            with self.subTest(planted=planted):
                found = findings(CLEAN | planted)
                self.assertTrue(any(words in finding for finding in found), found)


if __name__ == "__main__":
    unittest.main()
