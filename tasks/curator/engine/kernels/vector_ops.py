"""Between arrays and vectors: loads, stores, repeats and sums of pieces.

Arrays are C-contiguous; indices count whole vectors from the array's start, whatever its shape.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from tasks.curator.engine.kernels.vectors import Vector, instruction, literal_instruction, shuffled


@literal_instruction
def load(_: Any, array: Any, index: Any, width: Any) -> Any:
    """Vector number ``index`` of a contiguous array, counted in vectors of the (constant) ``width``."""
    kind = Vector(array.dtype, width.literal_value)

    def emit(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        pointer, alignment = _address(context, builder, sig.args[0], arguments[0], arguments[1], kind)
        return builder.load(pointer, align=alignment)

    return kind(array, types.intp, width), emit


@literal_instruction
def zeros(_: Any, array: Any, width: Any) -> Any:
    """Zeros of the array's type."""
    kind = Vector(array.dtype, width.literal_value)

    def emit(context: Any, __: Any, ___: Any, ____: Any) -> Any:
        return ir.Constant(context.get_value_type(kind), None)

    return kind(array, width), emit


@instruction
def store(_: Any, array: Any, index: Any, vector: Any) -> Any:
    """Writes a vector as number ``index``, counted in vectors of its width."""

    def emit(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        pointer, alignment = _address(context, builder, sig.args[0], arguments[0], arguments[1], vector)
        builder.store(arguments[2], pointer, align=alignment)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), emit


@literal_instruction
def tile(_: Any, vector: Any, times: Any) -> Any:
    """The whole vector, ``times`` times over."""
    kind = Vector(vector.dtype, vector.width * times.literal_value)

    def emit(__: Any, builder: Any, ___: Any, arguments: Any) -> Any:
        return shuffled(builder, arguments[0], list(range(vector.width)) * times.literal_value)

    return kind(vector, times), emit


@literal_instruction
def load_interleaved(_: Any, array: Any, indices: Any, width: Any, slots: Any) -> Any:
    """Vectors number ``indices[0]`` ... ``indices[slots - 1]``: the first number of each, then the second of each."""
    kind = Vector(array.dtype, width.literal_value)
    count = slots.literal_value

    def emit(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        data = context.make_array(sig.args[1])(context, builder, arguments[1]).data
        vectors = []
        for slot in range(count):
            index = builder.load(builder.gep(data, [ir.Constant(ir.IntType(64), slot)]))
            pointer, alignment = _address(context, builder, sig.args[0], arguments[0], index, kind)
            vectors.append(builder.load(pointer, align=alignment))
        joined = _joined(builder, vectors)
        return shuffled(builder, joined, [n + slot * kind.width for n in range(kind.width) for slot in range(count)])

    return Vector(kind.dtype, kind.width * count)(array, indices, width, slots), emit


@literal_instruction
def fold(_: Any, vector: Any, width: Any) -> Any:
    """Sum of the consecutive pieces of ``width``, neighbours first."""
    kind = Vector(vector.dtype, width.literal_value)

    def emit(__: Any, builder: Any, ___: Any, arguments: Any) -> Any:
        starts = range(0, vector.width, kind.width)
        pieces = [shuffled(builder, arguments[0], list(range(start, start + kind.width))) for start in starts]
        while len(pieces) > 1:
            paired = [builder.fadd(*pair) for pair in zip(pieces[::2], pieces[1::2], strict=False)]
            pieces = paired + pieces[2 * len(paired) :]
        return pieces[0]

    return kind(vector, width), emit


def _address(context: Any, builder: Any, array: Any, value: Any, index: Any, vector: Vector) -> tuple[Any, int]:
    data = context.make_array(array)(context, builder, value).data
    offset = builder.mul(index, ir.Constant(index.type, vector.width))
    pointer = builder.gep(data, [offset])
    kind = context.get_value_type(vector)
    return builder.bitcast(pointer, kind.as_pointer()), array.dtype.bitwidth // 8


def _joined(builder: Any, vectors: list[Any]) -> Any:
    """The vectors one after another; their number is a power of two."""
    while len(vectors) > 1:
        width = 2 * vectors[0].type.count
        mask = ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(width)))
        vectors = [builder.shuffle_vector(*pair, mask) for pair in zip(vectors[::2], vectors[1::2], strict=True)]
    return vectors[0]
