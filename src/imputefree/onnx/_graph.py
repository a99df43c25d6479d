"""A graph of ONNX operations, built one call per operation.

It is written by hand rather than traced from PyTorch: tables are encoded in NumPy, which no tracer
sees, PyTorch's exporters have no running maximum, and every size here may vary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

ML_DOMAIN = "ai.onnx.ml"  # of tree ensembles
OPSETS = {"": 18, ML_DOMAIN: 3}  # 3: the oldest with thresholds in double
IR_VERSION = 8  # the oldest with these opsets: runtimes refuse versions newer than themselves
TYPES = {"double": TensorProto.DOUBLE, "int64": TensorProto.INT64, "bool": TensorProto.BOOL}
FLOAT, DOUBLE = TensorProto.FLOAT, TensorProto.DOUBLE
INT32, INT64 = TensorProto.INT32, TensorProto.INT64
START, END = np.array([0]), np.array([2**62])  # for Slice
Operand = str | np.ndarray | np.generic | float | int  # the name of a tensor, or a constant
Shape = Sequence[str | int] | None  # strings name sizes that may vary; None leaves all open


class Graph:
    """Collects operations; a call adds one and returns the name of its output.

    Numbers and arrays among the inputs become constants: Python floats double, integers int64.

    >>> g = Graph()
    >>> x = g.input("x", "double", ["n"])
    >>> g.output("y", g("Where", g("IsNaN", x), 0.0, x), "double", ["n"])
    >>> [node.op_type for node in g.model("zero in every gap", {}).graph.node]
    ['IsNaN', 'Where', 'Identity']
    """

    def __init__(self, parent: Graph | None = None) -> None:
        self._parent = parent
        self._nodes: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._constants: dict[Any, Any] = {}
        self._count = 0

    def __call__(self, op: str, *inputs: Operand, **attributes: Any) -> str:
        """Add an operation with one output."""
        return self.several(op, 1, *inputs, **attributes)[0]

    def several(self, op: str, outputs: int, *inputs: Operand, **attributes: Any) -> list[str]:
        """Add an operation with several outputs."""
        names = [self._name(op) for _ in range(outputs)]
        tensors = [x if isinstance(x, str) else self._constant(x) for x in inputs]
        self._nodes.append(helper.make_node(op, tensors, names, **attributes))
        return names

    def input(self, name: str, kind: str, shape: Shape) -> str:
        """Declare an input of the graph."""
        self._inputs.append(helper.make_tensor_value_info(name, TYPES[kind], shape))
        return name

    def output(self, name: str, tensor: str, kind: str, shape: Shape) -> None:
        """Declare a tensor as an output of the graph, under this name."""
        self._nodes.append(helper.make_node("Identity", [tensor], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, TYPES[kind], shape))

    def running_max(self, x: str, steps: str) -> str:
        """Maximum up to and including each step; x (…, T, C) double, steps (1,) = T.

        Each round looks back twice as far as the one before, so log2 T rounds are enough.
        """
        body, time = Graph(self), np.array([-2])
        body.input(self._name("turn"), "int64", [])
        body.input(self._name("going"), "bool", [])
        best = body.input(self._name("best"), "double", None)
        far = body.input(self._name("far"), "int64", [1])
        early = body("Slice", best, START, far, time)
        late = body("Slice", best, far, END, time)
        before = body("Slice", best, START, body("Neg", far), time)
        farther = body("Mul", far, 2)
        going = body("Squeeze", body("Less", farther, steps))
        best = body("Concat", early, body("Max", late, before), axis=-2)
        body.output(self._name("going"), going, "bool", [])
        body.output(self._name("best"), best, "double", None)
        body.output(self._name("far"), farther, "int64", [1])
        loop = helper.make_graph(body._nodes, "look back", body._inputs, body._outputs)
        begin = self("Squeeze", self("Less", np.array([1]), steps))
        return self.several("Loop", 2, "", begin, x, np.array([1]), body=loop)[0]

    def model(self, description: str, metadata: dict[str, str]) -> ModelProto:
        """Return the graph as an ONNX model."""
        graph = helper.make_graph(
            self._nodes,
            "imputefree",
            self._inputs,
            self._outputs,
            list(self._constants.values()),
            doc_string=description,
        )
        model = helper.make_model(
            graph,
            opset_imports=[
                helper.make_opsetid(domain, OPSETS[domain])
                for domain in sorted({"", *(node.domain for node in self._nodes)})
            ],
            ir_version=IR_VERSION,
            producer_name="imputefree",
            doc_string=description,
        )
        helper.set_model_props(model, metadata)
        return model

    def _constant(self, value: Any) -> str:
        """Name of a constant; equal constants are stored once."""
        if self._parent is not None:
            return self._parent._constant(value)
        array = np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value)
        key = array.dtype.str, array.shape, array.tobytes()
        if key not in self._constants:
            self._constants[key] = numpy_helper.from_array(array, self._name("constant"))
        return self._constants[key].name

    def _name(self, op: str) -> str:
        if self._parent is not None:
            return self._parent._name(op)
        self._count += 1
        return f"{op.lower()}_{self._count}"
