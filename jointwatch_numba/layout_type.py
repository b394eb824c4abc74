"""numba's types of layouts (layout.py): how a kernel reads and writes their words, and calls by address."""

import operator
from inspect import Parameter, Signature
from typing import Any, Final, cast

from jointwatch_numba import numba_alone  # noqa: F401  # before numba

# isort: split
import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.core.typeconv.castgraph import Conversion
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import (
    NativeValue,
    intrinsic,
    lower_builtin,
    lower_cast,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
    type_callable,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import make_array, populate_array

from jointwatch_numba.compiled import typed
from jointwatch_numba.layout import Field, Layout, copy

WORDS: Final = {int: types.int64, float: types.float64, bool: types.boolean}


class LayoutType(types.Type):
    """numba's type of a layout: the address of its words."""

    def __init__(self, layout: type[Layout]) -> None:
        self.layout = layout
        told = ", ".join(f"{one.name}: {one.place} {_described(one)}" for one in layout.fields())
        super().__init__(f"{layout.__module__}.{layout.__qualname__}({told})")

    def can_convert_to(self, _context: Any, other: types.Type) -> Any:
        """Whether it may be given where another type is declared: any layout where that is `Own`."""
        return Conversion.safe if isinstance(other, LayoutType) and other.layout is Layout else None

    @property
    def mangling_args(self) -> tuple[str, tuple[()]]:
        """A short name for symbols."""
        return f"{self.layout.__module__}.{self.layout.__qualname__}", ()


class SeveralType(types.Type):
    """numba's type of a tuple of layouts: address of a table of addresses, and its length."""

    def __init__(self, layout: type[Layout]) -> None:
        self.layout = layout
        super().__init__(f"several {layout.__module__}.{layout.__qualname__}")


def _type_of_field(field: Field) -> Any:
    """Type of its value in a kernel."""
    if field.number is not None:
        return WORDS[field.number]
    if field.array is not None:
        return types.Array(numba.from_dtype(field.array.dtype), field.array.dimensions, "C")
    if field.function:
        return types.int64
    assert field.layout is not None
    return SeveralType(field.layout) if field.several else field.layout.numba_type()


def _described(field: Field) -> str:
    if field.layout is not None:
        return f"{field.layout.__module__}.{field.layout.__qualname__}{' several' * field.several}"
    return repr(field.array) if field.array is not None else "function" if field.function else field.number.__name__


@register_model(LayoutType)
class _LayoutModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: LayoutType) -> None:
        super().__init__(manager, kind, ir.IntType(64))


@register_model(SeveralType)
class _SeveralModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: SeveralType) -> None:
        super().__init__(manager, kind, ir.IntType(64))  # where its two words lie


@typeof_impl.register(Layout)
def _typeof(layout: Layout, _context: Any) -> LayoutType:
    return cast(LayoutType, type(layout).numba_type())


@unbox(LayoutType)
def _unbox(_kind: LayoutType, layout: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(layout, "_address")
    value = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(value, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@infer_getattr
class _FieldAttributes(AttributeTemplate):
    key = LayoutType

    def generic_resolve(self, kind: LayoutType, name: str) -> Any:  # type: ignore[override]
        field = kind.layout._fields.get(name)
        return None if field is None else _type_of_field(field)


def _word(builder: Any, address: Any, place: int, *, constant: bool, kind: Any = None) -> Any:
    """Word of a layout; constant: for the whole of a call."""
    where = builder.inttoptr(builder.add(address, ir.Constant(ir.IntType(64), 8 * place)), _pointer_to(kind))
    value = builder.load(where)
    if constant:
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


def _pointer_to(kind: Any = None) -> Any:
    return (kind or ir.IntType(64)).as_pointer()


@lower_getattr_generic(LayoutType)
def _read(context: Any, builder: Any, kind: LayoutType, address: Any, name: str) -> Any:
    field = kind.layout._fields[name]
    if field.number is float:
        return _word(builder, address, field.place, constant=False, kind=ir.DoubleType())
    if field.number is not None:
        word = _word(builder, address, field.place, constant=False)
        return word if field.number is int else builder.icmp_signed("!=", word, word.type(0))
    if field.several:
        return builder.add(address, ir.Constant(ir.IntType(64), 8 * field.place))
    if field.array is None:
        return _word(builder, address, field.place, constant=True)
    array_type = _type_of_field(field)
    array = make_array(array_type)(context, builder)
    words = [_word(builder, address, field.place + at, constant=True) for at in range(1 + field.array.dimensions)]
    size = context.get_constant(types.intp, field.array.dtype.itemsize)
    strides: list[Any] = []
    step = size
    for length in reversed(words[1:]):
        strides.insert(0, step)
        step = builder.mul(step, length)
    data = builder.inttoptr(words[0], context.get_data_type(array_type.dtype).as_pointer())
    populate_array(array, data=data, shape=words[1:], strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()


@lower_setattr_generic(LayoutType)
def _write(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> None:
    kind, value_type = signature.args
    address, value = arguments
    field = kind.layout._fields[name]
    if field.number is None:
        raise numba.errors.TypingError(f"{kind.layout.__name__}.{name}: a kernel replaces no array, layout or function")
    value = context.cast(builder, value, value_type, WORDS[field.number])
    if field.number is bool:
        value = builder.zext(value, ir.IntType(64))
    where = builder.add(address, ir.Constant(ir.IntType(64), 8 * field.place))
    builder.store(value, builder.inttoptr(where, _pointer_to(value.type)))


@lower_cast(LayoutType, LayoutType)
def _cast(_context: Any, _builder: Any, _from: LayoutType, _to: LayoutType, address: Any) -> Any:
    return address


@type_callable(copy)
def _type_copy(_context: Any) -> Any:
    def typed(source: Any, target: Any) -> Any:
        return types.none if isinstance(source, LayoutType) and source is target else None

    return typed


@lower_builtin(copy, LayoutType, LayoutType)
def _copy(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    source, target = arguments
    for field in signature.args[0].layout.fields():
        if field.array is not None:
            data, *lengths = (_word(builder, source, field.place + at, constant=True) for at in range(field.words))
            size = ir.Constant(ir.IntType(64), 1)
            for length in lengths:
                size = builder.mul(size, length)
            where = builder.inttoptr(_word(builder, target, field.place, constant=True), cgutils.voidptr_t)
            data = builder.inttoptr(data, cgutils.voidptr_t)
            cgutils.raw_memcpy(builder, where, data, size, field.array.dtype.itemsize)
        elif field.holds_values:
            word = _word(builder, source, field.place, constant=False)
            where = builder.add(target, ir.Constant(ir.IntType(64), 8 * field.place))
            builder.store(word, builder.inttoptr(where, _pointer_to()))
    return context.get_dummy_value()


@type_callable(len)
def _type_len(_context: Any) -> Any:
    return lambda kind: types.intp if isinstance(kind, SeveralType) else None


@lower_builtin(len, SeveralType)
def _len(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    return _word(builder, arguments[0], 1, constant=True)


@type_callable(operator.getitem)
def _type_getitem(_context: Any) -> Any:
    def typed(kind: Any, index: Any) -> Any:
        if isinstance(kind, SeveralType) and isinstance(index, types.Integer):
            return kind.layout.numba_type()
        return None

    return typed


@lower_builtin(operator.getitem, SeveralType, types.Integer)
def _getitem(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    several, index = arguments
    table = _word(builder, several, 0, constant=True)
    index = context.cast(builder, index, signature.args[1], types.int64)
    return _word(builder, builder.add(table, builder.mul(index, index.type(8))), 0, constant=True)


def known_as(layout: type[Layout]) -> Any:
    """Intrinsic that takes any layout for one of this class."""

    def known(_typing: Any, own: Any) -> Any:
        def generate(_context: Any, _builder: Any, _signature: Any, arguments: Any) -> Any:
            return arguments[0]

        return cast(Any, layout).numba_type()(own), generate

    return intrinsic(known)


# --- compiled functions as values: by address, so that no kernel is compiled for any one of them


class Pointer(types.WrapperAddressProtocol):
    """A kernel of one signature as numba's first-class function type, at a tenth of the cost of its dispatcher."""

    def __init__(self, function: Any) -> None:
        (signature,) = function.nopython_signatures
        result = function.get_compile_result(signature)
        self._numba_type_ = types.FunctionType(signature)
        self._address = int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))
        self._function = function  # owns the code

    def __wrapper_address__(self) -> int:
        """Where the code lies, as numba's protocol asks."""
        return self._address

    def signature(self) -> Any:
        """The signature, as numba's protocol asks."""
        return self._numba_type_.signature


def _type_of_pointer(pointer: Pointer, _context: Any) -> Any:
    return pointer._numba_type_


typeof_impl.register(Pointer)(_type_of_pointer)


def called_by_address(result: Any, *arguments: Any) -> Any:
    """Intrinsic that calls a kernel of these types at the address that it is given first."""

    def call(_typing: Any, _function: Any, *_rest: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            kinds = [context.get_value_type(one) for one in signature]
            where = ir.FunctionType(kinds[0], kinds[1:]).as_pointer()
            return builder.call(builder.inttoptr(values[0], where), values[1:])

        return signature[0](types.int64, *signature[1:]), generate

    signature = [typed(one) for one in (result, *arguments)]
    names = ("_typing", "function", *(f"argument{number}" for number in range(len(arguments))))
    one_by_one = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    call.__signature__ = Signature(one_by_one)  # type: ignore[attr-defined]  # numba asks for it
    return intrinsic(call)
