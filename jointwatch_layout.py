"""Declared state with names, which kernels and Python read and write alike.

    class Learner(Layout, version=7):
        \"\"\"What recursive least squares have learnt.\"\"\"

        parameters: int
        theta: Annotated[Vector, "parameters"]
        factor: Annotated[Matrix, "parameters", "parameters"]
        gain: Scratch[Annotated[Vector, "parameters"]]  # not kept
        forgetting: float = 1.0  # of the next row

    @kernel((Learner,))
    def forget(learner: Learner) -> None:
        for i in range(learner.parameters):
            learner.theta[i] *= learner.forgetting

A field is a number, an array, another layout, a tuple of layouts of one class, any layout (`Own`), or a compiled
function (`Function`). Its value lies in one block of 8-byte words: a number in one; of an array the address and the
lengths; of a layout its address; of a tuple the address of a table of addresses, and its length. A kernel gets the
address of the block. There is one numba type for a class, whatever the lengths, so one compilation serves all models.
Kernels read addresses and lengths as constants of a call: between two calls Python may put another array or layout
into a field, a kernel never can.

Uncompiled a layout is the same Python object. The lengths that a declaration names are checked: where two fields of one
layout name the same length, or a field of type int has that name, they must agree.
"""

import operator
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from inspect import Parameter, Signature
from typing import Annotated, Any, ClassVar, Final, Self, TypeVar, cast, dataclass_transform, get_args, get_origin

import numba
import numpy as np
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
from numpy.typing import NDArray

from jointwatch_jit import INTERPRETED, typed

Any_ = TypeVar("Any_")
SCRATCH: Final = "scratch"


class Array:
    """What kind of array a field holds."""

    def __init__(self, dtype: str, dimensions: int) -> None:
        self.dtype, self.dimensions = np.dtype(dtype), dimensions

    def __repr__(self) -> str:
        return f"{self.dimensions}-d {self.dtype}"


Vector = Annotated[NDArray[np.float64], Array("f8", 1)]
Matrix = Annotated[NDArray[np.float64], Array("f8", 2)]
Cube = Annotated[NDArray[np.float64], Array("f8", 3)]
Block4 = Annotated[NDArray[np.float64], Array("f8", 4)]
Integers = Annotated[NDArray[np.int64], Array("i8", 1)]
IntegerMatrix = Annotated[NDArray[np.int64], Array("i8", 2)]
Flags = Annotated[NDArray[np.bool_], Array("?", 1)]
Function = Annotated[Any, "function"]  # a kernel of one signature; in a kernel its address, see Pointer
Scratch = Annotated[Any_, SCRATCH]  # never kept: what the next call writes before it reads

WORDS: Final = {int: types.int64, float: types.float64, bool: types.boolean}


class Field:
    """Where a field of a layout lies, and of which kind it is; a descriptor of the class."""

    def __init__(self, name: str, annotation: Any, place: int) -> None:
        self.name, self.place = name, place
        plain, said = annotation, []
        while get_origin(plain) is Annotated:
            plain, *more = get_args(plain)
            said += more
        array = [one for one in said if isinstance(one, Array)]
        self.array = array[0] if array else None
        self.kept = SCRATCH not in said
        self.lengths = tuple(one for one in said if isinstance(one, str) and one not in (SCRATCH, "function"))
        self.function = "function" in said
        self.several = get_origin(plain) is tuple
        of = get_args(plain)[0] if self.several else plain
        self.layout: type[Layout] | None = of if isinstance(of, type) and issubclass(of, Layout) else None
        self.number: Any = plain if plain in WORDS else None
        if self.array is None and not self.function and self.layout is None and self.number is None:
            raise TypeError(f"{name}: expected a number, an array, a layout or a function, found {annotation}")
        if self.array is not None and self.lengths and len(self.lengths) != self.array.dimensions:
            raise TypeError(f"{name}: expected {self.array.dimensions} names of lengths, found {len(self.lengths)}")

    @property
    def holds_values(self) -> bool:
        """Whether it is a number or an array."""
        return self.number is not None or self.array is not None

    @property
    def words(self) -> int:
        """How many words it takes."""
        return 1 + self.array.dimensions if self.array is not None else 1 + self.several

    def __get__(self, owner: "Layout | None", _class: Any = None) -> Any:
        return self if owner is None else owner._objects[self.name]

    def __set__(self, owner: "Layout", value: Any) -> None:
        words = self._words_of(owner, value)
        owner._objects[self.name] = value
        for at, word in enumerate(words):
            owner._integers[self.place + at] = word

    def _words_of(self, owner: "Layout", value: Any) -> tuple[int, ...]:
        """Words that stand for a value. Raises TypeError and ValueError for one that is not of its kind."""
        name = f"{type(owner).__name__}.{self.name}"
        if self.array is not None:
            wanted = self.array
            if not isinstance(value, np.ndarray):
                raise TypeError(f"{name}: expected {wanted}, found {type(value).__name__}")
            if value.dtype != wanted.dtype or value.ndim != wanted.dimensions or not value.flags.carray:
                found = f"{value.ndim}-d {value.dtype}"
                raise TypeError(f"{name}: expected {wanted}, contiguous, writable; found {found}")
            owner._agree(self.name, self.lengths, value.shape)
            return (value.ctypes.data, *value.shape)
        if self.function:
            return (0 if INTERPRETED or value is None else pointer(value).__wrapper_address__(),)
        layout = self.layout
        assert layout is not None
        members = value if self.several else (value,)
        for one in members:
            if not isinstance(one, layout):
                raise TypeError(f"{name}: expected {layout.__name__}, found {type(one).__name__}")
        if not self.several:
            return (value._address,)
        table = np.array([one._address for one in value], np.int64)
        owner._tables[self.name] = table
        return table.ctypes.data, len(table)

    def numba_type(self) -> Any:
        """Type of its value in a kernel."""
        if self.number is not None:
            return WORDS[self.number]
        if self.array is not None:
            return types.Array(numba.from_dtype(self.array.dtype), self.array.dimensions, "C")
        if self.function:
            return types.int64
        assert self.layout is not None
        return SeveralType(self.layout) if self.several else self.layout.numba_type()


class FloatField(Field):
    """A float."""

    def __get__(self, owner: "Layout | None", _class: Any = None) -> Any:
        return self if owner is None else owner._floats[self.place]

    def __set__(self, owner: "Layout", value: Any) -> None:
        owner._floats[self.place] = value


class IntField(Field):
    """An integer."""

    def __get__(self, owner: "Layout | None", _class: Any = None) -> Any:
        return self if owner is None else owner._integers[self.place]

    def __set__(self, owner: "Layout", value: Any) -> None:
        owner._integers[self.place] = int(value)


class BoolField(IntField):
    """A truth."""

    def __get__(self, owner: "Layout | None", _class: Any = None) -> Any:
        return self if owner is None else owner._integers[self.place] != 0


FIELDS: Final = {float: FloatField, int: IntField, bool: BoolField}


class _Slots(type):
    """Gives layouts no room for attributes that are not declared."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> type:
        namespace.setdefault("__slots__", ())
        return super().__new__(cls, name, bases, namespace, **options)


@dataclass_transform(kw_only_default=True)
class Layout(metaclass=_Slots):
    """Base of declared states; see the module."""

    VERSION: ClassVar[int] = 0  # of what a checkpoint keeps of it
    _fields: ClassVar[dict[str, Field]] = {}
    _address: int
    _objects: dict[str, Any]
    _tables: dict[str, NDArray[np.int64]]
    _defaults: ClassVar[dict[str, Any]] = {}

    __slots__ = ("_address", "_floats", "_integers", "_memory", "_objects", "_sizes", "_tables")

    def __init_subclass__(cls, version: int = 0) -> None:
        cls.VERSION = version
        fields: dict[str, Field] = {}
        place = 0
        namespace = vars(sys.modules[cls.__module__])
        cls._defaults = {}
        for name, annotation in cls.__annotations__.items():
            if str(get_origin(annotation)) == "typing.ClassVar" or name.startswith("_"):
                continue
            if isinstance(annotation, str):
                annotation = eval(annotation, dict(namespace))
            if name in cls.__dict__:
                cls._defaults[name] = cls.__dict__[name]
            fields[name] = _field(name, annotation, place)
            place += fields[name].words
            setattr(cls, name, fields[name])
        cls._fields = fields
        cls._size = place

    _size: ClassVar[int] = 0
    _type: ClassVar["LayoutType"]

    def __init__(self, **values: Any) -> None:
        """One value a field, by name; a field with a default may be left out.

        Raises TypeError for a missing or unknown field, and for a value of another kind; ValueError for lengths that
        do not agree.
        """
        cls = type(self)
        values = {**cls._defaults, **values}
        if set(values) != set(cls._fields):
            odd = ", ".join(sorted(set(values) ^ set(cls._fields)))
            raise TypeError(f"{cls.__name__}: missing or unknown: {odd}")
        memory = np.zeros(max(cls._size, 1), np.int64)
        self._memory, self._address = memory, memory.ctypes.data
        self._integers, self._floats = memory.data, memory.view(np.float64).data
        self._objects, self._tables = {}, {}
        self._sizes: dict[str, tuple[int, str]] = {}  # a length by its name, and the field that it was first seen in
        for name, field in cls._fields.items():
            field.__set__(self, values[name])
            if field.number is int:
                self._agree(name, (name,), (values[name],))

    @classmethod
    def zeros(cls, **values: Any) -> Self:
        """One of zeros, of the lengths that are given by name or by arrays, but for the fields that are given.

        Raises TypeError where an array's lengths have no names, or no length is given for one.
        """
        lengths = {name: value for name, value in values.items() if isinstance(value, int)}
        made = {name: value for name, value in values.items() if name in cls._fields}
        for name, value in made.items():
            if isinstance(value, np.ndarray):
                lengths |= dict(zip(cls._fields[name].lengths, value.shape, strict=False))
        for name, field in cls._fields.items():
            if name in made or name in cls._defaults:
                continue
            if field.number is not None:
                made[name] = field.number(0)
            elif field.array is not None:
                shape = [int(one) if one.isdigit() else lengths.get(one) for one in field.lengths]
                if None in shape or not shape:
                    raise TypeError(
                        f"{cls.__name__}.{name}: expected lengths {', '.join(field.lengths) or 'with names'}"
                    )
                made[name] = np.zeros(cast(list[int], shape), field.array.dtype)
        return cls(**made)

    def _agree(self, field: str, names: tuple[str, ...], shape: tuple[int, ...]) -> None:
        """Lengths of one name are the same. Raises ValueError."""
        for name, length in zip(names, shape, strict=False):
            if name.isdigit():
                other, where = int(name), "its declaration"
            else:
                other, where = self._sizes.setdefault(name, (length, field))
            if other != length:
                raise ValueError(
                    f"{type(self).__name__}.{field}: expected {name} = {other}, as in {where}; found {length}"
                )

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise TypeError(f"{type(self).__name__} holds addresses of its own process: keep its values instead")

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"{type(self).__name__}({told})"

    @classmethod
    def fields(cls) -> Iterator[Field]:
        """All fields, in the order of their declaration."""
        return iter(cls._fields.values())

    @classmethod
    def numba_type(cls) -> "LayoutType":
        """Type of its objects in signatures of kernels."""
        if "_type" not in cls.__dict__:
            cls._type = LayoutType(cls)
        return cls._type

    def as_dict(self) -> dict[str, Any]:
        """Its numbers, and copies of its arrays, by name: what may be pickled."""
        return {
            one.name: getattr(self, one.name).copy() if one.array is not None else getattr(self, one.name)
            for one in self.fields()
            if one.holds_values
        }

    def copied(self) -> Self:
        """A layout of equal numbers and copies of the arrays; inner layouts and functions are shared."""
        return type(self)(**{one.name: getattr(self, one.name) for one in self.fields()} | self.as_dict())


def _field(name: str, annotation: Any, place: int) -> Field:
    plain = annotation
    while get_origin(plain) is Annotated:
        plain = get_args(plain)[0]
    return FIELDS.get(plain, Field)(name, annotation, place)


def copy(source: Layout, target: Layout) -> None:
    """Take all numbers and arrays of a layout over into another one of its class; kernels may call it, too.

    The arrays must have the same lengths; inner layouts and functions stay as they are. Raises TypeError for a layout
    of another class and ValueError for other lengths; compiled, lengths are not looked at.
    """
    if type(source) is not type(target):
        raise TypeError(f"expected {type(source).__name__}, found {type(target).__name__}")
    for field in source.fields():
        if field.array is None:
            if field.holds_values:
                setattr(target, field.name, getattr(source, field.name))
            continue
        old, new = getattr(target, field.name), getattr(source, field.name)
        if old.shape != new.shape:
            raise ValueError(f"{type(source).__name__}.{field.name}: expected {new.shape}, found {old.shape}")
        old[...] = new


Own = Layout  # any layout: a kernel that knows its class asks for it by `own_as`


class LayoutType(types.Type):
    """numba's type of a layout: the address of its words."""

    def __init__(self, layout: type[Layout]) -> None:
        self.layout = layout
        told = ", ".join(f"{one.name}: {one.place} {_described(one)}" for one in layout.fields())
        super().__init__(f"{layout.__module__}.{layout.__qualname__}({told})")

    def can_convert_to(self, _context: Any, other: types.Type) -> Any:
        """Whether it may be given where another type is asked for: any layout where that is `Own`."""
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
    return type(layout).numba_type()


@unbox(LayoutType)
def _unbox(_kind: LayoutType, layout: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(layout, "_address")
    value = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(value, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@infer_getattr
class _Attributes(AttributeTemplate):
    key = LayoutType

    def generic_resolve(self, kind: LayoutType, name: str) -> Any:  # type: ignore[override]
        field = kind.layout._fields.get(name)
        return None if field is None else field.numba_type()


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
    array_type = field.numba_type()
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


def own_as(layout: type[Any_]) -> Callable[[Own], Any_]:
    """Function for kernels that takes an `Own` for what it is, a layout of this class."""
    if INTERPRETED:
        return cast("Callable[[Own], Any_]", lambda own: own)

    def known(_typing: Any, own: Any) -> Any:
        def generate(_context: Any, _builder: Any, _signature: Any, arguments: Any) -> Any:
            return arguments[0]

        return cast(Any, layout).numba_type()(own), generate

    return cast("Callable[[Own], Any_]", intrinsic(known))


# --- compiled functions as values: by address, so that no kernel is compiled for any one of them


class Pointer(types.WrapperAddressProtocol):
    """A kernel of one signature as numba's first-class function type, at a tenth of the cost of its dispatcher."""

    def __init__(self, function: Any) -> None:
        (signature,) = function.nopython_signatures
        result = function.get_compile_result(signature)
        self.type = types.FunctionType(signature)
        self._address = int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))
        self._function = function  # owns the code

    def __wrapper_address__(self) -> int:
        """Where the code lies, as numba's protocol asks."""
        return self._address

    def signature(self) -> Any:
        """The signature, as numba's protocol asks."""
        return self.type.signature


def _type_of_pointer(pointer: Pointer, _context: Any) -> Any:
    return pointer.type


typeof_impl.register(Pointer)(_type_of_pointer)


def by_address(result: Any, *arguments: Any) -> Callable[..., Any]:
    """Function for kernels that calls a kernel of these types where it lies: call(address, *arguments).

    Types: texts such as "f8[::1]", or classes of layouts.
    """
    if INTERPRETED:
        return lambda function, *rest: function(*rest)

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
    return cast("Callable[..., Any]", intrinsic(call))


@lru_cache(maxsize=256)
def pointer(function: Any) -> Any:
    """What to pass for a kernel of one signature; interpreted, the function itself."""
    return function if INTERPRETED else Pointer(function)
