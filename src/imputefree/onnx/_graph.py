"""A graph of ONNX operations, written down one call an operation.

Written by hand rather than traced from PyTorch: the encoding of a table is NumPy, which no tracer
sees, PyTorch's exporters know no running maximum, and here every shape may change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

OPSET = 18
IR_VERSION = 8  # the oldest that has this opset: runtimes refuse what is newer than they are
TYPES = {"double": TensorProto.DOUBLE, "int64": TensorProto.INT64, "bool": TensorProto.BOOL}
FLOAT, DOUBLE = TensorProto.FLOAT, TensorProto.DOUBLE
INT32, INT64 = TensorProto.INT32, TensorProto.INT64
Part = str | np.ndarray | np.generic | float | int  # the name of a tensor, or a constant


class Graph:
    """Collects operations; a call adds one and returns the name of its output.

    Numbers and arrays among the inputs become constants: Python floats double, whole numbers int64.

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

    def __call__(self, op: str, *inputs: Part, **attributes: Any) -> str:
        """Add an operation with one output."""
        return self.several(op, 1, *inputs, **attributes)[0]

    def several(self, op: str, outputs: int, *inputs: Part, **attributes: Any) -> list[str]:
        """Add an operation with several outputs."""
        names = [self._name(op) for _ in range(outputs)]
        given = [one if isinstance(one, str) else self.constant(one) for one in inputs]
        self._nodes.append(helper.make_node(op, given, names, **attributes))
        return names

    def constant(self, value: Any) -> str:
        """The name of a constant; equal ones are kept once."""
        if self._parent is not None:
            return self._parent.constant(value)
        array = np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value)
        key = array.dtype.str, array.shape, array.tobytes()
        if key not in self._constants:
            self._constants[key] = numpy_helper.from_array(array, self._name("constant"))
        return self._constants[key].name

    def input(self, name: str, kind: str, shape: Sequence[str | int | None]) -> str:
        """A tensor that comes from outside; texts in its shape name sizes that may change."""
        self._inputs.append(helper.make_tensor_value_info(name, TYPES[kind], shape))
        return name

    def output(self, name: str, tensor: str, kind: str, shape: Sequence[str | int | None]) -> None:
        """A tensor that goes out, under this name."""
        self._nodes.append(helper.make_node("Identity", [tensor], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, TYPES[kind], shape))

    def repeated(self, start: Part, going: str, body: Callable[[Graph, str, str], Any]) -> str:
        """Loop over (tensor, whole number) while the body's third result is true.

        body(inner graph, tensor, number) -> tensor, number, whether to go on; the number starts
        at 1, and `going` says whether to begin at all.
        """
        inner = Graph(self)
        turn, cond = self._name("turn"), self._name("cond")
        inner.input(turn, "int64", [])
        inner.input(cond, "bool", [])
        tensor = inner.input(self._name("carried"), "double", None)  # type: ignore[arg-type]
        number = inner.input(self._name("carried"), "int64", [1])
        tensor, number, more = body(inner, tensor, number)
        inner.output(self._name("more"), more, "bool", [])
        inner.output(self._name("carried"), tensor, "double", None)  # type: ignore[arg-type]
        inner.output(self._name("carried"), number, "int64", [1])
        loop = helper.make_graph(inner._nodes, "body", inner._inputs, inner._outputs)
        return self.several("Loop", 2, "", going, start, np.array([1]), body=loop)[0]

    def model(self, about: str, metadata: dict[str, str]) -> ModelProto:
        """The whole as an ONNX model."""
        graph = helper.make_graph(
            self._nodes,
            "imputefree",
            self._inputs,
            self._outputs,
            list(self._constants.values()),
            doc_string=about,
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="imputefree",
            doc_string=about,
        )
        helper.set_model_props(model, metadata)
        return model

    def _name(self, of: str) -> str:
        if self._parent is not None:
            return self._parent._name(of)
        self._count += 1
        return f"{of.lower()}_{self._count}"
