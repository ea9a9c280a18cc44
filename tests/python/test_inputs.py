"""Graphs as people have them become the arguments of forward; libraries that are not used are not imported."""
import gzip
import importlib.util
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

import hopscope
import networkx
import numpy
import scipy.sparse
import torch
from hopscope import _forms, arrays, calling
from hopscope.data import inputs_of
from safetensors.torch import load_file, save_file
from support import FEATURES, NODES, Gcn, Hetero, PackageTest, Plain, ROOT, edges, graph, made, shop

HAS_PANDAS = importlib.util.find_spec("pandas") is not None
HAS_ARROW = importlib.util.find_spec("pyarrow") is not None


class FakeDgl(types.SimpleNamespace):
    """What the package uses of a DGLGraph; DGL itself has no release for this torch."""

    def edges(self, etype=None):
        index = self.index if etype is None else self.index[etype]
        return index[0], index[1]


class Store(dict):
    def __getitem__(self, key):
        return types.SimpleNamespace(data=dict.__getitem__(self, key))


class TypedEdges(Store):
    """`graph.edges` of DGL: called it gives the ends, indexed the features."""

    def __init__(self, index, data):
        super().__init__(data)
        self.index = index

    def __call__(self, etype):
        return self.index[etype][0], self.index[etype][1]


def table(path, rows):
    """A table of the Open Graph Benchmark."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.writelines(",".join(map(str, row)) + "\n" for row in rows)


def bound(model, data):
    return calling.bind(made(model), inputs_of(data)).arguments


class Containers(unittest.TestCase):
    def test_entries_of_pyg_data_are_matched_by_name(self):
        data = graph()
        arguments = bound(Gcn, data)
        self.assertEqual(list(arguments), ["x", "edge_index"])
        self.assertIs(arguments["x"], data.x)

    def test_types_and_relations_of_hetero_data_are_keys(self):
        keys = [key for name, value in bound(Hetero, shop()).items() for key, _ in _forms.leaves(name, value)]
        self.assertEqual(keys, ["x_dict.user", "x_dict.item", "edge_index_dict.user__rates__item",
                                "edge_index_dict.item__rated__user"])

    def test_attributes_of_a_type_have_names_of_their_own_too(self):
        class Apart(Plain):
            def forward(self, x_user, x_item):
                return x_user

        data = shop()
        self.assertIs(bound(Apart, data)["x_item"], data["item"].x)
        self.assertNotIn("x_item", inputs_of(data).values)

    def test_a_dgl_graph_gives_its_features_and_edges(self):
        data = graph()
        dgl = FakeDgl(ntypes=["_N"], canonical_etypes=[("_N", "_E", "_N")], ndata={"feat": data.x}, edata={},
                      index=data.edge_index)
        arguments = bound(Gcn, dgl)
        self.assertIs(arguments["x"], data.x)
        self.assertTrue(torch.equal(arguments["edge_index"], data.edge_index))

    def test_a_dgl_graph_with_types_gives_dicts(self):
        data = shop()
        relations = {kind: data[kind].edge_index for kind in data.edge_types}
        nodes = Store({kind: {"feat": data[kind].x} for kind in data.node_types})
        dgl = types.SimpleNamespace(ntypes=data.node_types, canonical_etypes=data.edge_types, ndata={}, nodes=nodes,
                                    edges=TypedEdges(relations, {kind: {} for kind in relations}))
        arguments = bound(Hetero, dgl)
        self.assertEqual(list(arguments["edge_index_dict"]), data.edge_types)
        self.assertIs(arguments["x_dict"]["item"], data["item"].x)

    def test_an_undirected_networkx_graph_has_edges_both_ways(self):
        whole = networkx.karate_club_graph()
        for node in whole:
            whole.nodes[node]["x"] = numpy.eye(34)[node]
        inputs = inputs_of(whole)
        self.assertEqual(inputs.values["edge_index"].shape, (2, 156))
        self.assertEqual(inputs.values["x"].dtype, numpy.float32)
        self.assertEqual(inputs.values["edge_weight"].shape, (156,))
        pairs = set(map(tuple, inputs.values["edge_index"].T.tolist()))
        self.assertEqual(pairs, {(b, a) for a, b in pairs})

    def test_an_entry_of_a_scipy_matrix_is_an_edge_from_its_row_to_its_column(self):
        matrix = scipy.sparse.csr_matrix(([0.5, 2.0], ([3, 0], [1, 2])), shape=(4, 4))
        arguments = bound(Gcn, {"x": numpy.zeros((4, FEATURES), numpy.float32), "edge_index": matrix})
        self.assertEqual(arguments["edge_index"].tolist(), [[0, 3], [2, 1]])
        self.assertEqual(arguments["edge_weight"].tolist(), [2.0, 0.5])

    @unittest.skipUnless(HAS_PANDAS, "pandas is not installed")
    def test_tables_of_pandas_are_edges_or_features(self):
        import pandas

        table = pandas.DataFrame({"weight": [1.0, 2.0], "dst": [1, 2], "src": [0, 1]})
        features = pandas.DataFrame({"a": [1.0, 2, 3], "b": [4, 5, 6]})
        arguments = bound(Gcn, {"x": features, "edge_index": table})
        self.assertEqual(arguments["edge_index"].tolist(), [[0, 1], [1, 2]])
        self.assertEqual(arguments["edge_weight"].dtype, numpy.float32)
        self.assertEqual(arguments["x"].tolist(), [[1, 4], [2, 5], [3, 6]])
        named = pandas.DataFrame({"source": ["ann"], "target": ["bob"]})
        self.assertRaisesRegex(hopscope.InputError, "row numbers", inputs_of, {"edge_index": named})

    @unittest.skipUnless(HAS_ARROW, "pyarrow is not installed")
    def test_tables_of_arrow_and_parquet_files_are_edges(self):
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.table({"source": [0, 1, 2], "target": [1, 2, 0]})
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "edges.parquet"
            pyarrow.parquet.write_table(table, path)
            for form in (table, path, str(path)):
                arguments = bound(Plain, {"x": torch.zeros(3, FEATURES), "edge_index": form})
                self.assertEqual(arguments["edge_index"].tolist(), [[0, 1, 2], [1, 2, 0]])

    def test_folders_of_the_open_graph_benchmark_are_graphs(self):
        with tempfile.TemporaryDirectory() as place:
            raw = Path(place) / "ogbn_arxiv/raw"
            table(raw / "edge.csv.gz", [[0, 1], [2, 0]])
            table(raw / "node-feat.csv.gz", [[0.5, 1], [2, 3], [4, 5]])
            for path in (raw, str(raw.parent)):
                values = inputs_of(path).values
                self.assertEqual(values["edge_index"].tolist(), [[0, 2], [1, 0]])
                self.assertEqual(values["x"].tolist(), [[0.5, 1], [2, 3], [4, 5]])
                self.assertEqual((values["x"].dtype, values["edge_index"].dtype), (numpy.float32, numpy.int64))
            products = Path(place) / "ogbn_products"
            table(products / "raw/edge.csv.gz", [[0, 1], [2, 0]])
            table(products / "raw/edge-feat.csv.gz", [[7], [8]])
            values = inputs_of(products).values
            self.assertEqual(values["edge_index"].tolist(), [[0, 1, 2, 0], [1, 0, 0, 2]])
            self.assertEqual(values["edge_attr"].tolist(), [[7], [7], [8], [8]])
            (products / "raw/edge.csv.gz").write_bytes(b"no table")
            self.assertRaisesRegex(hopscope.InputError, "edge.csv.gz: cannot be read", inputs_of, products)

    def test_folders_of_the_open_graph_benchmark_with_types_are_dicts(self):
        with tempfile.TemporaryDirectory() as place:
            raw = Path(place) / "ogbn_mag/raw"
            table(raw / "triplet-type-list.csv.gz", [["author", "writes", "paper"]])
            table(raw / "relations/author___writes___paper/edge.csv.gz", [[0, 1]])
            table(raw / "node-feat/paper/node-feat.csv.gz", [[1, 2]])
            values = inputs_of(raw.parent).values
            self.assertEqual(values["edge_index_dict"]["author", "writes", "paper"].tolist(), [[0], [1]])
            self.assertEqual(values["x_dict"]["paper"].tolist(), [[1, 2]])
            numpy.savez(Path(place) / "data.npz", node_feat=numpy.ones((2, 3), "float32"), edge_index=numpy.zeros((2, 1), int))
            self.assertEqual(inputs_of(place).values["x"].shape, (2, 3))

    def test_a_missing_argument_and_one_under_another_name_are_told_apart(self):
        self.assertRaisesRegex(hopscope.InputError, "needs 'x'", bound, Plain, {"edge_index": edges(5, 5, 9)})
        call = calling.bind(made(Plain), inputs_of({"feat": torch.zeros(5, FEATURES), "edge_index": edges(5, 5, 9)}))
        self.assertEqual(call.notes, ["'feat' of the data is used as the argument 'x'"])

    def test_an_attribute_is_a_weight_where_it_is_one_number_an_edge(self):
        class Weighted(Plain):
            def forward(self, x, edge_index, edge_weight):
                return x

        data = graph()
        data.edge_attr = torch.rand(data.num_edges)
        self.assertIs(bound(Weighted, data)["edge_weight"], data.edge_attr)
        data.edge_attr = torch.rand(data.num_edges, 2)
        self.assertRaisesRegex(hopscope.InputError, "needs 'edge_weight'", bound, Weighted, data)

    def test_a_number_of_nodes_as_an_argument_is_no_constant(self):
        class Sized(Plain):
            def forward(self, x, edge_index, num_nodes):
                return x

        data = graph()
        data.num_nodes = len(data.x)
        call = calling.bind(made(Sized), inputs_of(data))
        self.assertEqual((call.sizes, call.constants, list(call.arguments)), ({"num_nodes": NODES}, {}, ["x", "edge_index"]))


class Files(PackageTest):
    def test_what_is_written_reads_the_same_with_another_library(self):
        torch.manual_seed(3)
        table = {"x": torch.randn(5, 4).t(), "half": torch.randn(3).to(torch.bfloat16), "flag": torch.tensor([True]),
                 "none": torch.zeros(0, 3), "number": torch.tensor(4), "ids": torch.arange(6, dtype=torch.int32)[::2]}
        arrays.write(table, self.folder / "all.safetensors")
        found = load_file(str(self.folder / "all.safetensors"))
        self.assertEqual(sorted(found), sorted(table))
        for name, tensor in table.items():
            self.assertTrue(torch.equal(found[name], tensor), name)

    def test_files_are_mapped_and_stay_where_they_are(self):
        save_file({"x_dict.a": torch.ones(2, 3), "xs.1": torch.ones(1), "xs.0": torch.zeros(1)},
                  str(self.folder / "data.safetensors"))
        inputs = inputs_of(str(self.folder / "data.safetensors"))
        self.assertEqual(inputs.paths, [str(self.folder / "data.safetensors")])
        self.assertEqual(inputs.values["x_dict"]["a"].tolist(), [[1, 1, 1]] * 2)
        self.assertEqual([item.tolist() for item in inputs.values["xs"]], [[0], [1]])

    def test_dtypes_that_the_format_lacks_are_named(self):
        with self.assertRaisesRegex(hopscope.InputError, "'z' has the dtype complex64"):
            arrays.write({"z": torch.zeros(3, dtype=torch.complex64)}, self.folder / "z.safetensors")
        self.assertRaisesRegex(hopscope.InputError, "safetensors", inputs_of, [str(self.folder / "gone.safetensors")])

    def test_sparse_tensors_have_the_keys_of_the_engine(self):
        matrix = torch.eye(3).to_sparse_coo()
        self.assertEqual([key for key, _ in arrays.flat("a", matrix)], ["a.coo_indices", "a.coo_values", "a.coo_size"])
        keys = [key for key, _ in arrays.flat("a", matrix.to_sparse_csr())]
        self.assertEqual(keys, ["a.csr_crow", "a.csr_col", "a.csr_values", "a.csr_size"])

    def test_importing_the_package_imports_numpy_alone(self):
        code = ("import sys, hopscope; print([name for name in ('torch', 'scipy', 'networkx', 'pandas', 'pyarrow', 'tqdm', "
                "'torch_geometric', 'dgl') if name in sys.modules])")
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                              env={"PYTHONPATH": str(ROOT / "packaging/python/src")}).stdout
        self.assertEqual(said.strip(), "[]")


if __name__ == "__main__":
    unittest.main()
