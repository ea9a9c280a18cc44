"""A small writer of ONNX files: the messages of onnx.proto that a model without control flow needs, as protobuf encodes them."""
import numpy

TYPES = {"float32": 1, "int64": 7}


def number(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def integer(field, value):
    return number(field << 3) + number(value)


def block(field, content):
    content = content.encode() if isinstance(content, str) else content
    return number(field << 3 | 2) + number(len(content)) + content


def constant(name, array):
    """TensorProto."""
    dims = b"".join(integer(1, size) for size in array.shape)
    return dims + integer(2, TYPES[str(array.dtype)]) + block(8, name) + block(9, array.tobytes())


def node(kind, inputs, output, **attributes):
    """NodeProto; attributes are whole numbers or texts."""
    parts = [block(1, name) for name in inputs] + [block(2, output), block(3, output), block(4, kind)]
    for name, value in attributes.items():
        held = block(4, value) + integer(20, 3) if isinstance(value, str) else integer(3, value) + integer(20, 2)
        parts.append(block(5, block(1, name) + held))
    return b"".join(parts)


def value(name, dtype, shape):
    """ValueInfoProto; sizes are numbers or names."""
    sizes = b"".join(block(1, block(2, size) if isinstance(size, str) else integer(1, size)) for size in shape)
    return block(1, name) + block(2, block(1, integer(1, TYPES[dtype]) + block(2, sizes)))


def model(nodes, constants, inputs, outputs):
    """ModelProto of opset 18."""
    graph = b"".join([*(block(1, each) for each in nodes), block(2, "graph"),
                      *(block(5, constant(name, array)) for name, array in constants.items()),
                      *(block(11, value(*each)) for each in inputs), *(block(12, value(*each)) for each in outputs)])
    return integer(1, 8) + block(7, graph) + block(8, block(1, "") + integer(2, 18))


def plain(module, path, bias=0.0):
    """support.Plain: messages of in-neighbours, summed, and a linear layer."""
    weights = {"weight": module.linear.weight.detach().numpy().T, "bias": module.linear.bias.detach().numpy() + numpy.float32(bias),
               "zero": numpy.zeros(1, "float32"), "source": numpy.int64(0).reshape(()), "target": numpy.int64(1).reshape(()),
               "last": numpy.array([1])}
    nodes = [node("Gather", ["edge_index", "source"], "sources"), node("Gather", ["edge_index", "target"], "targets"),
             node("Gather", ["x", "sources"], "messages"), node("Unsqueeze", ["targets", "last"], "rows"), node("Mul", ["x", "zero"], "none"),
             node("ScatterND", ["none", "rows", "messages"], "sums", reduction="add"), node("MatMul", ["sums", "weight"], "product"),
             node("Add", ["product", "bias"], "scores")]
    width = module.linear.in_features
    path.write_bytes(model(nodes, weights, [("x", "float32", ("nodes", width)), ("edge_index", "int64", (2, "edges"))],
                           [("scores", "float32", ("nodes", module.linear.out_features))]))
    return path
