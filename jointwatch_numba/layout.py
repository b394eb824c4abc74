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

import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Final, Self, TypeVar, cast, dataclass_transform, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from jointwatch_numba.jit import INTERPRETED

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

NUMBERS: Final = (int, float, bool)


class Field(property):
    """Where a field of a layout lies, and of which kind it is; a property of the class: read hundreds of times a turn,
    which a descriptor written in Python makes a third slower."""

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
        self.number: Any = plain if plain in NUMBERS else None
        if self.array is None and not self.function and self.layout is None and self.number is None:
            raise TypeError(f"{name}: expected a number, an array, a layout or a function, found {annotation}")
        if self.array is not None and self.lengths and len(self.lengths) != self.array.dimensions:
            raise TypeError(f"{name}: expected {self.array.dimensions} names of lengths, found {len(self.lengths)}")
        super().__init__(*self._accessors())

    @property
    def holds_values(self) -> bool:
        """Whether it is a number or an array."""
        return self.number is not None or self.array is not None

    @property
    def words(self) -> int:
        """How many words it takes."""
        return 1 + self.array.dimensions if self.array is not None else 1 + self.several

    def _accessors(self) -> "tuple[Callable[[Layout], Any], Callable[[Layout, Any], None]]":
        """What reads and what writes it."""
        name, place, number = self.name, self.place, self.number

        def write_float(owner: Layout, value: Any) -> None:
            owner._floats[place] = value

        def write_integer(owner: Layout, value: Any) -> None:
            owner._integers[place] = int(value)

        if number is float:
            return lambda owner: owner._floats[place], write_float
        if number is int:
            return lambda owner: owner._integers[place], write_integer
        if number is bool:
            return lambda owner: owner._integers[place] != 0, write_integer
        return lambda owner: owner._objects[name], self._put

    def _put(self, owner: "Layout", value: Any) -> None:
        """Write an array, a layout, several of them or a function."""
        if self.array is not None and owner._objects.get(self.name) is value:
            return  # `state.sums *= 2.0` ends in this assignment
        words = self._words_of(owner, value)
        owner._objects[self.name] = value
        for at, word in enumerate(words):
            owner._integers[self.place + at] = word

    def _words_of(self, owner: "Layout", value: Any) -> tuple[int, ...]:
        """A value in words. Raises TypeError and ValueError for one that is not of its kind."""
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
            fields[name] = Field(name, annotation, place)
            place += fields[name].words
            setattr(cls, name, fields[name])
        cls._fields = fields
        cls._size = place

    _size: ClassVar[int] = 0
    _numba_type_: ClassVar[Any]  # under this name numba's dispatcher asks for the type of an argument, without Python

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
    def numba_type(cls) -> Any:
        """Type of its objects in signatures of kernels."""
        if "_numba_type_" not in cls.__dict__:
            from jointwatch_numba.layout_type import LayoutType

            cls._numba_type_ = LayoutType(cls)
        return cls._numba_type_

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


def own_as(layout: type[Any_]) -> Callable[[Own], Any_]:
    """Function for kernels that takes an `Own` for what it is, a layout of this class."""
    if INTERPRETED:
        return cast("Callable[[Own], Any_]", lambda own: own)
    from jointwatch_numba.layout_type import known_as

    return cast("Callable[[Own], Any_]", known_as(cast(Any, layout)))


def by_address(result: Any, *arguments: Any) -> Callable[..., Any]:
    """Function for kernels that calls a kernel of these types where it lies: call(address, *arguments).

    Types: texts such as "f8[::1]", or classes of layouts.
    """
    if INTERPRETED:
        return lambda function, *rest: function(*rest)
    from jointwatch_numba.layout_type import called_by_address

    return cast("Callable[..., Any]", called_by_address(result, *arguments))


@lru_cache(maxsize=256)
def pointer(function: Any) -> Any:
    """What to pass for a kernel of one signature; interpreted, the function itself."""
    if INTERPRETED:
        return function
    from jointwatch_numba.layout_type import Pointer

    return Pointer(function)
