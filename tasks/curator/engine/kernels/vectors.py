"""Explicit vectors for compiled kernels: a numba type that holds ``width`` numbers and becomes one LLVM vector.

Automatic vectorisation gives up on the engine's loops (it cannot prove that arrays do not overlap, and the innermost
loops are short), so kernels say what they mean: ``load`` a row, do arithmetic on it, ``store`` it. LLVM maps any width
to the registers of the machine. No operation is reordered or contracted, ``fma`` is one rounding everywhere: the same
input gives the same bits on every machine.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

# Untyped on purpose: the functions below describe how a call is compiled, and take fewer arguments than the call.
instruction: Any = intrinsic
literal_instruction: Any = intrinsic(prefer_literal=True)


class Vector(types.Type):
    """``width`` numbers of one type."""

    def __init__(self, dtype: Any, width: int) -> None:
        self.dtype, self.width = dtype, width
        super().__init__(name=f"Vector({dtype}, {width})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(manager.lookup(kind.dtype).get_value_type(), kind.width))


def _arithmetic(function: Any, instruction: str) -> None:
    @infer_global(function)
    class _Typing(AbstractTemplate):
        def generic(self, arguments: Any, _: Any) -> Any:
            vectors = [kind for kind in arguments if isinstance(kind, Vector)]
            if len(arguments) == 2 and vectors:
                return signature(vectors[0], *arguments)
            return None

    def lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(*_widened(context, builder, sig, arguments))

    for left, right in ((Vector, Vector), (Vector, types.Number), (types.Number, Vector)):
        lower_builtin(function, left, right)(lower)


for _function, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _arithmetic(_function, _instruction)


@instruction
def fma(_: Any, first: Any, second: Any, third: Any) -> Any:
    """first * second + third, rounded once; plain numbers are spread."""

    def emit(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return _instruction_call(builder, "fma", sig.return_type, _widened(context, builder, sig, arguments))

    return _vector_among(first, second, third)(first, second, third), emit


@instruction
def larger(_: Any, first: Any, second: Any) -> Any:
    """The larger of each pair; the second where one is no number."""

    def emit(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        sides = _widened(context, builder, sig, arguments)
        return builder.select(builder.fcmp_ordered(">", *sides), *sides)

    return _vector_among(first, second)(first, second), emit


@instruction
def where_positive(_: Any, condition: Any, yes: Any, no: Any) -> Any:
    """``yes`` where the condition is above 0, elsewhere ``no``."""

    def emit(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        condition, yes, no = _widened(context, builder, sig, arguments)
        return builder.select(builder.fcmp_ordered(">", condition, ir.Constant(condition.type, None)), yes, no)

    return condition(condition, yes, no), emit


@instruction
def where_above(_: Any, ranks: Any, thresholds: Any, yes: Any) -> Any:
    """``yes`` where unsigned ``ranks`` exceed ``thresholds``, elsewhere 0."""

    def emit(__: Any, builder: Any, ___: Any, arguments: Any) -> Any:
        above = builder.icmp_unsigned(">", arguments[0], arguments[1])
        return builder.select(above, arguments[2], ir.Constant(arguments[2].type, None))

    return yes(ranks, thresholds, yes), emit


@instruction
def root(_: Any, vector: Any) -> Any:
    """Square roots."""

    def emit(__: Any, builder: Any, ___: Any, arguments: Any) -> Any:
        return _instruction_call(builder, "sqrt", vector, arguments)

    return vector(vector), emit


@instruction
def whole(_: Any, vector: Any) -> Any:
    """The nearest whole numbers, for values well below 2^22 (float32) or 2^51."""

    def emit(__: Any, builder: Any, ___: Any, arguments: Any) -> Any:
        magic = _constant(arguments[0].type, _magic(vector)[0])
        return builder.fsub(builder.fadd(arguments[0], magic), magic)

    return vector(vector), emit


@instruction
def power_of_two(_: Any, exponent: Any) -> Any:
    """2^n for whole n in the range of normal numbers, by writing its bits."""
    magic, mantissa, bias = _magic(exponent)

    def emit(__: Any, builder: Any, ___: Any, arguments: Any) -> Any:
        kind = ir.VectorType(ir.IntType(exponent.dtype.bitwidth), exponent.width)
        bits = builder.bitcast(builder.fadd(arguments[0], _constant(arguments[0].type, magic)), kind)
        shifted = builder.shl(bits, _constant(kind, mantissa))
        return builder.bitcast(builder.add(shifted, _constant(kind, bias << mantissa)), arguments[0].type)

    return exponent(exponent), emit


def _magic(vector: Vector) -> tuple[float, int, int]:
    """A number so large that adding it leaves whole numbers in the low bits; mantissa bits; bias of the exponent."""
    mantissa, bias = (52, 1023) if vector.dtype == types.float64 else (23, 127)
    return 1.5 * 2.0**mantissa, mantissa, bias


def _vector_among(*kinds: Any) -> Vector:
    return next(kind for kind in kinds if isinstance(kind, Vector))


def _widened(context: Any, builder: Any, sig: Any, arguments: Any) -> list[Any]:
    """The operands with plain numbers spread to the result's type."""
    wide = sig.return_type
    return [
        value
        if isinstance(kind, Vector)
        else _splat(builder, context.cast(builder, value, kind, wide.dtype), wide.width)
        for value, kind in zip(arguments, sig.args, strict=True)
    ]


def _instruction_call(builder: Any, name: str, vector: Vector, arguments: Any) -> Any:
    kind = arguments[0].type
    full_name = f"llvm.{name}.v{vector.width}f{vector.dtype.bitwidth}"
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * len(arguments)), full_name)
    return builder.call(function, arguments)


def _splat(builder: Any, number: Any, width: int) -> Any:
    empty = ir.Constant(ir.VectorType(number.type, width), ir.Undefined)
    first = builder.insert_element(empty, number, ir.Constant(ir.IntType(32), 0))
    return shuffled(builder, first, [0] * width)


def shuffled(builder: Any, vector: Any, indices: list[int]) -> Any:
    """Emits the vector's numbers at ``indices``."""
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(indices)), indices)
    return builder.shuffle_vector(vector, vector, mask)


def _constant(kind: Any, number: float) -> Any:
    return ir.Constant(kind, [number] * kind.count)
