"""The models of one package, through hopscope.inference: package_models.py NAME. Started by run_packages.py in the package's environment.

Each function yields the model and its arguments on a small graph, and on one of some 2,000 nodes."""
import json
import sys
import types
import typing
from importlib.metadata import version

import torch

SIZES = (60, 2000)


def chemprop():
    from chemprop import data, featurizers, models, nn
    from rdkit import Chem

    texts = ["CCO", "c1ccccc1", "CC(=O)O", "C", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "O=S(=O)(N)c1ccc(cc1)C", "CCCCCC"]
    featurize = featurizers.SimpleMoleculeMolGraphFeaturizer()
    for times in (1, 44):
        molecules = data.BatchMolGraph([featurize(Chem.MolFromSmiles(text)) for text in texts * times])
        descriptors = torch.randn(len(molecules), 5)
        for messages in (nn.BondMessagePassing, nn.AtomMessagePassing):
            for readout in (nn.MeanAggregation(), nn.SumAggregation(), nn.NormAggregation(), nn.AttentiveAggregation(output_size=32)):
                head = nn.RegressionFFN(input_dim=37, hidden_dim=32)
                name = f"MPNN ({messages.__name__}, {type(readout).__name__})"
                yield name, models.MPNN(messages(d_h=32), readout, head), (molecules, None, descriptors)


def matgl():
    from matgl.ext.pymatgen import Structure2Graph
    from matgl.models import CHGNet, M3GNet, MEGNet, SO3Net, TensorNet
    from pymatgen.core import Lattice, Structure

    elements = ("Cs", "Cl")
    for size in (2, 10):
        crystal = Structure.from_spacegroup("Pm-3m", Lattice.cubic(4.14), list(elements), [[0, 0, 0], [0.5, 0.5, 0.5]])
        crystal.make_supercell(size)
        crystal.perturb(0.1)
        graph, lattice, _ = Structure2Graph(elements, cutoff=4.0).get_graph(crystal)
        graph.pos, graph.pbc_offshift = graph.frac_coords @ lattice[0], graph.pbc_offset @ lattice[0]
        common = {"element_types": elements, "cutoff": 4.0, "nblocks": 2}
        hidden = {"hidden_layer_sizes_input": (8, 8), "hidden_layer_sizes_conv": (8, 8, 8), "hidden_layer_sizes_output": (8, 8)}
        yield "MEGNet", MEGNet(dim_node_embedding=8, dim_edge_embedding=10, dim_state_embedding=2, include_state=True, **hidden, **common), (
            graph, torch.zeros(1, 2))
        yield "TensorNet", TensorNet(units=8, num_rbf=8, is_intensive=False, **common), (graph,)
        yield "SO3Net", SO3Net(dim_node_embedding=8, units=8, lmax=2, is_intensive=False, **common), (graph,)
        yield "M3GNet", M3GNet(dim_node_embedding=8, dim_edge_embedding=8, units=8, threebody_cutoff=3.7, is_intensive=False, **common), (graph,)
        yield "CHGNet", CHGNet(element_types=elements, dim_atom_embedding=8, dim_bond_embedding=8, dim_angle_embedding=8, num_blocks=2,
                               cutoff=4.0, threebody_cutoff=3.7), (graph,)


def anemoi_models():
    from anemoi.models.distributed.shapes import BipartiteGraphShardInfo, GraphShardInfo
    from anemoi.models.layers import mapper, processor
    from anemoi.utils.config import DotDict

    common = {"num_channels": 16, "num_chunks": 1, "edge_dim": 3, "layer_kernels": DotDict({})}
    attention = {"num_heads": 4, "mlp_hidden_ratio": 2, "graph_attention_backend": "pyg", **common}
    for size in SIZES:
        hidden, mesh = size // 4, edges(size, size, 5 * size)
        ends = {"in_channels_src": 7, "in_channels_dst": 5}
        given = (torch.randn(size, 16), 1, GraphShardInfo(nodes=[size]), torch.randn(5 * size, 3), mesh)
        yield "GNNProcessor", processor.GNNProcessor(num_layers=2, mlp_extra_layers=0, **common), given
        yield "GraphTransformerProcessor", processor.GraphTransformerProcessor(num_layers=2, **attention), given
        down = ((torch.randn(size, 7), torch.randn(hidden, 5)), 1, BipartiteGraphShardInfo([size], [hidden]),
                torch.randn(4 * size, 3), edges(size, hidden, 4 * size))
        up = ((torch.randn(hidden, 16), torch.randn(size, 16)), 1, BipartiteGraphShardInfo([hidden], [size]),
              torch.randn(3 * size, 3), edges(hidden, size, 3 * size))
        yield "GNNForwardMapper", mapper.GNNForwardMapper(mlp_extra_layers=0, **ends, **common), down
        for strategy in ("edges", "heads"):
            kind = mapper.GraphTransformerForwardMapper
            yield f"GraphTransformerForwardMapper ({strategy})", kind(shard_strategy=strategy, **ends, **attention), down
        ends = {"in_channels_src": 16, "in_channels_dst": 16, "out_channels_dst": 4}
        yield "GNNBackwardMapper", mapper.GNNBackwardMapper(mlp_extra_layers=0, **ends, **common), up
        for strategy in ("edges", "heads"):
            kind = mapper.GraphTransformerBackwardMapper
            yield f"GraphTransformerBackwardMapper ({strategy})", kind(shard_strategy=strategy, **ends, **attention), up


def schnetpack():
    import torch.utils.data.dataloader as loader

    loader.T_co = typing.TypeVar("T_co", covariant=True)  # which the package imports, and torch 2.13 has no more
    import schnetpack as spk
    import schnetpack.transform as transform
    from ase.build import molecule
    from schnetpack.interfaces import AtomsConverter

    converter = AtomsConverter(neighbor_list=transform.ASENeighborList(cutoff=5.0), dtype=torch.float32)
    for times in (1, 87):
        given = converter([molecule("C2H6"), molecule("H2O"), molecule("C6H6")] * times)
        common = {"n_atom_basis": 8, "n_interactions": 2, "radial_basis": spk.nn.GaussianRBF(n_rbf=8, cutoff=5.0),
                  "cutoff_fn": spk.nn.CosineCutoff(5.0)}
        kinds = {"SchNet": spk.representation.SchNet(**common), "PaiNN": spk.representation.PaiNN(**common),
                 "SO3net": spk.representation.SO3net(lmax=1, **common), "FieldSchNet": spk.representation.FieldSchNet(**common)}
        for name, representation in kinds.items():
            yield f"NeuralNetworkPotential ({name})", spk.model.NeuralNetworkPotential(
                representation, input_modules=[spk.atomistic.PairwiseDistances()],
                output_modules=[spk.atomistic.Atomwise(n_in=8, output_key="energy")]), (given,)


def nvidia_physicsnemo():
    # A torchvision for CUDA that meets a torch without it registers none of its operators; their names suffice here.
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor a, Tensor b, float c) -> Tensor")
    from physicsnemo.models.meshgraphnet import HybridMeshGraphNet, MeshGraphKAN, MeshGraphNet
    from torch_geometric.data import Data

    hidden = {f"hidden_dim_{part}": 16 for part in ("processor", "node_encoder", "edge_encoder", "node_decoder")}
    for size in SIZES:
        graph = Data(edge_index=edges(size, size, 5 * size), num_nodes=size)
        given = (torch.randn(size, 4), torch.randn(5 * size, 3), graph)
        for kind in (MeshGraphNet, MeshGraphKAN):
            yield kind.__name__, kind(4, 3, 2, processor_size=3, **hidden), given
        yield "MeshGraphNet (concat trick)", MeshGraphNet(4, 3, 2, processor_size=3, do_concat_trick=True, **hidden), given
        mixed = Data(edge_index=torch.cat([graph.edge_index, edges(size, size, size)], 1), num_nodes=size)
        yield "HybridMeshGraphNet", HybridMeshGraphNet(4, 3, 2, processor_size=3, **hidden), (
            given[0], given[1], torch.randn(size, 3), mixed)


def torch_geometric_temporal():
    import torch_geometric.typing

    if not torch_geometric.typing.WITH_TORCH_SPARSE:  # it would have to be compiled, and is asked for the name of a type
        sys.modules["torch_sparse"] = types.ModuleType("torch_sparse")
        sys.modules["torch_sparse"].SparseTensor = torch_geometric.typing.SparseTensor
    from torch_geometric_temporal.nn import attention, recurrent

    for size in SIZES:
        index = edges(size, size, 5 * size).unique(dim=1)  # DCRNN counts edges that occur twice once
        weight = torch.rand(index.size(1))
        x, periods, batch = torch.randn(size, 4), torch.randn(size, 4, 6), torch.randn(2, size, 4, 6)
        for kind, options in ((recurrent.GConvGRU, {"K": 2}), (recurrent.GConvLSTM, {"K": 2}), (recurrent.GCLSTM, {"K": 2}),
                              (recurrent.DCRNN, {"K": 2}), (recurrent.TGCN, {})):
            yield kind.__name__, kind(4, 8, **options), (x, index, weight)
        yield "DyGrEncoder", recurrent.DyGrEncoder(4, 2, "mean", 8, 1), (x, index, weight)
        yield "EvolveGCNO", recurrent.EvolveGCNO(4), (x, index, weight)
        yield "EvolveGCNH", recurrent.EvolveGCNH(size, 4), (x, index, weight)
        yield "A3TGCN", recurrent.A3TGCN(4, 8, 6), (periods, index, weight)
        yield "A3TGCN2", recurrent.A3TGCN2(4, 8, 6, 2), (batch, index, weight)
        yield "MPNNLSTM", recurrent.MPNNLSTM(4, 8, size, 1, 0.0), (x, index, weight)
        yield "STConv", attention.STConv(size, 4, 8, 6, 3, 2), (torch.randn(2, 12, size, 4), index, weight)
        yield "MSTGCN", attention.MSTGCN(1, 4, 2, 8, 8, 1, 3, 6), (batch, index)
        yield "AGCRN", recurrent.AGCRN(size, 4, 8, 2, 3), (torch.randn(1, size, 4), torch.randn(size, 3))


def ogb():
    from ogb.graphproppred.mol_encoder import AtomEncoder, BondEncoder
    from ogb.utils.features import get_atom_feature_dims, get_bond_feature_dims
    from torch_geometric.nn import GINEConv, global_mean_pool

    class Encoded(torch.nn.Module):
        """OGB's encoders before two layers, as in its examples."""

        def __init__(self):
            super().__init__()
            self.atoms, self.bonds = AtomEncoder(16), torch.nn.ModuleList([BondEncoder(16), BondEncoder(16)])
            self.layers = torch.nn.ModuleList([GINEConv(torch.nn.Linear(16, 16)) for _ in range(2)])

        def forward(self, x, edge_index, edge_attr, batch):
            h = self.atoms(x)
            for bonds, layer in zip(self.bonds, self.layers):
                h = layer(h, edge_index, bonds(edge_attr)).relu()
            return global_mean_pool(h, batch)

    def drawn(rows, kinds):
        return torch.stack([torch.randint(0, kind, (rows,)) for kind in kinds], 1)

    for size in SIZES:
        batch = torch.arange(size) // 10
        yield "AtomEncoder, BondEncoder before GINEConv", Encoded(), (
            drawn(size, get_atom_feature_dims()), edges(size, size, 2 * size), drawn(2 * size, get_bond_feature_dims()), batch)


def edges(sources, targets, count):
    """In the order of their destinations."""
    return torch.stack([torch.randint(0, sources, (count,)), torch.randint(0, targets, (count,)).sort().values])


def copied(value):
    """A model may write into its dict."""
    return dict(value) if type(value) is dict else value


def tensors_of(value):
    if torch.is_tensor(value):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for item in items for tensor in tensors_of(item)]


def verdict(model, given):
    """What came out, and the largest difference."""
    import hopscope

    with torch.no_grad():
        wanted = tensors_of(model.eval()(*map(copied, given)))
    try:
        result = hopscope.inference(model, tuple(map(copied, given)), verify="full", progress=False)
    except hopscope.HopscopeError as problem:
        return f"refused: {problem.message}", 0.0
    pairs = list(zip(tensors_of(result.output), wanted, strict=True))
    difference = max(float((a.double() - b.double()).abs().max() / max(1.0, float(b.abs().max()))) for a, b in pairs)
    return result.verdict if difference < 1e-4 else "different", difference


def main():
    name = sys.argv[1]
    torch.manual_seed(0)
    rows = {}
    for model_name, model, given in globals()[name.replace("-", "_")]():
        rows.setdefault(model_name, []).append(verdict(model, given))
    for model_name, found in rows.items():
        worst = max(found, key=lambda one: one[0] != "equal")
        difference = f"{max(one[1] for one in found):.1e}" if worst[0] == "equal" else ""
        row = {"package": name, "version": version(name), "model": model_name, "result": worst[0], "difference": difference}
        print("ROW " + json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
