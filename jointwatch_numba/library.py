"""Compiled code that numba links, keeps on disk and loads: what of it is optimised, and what is loaded when.

numba optimises each function that it compiles and makes its machine code, and does so once more in every function that
this one is linked into: half of the time that our kernels took. `Library` does it once, for what Python calls or asks
the address of; until then what a function calls is only linked into it. The rules of arithmetic are the same, so
results are the same to the bit.
"""

import importlib
import pickle
import sys
from collections.abc import Callable
from typing import Any, cast

from llvmlite import binding as llvm  # type: ignore[import-untyped]
from llvmlite import ir
from numba.core import types
from numba.core.callconv import CPUCallConv
from numba.core.codegen import JITCodeLibrary
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime.nrt import rtsys

ENVIRONMENT = "_ZN08NumbaEnv"  # begins the names of what compiled code knows of its module
# a loop's body is written out twice at most: our loops have as many turns as a model has parameters, and LLVM's eight
# copies of functions and their leftovers cost more than the jumps that they save (decision 069)
UNROLLED = "-unroll-max-count=2"


def prepare(target_context: Any) -> None:
    """Have numba use `Library` for all that this process compiles and loads from now on."""
    rtsys.initialize(target_context)
    codegen = target_context.codegen()
    if codegen._library_class is not Library:
        llvm.set_option("", UNROLLED)
        codegen._library_class = Library
        codegen.set_env = _setter(codegen._engine, codegen.set_env)
        type(target_context).call_conv = property(Borrowing)


def _setter(engine: Any, otherwise: Callable[[str, Any], None]) -> Callable[[str, Any], None]:
    """codegen.set_env; does nothing for code without machine code, whose environment has no place yet."""

    def set_env(name: str, environment: Any) -> None:
        if engine.get_global_value_address(name):
            otherwise(name, environment)

    return set_env


class Borrowing(CPUCallConv):
    """How functions are called: the arrays that one is given are borrowed for as long as it runs, and not counted.

    numba counts a reference to each array wherever it is given a name, cut, or handed on, by two locked instructions
    which nothing is moved across. That was a seventh of the time of our kernels (decision 086). Whoever calls keeps the
    array meanwhile, as numba has it; only what a function returns has to be counted.
    """

    def decode_arguments(self, builder: Any, argtypes: Any, func: Any) -> Any:
        """The arguments as a function finds them."""
        found = super().decode_arguments(builder, argtypes, func)  # type: ignore[no-untyped-call]
        if _may_be_counted(func.args[0].type.pointee):
            return found
        return [
            builder.insert_value(value, ir.Constant(value.type.elements[0], None), 0)
            if isinstance(kind, types.Array)
            else value
            for kind, value in zip(argtypes, found, strict=True)
        ]


def _may_be_counted(result: Any) -> bool:
    """Whether a result of this type may be, or hold, an array."""
    inner = getattr(result, "elements", None) or ()
    return any(isinstance(one, ir.PointerType) or _may_be_counted(one) for one in inner)


class Library(JITCodeLibrary):
    """Code of one function and of what it calls.

    Of one that was loaded the intermediate code is read and parsed only when it is linked into another: 0.2 MB and 2 ms
    for each, and a service that has all its kernels in the disk cache compiles nothing.
    """

    # gives LLVM bitcode; None once it is parsed, or where this process compiled it
    _intermediate: Callable[[], bytes] | None = None
    _machine_code = False  # whether it is optimised and there is machine code

    def _optimize_final_module(self) -> None:
        """Called by `finalize` when all is linked: leave it as it is."""

    def _finalize_final_module(self) -> None:
        if self._machine_code:
            super()._finalize_final_module()  # type: ignore[no-untyped-call]
        else:
            self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
            self._finalized = True

    def _make_machine_code(self) -> None:
        self._machine_code = True
        self._shared_module = None  # others link the optimised code
        super()._optimize_final_module()  # type: ignore[no-untyped-call]
        self._final_module.verify()
        self._dynamic_globals.clear()
        self._finalize_final_module()
        for name in [one.name for one in self._final_module.global_variables if one.name.startswith(ENVIRONMENT)]:
            if (environment := lookup_environment(name)) is not None:  # type: ignore[no-untyped-call]
                cast(Any, self._codegen).set_env(name, environment)

    def get_pointer_to_function(self, name: str) -> int:
        """Address of a function of this code, 0 where it has none of this name."""
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        if self._intermediate is not None:
            return int(self._codegen._engine.get_function_address(name)) if self._machine_code else 0
        if not self._machine_code:
            if name not in {one.name for one in self._final_module.functions if not one.is_declaration}:
                return 0
            self._make_machine_code()
        return int(super().get_pointer_to_function(name))  # type: ignore[no-untyped-call]

    def serialize_using_object_code(self) -> tuple[str, str, Any]:
        """What is kept on disk: bitcode to be linked, and machine code where there is some."""
        if self._machine_code:
            return cast("tuple[str, str, Any]", super().serialize_using_object_code())  # type: ignore[no-untyped-call]
        return self.name, "bitcode", self._get_module_for_linking().as_bitcode()

    @classmethod
    def _unserialize(cls, codegen: Any, state: tuple[str, str, Any]) -> Any:
        name, kind, data = state
        self = codegen.create_library(name)
        if kind == "bitcode":
            self._intermediate, self._finalized = (lambda: data), True
        else:
            machine, bitcode = data
            self._intermediate, self._machine_code = (lambda: bitcode), True
            self.enable_object_caching()
            self._set_compiled_object(machine)
            self._finalize_final_module()
        return self

    def leave_on_disk(self, read: Callable[[], Any]) -> None:
        """Forget the intermediate code, which `read` gives again as it was kept: 3 MB of all kernels of a service."""
        if self._intermediate is not None:
            self._intermediate = lambda: _bitcode(read())

    def _get_module_for_linking(self) -> Any:
        if self._intermediate is not None:
            self._shared_module = llvm.parse_bitcode(self._intermediate())
            if self._machine_code:
                self._codegen._engine._load_defined_symbols(self._shared_module)  # type: ignore[no-untyped-call]
            self._intermediate = None
        return super()._get_module_for_linking()  # type: ignore[no-untyped-call]


def _bitcode(kept: tuple[str, str, Any]) -> bytes:
    """The intermediate code of what `Library.serialize_using_object_code` gave."""
    _, kind, data = kept
    return cast(bytes, data if kind == "bitcode" else data[1])


class Unpickler(pickle.Unpickler):
    """Loads a kernel without importing numba's modules whose functions are compiled into it.

    An environment holds the global names of such a module, for code that runs as Python objects, which no kernel does.
    numba imports the module for it, and with numba.np.arraymath comes scipy.linalg: 10 MB and 0.15 s.
    """

    def find_class(self, module: str, name: str) -> Any:
        """What a pickle names."""
        return _environment if name == "_rebuild_env" else super().find_class(module, name)


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """An environment of compiled code by its name, with no global names where numba's module is not loaded."""
    found = lookup_environment(name)  # type: ignore[no-untyped-call]
    if found is None:
        if module.partition(".")[0] == "numba":
            known = vars(sys.modules[module]) if module in sys.modules else {"__name__": module}
        else:
            known = vars(importlib.import_module(module))
        found = Environment(known)
        found.consts[:] = constants
        found.env_name = name
        Environment._memo[name] = found
    return found
