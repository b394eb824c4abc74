"""The small errors that a person could make in one file: each a piece of its text that is replaced by another.

What a reader does not take for behaviour is left alone: texts, annotations, imports, decorators, assertions, messages.
"""

import ast
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

Edit = tuple[int, int, bytes]  # from this byte to that, and what is put there

BOUNDARY: Final = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
NEGATED: Final = {
    **{ast.Lt: ">=", ast.GtE: "<", ast.Gt: "<=", ast.LtE: ">", ast.Eq: "!=", ast.NotEq: "=="},
    **{ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"},
}
COMPARED: Final = {
    **{ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="},
    **{ast.Is: "is", ast.IsNot: r"is\s+not", ast.In: "in", ast.NotIn: r"not\s+in"},
}
ARITHMETIC: Final = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*")}
EXTREMES: Final = {
    one: other
    for pair in (("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("fmin", "fmax"), ("nanmin", "nanmax"))
    for one, other in (pair, pair[::-1])
}
ABSOLUTE: Final = frozenset({"abs", "fabs", "absolute"})
SYMMETRIC: Final = frozenset(  # calls whose first two arguments may change places, or whose change fails at once
    {*EXTREMES, "hypot", "gcd", "isclose", "allclose", "array_equal", "isinstance", "issubclass", "cast", "dot", "vdot"}
)
MESSAGES: Final = frozenset({"log", "logger", "logging", "warnings", "warn", "print"})
LARGE: Final = 100.0  # one more than such a number is nearly the same
SEQUENCES: Final = (ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple)  # `+` joins them, `*` repeats them
MAKES_ONE: Final = frozenset(
    {"join", "encode", "decode", "pack", "to_bytes", "tobytes", "str", "bytes", "list", "tuple"}
)


class Mutant(NamedTuple):
    """One error in one file."""

    file: str
    line: int
    column: int  # in bytes
    kind: str
    before: str  # the lines that it changes, on one line, without what is the same in front
    after: str
    edits: tuple[Edit, ...]
    lines: tuple[int, int]  # what a test must run to meet it
    names: tuple[str, ...]  # bound by its statement, where the module runs it once for all

    @property
    def place(self) -> str:
        """Where it is and what it does."""
        return f"{self.file}:{self.line}  {self.before}  →  {self.after}"

    def applied(self, text: bytes) -> bytes:
        """The file's text with the error."""
        for begin, end, new in sorted(self.edits, reverse=True):
            text = text[:begin] + new + text[end:]
        return text

    def is_one(self, text: bytes) -> bool:
        """Whether what it makes of the file is Python, and something else."""
        try:
            return ast.dump(ast.parse(self.applied(text))) != ast.dump(ast.parse(text))
        except (SyntaxError, ValueError):
            return False


def mutants(file: str, text: bytes) -> list[Mutant]:
    """Every error of the file, in the order of its text; a few of them are none, see Mutant.is_one."""
    return _Reader(file, text).read()


def squeezed(text: bytes) -> str:
    """On one line, without comments, which stand after two blanks."""
    return " ".join(" ".join(line.partition("  # ")[0] for line in text.decode().splitlines()).split())


class _Scope(NamedTuple):
    """Where a statement stands."""

    lines: tuple[int, int]
    names: tuple[str, ...]


class _Reader:
    """Goes through one file."""

    def __init__(self, file: str, text: bytes) -> None:
        self._file, self._text = file, text
        self._tree = ast.parse(text)
        self._starts = [0]
        for line in text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._found: dict[tuple[Edit, ...], Mutant] = {}

    def read(self) -> list[Mutant]:
        self._block(self._tree.body, ())
        return sorted(self._found.values(), key=lambda one: (one.line, one.column, one.kind, one.after))

    # which statements

    def _block(self, body: list[ast.stmt], names: tuple[str, ...] | None) -> None:
        """`names`: of what encloses these where they run with the module, None within a function."""
        for statement in body:
            if _ignored(statement):
                continue
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                inside = _Scope((statement.body[0].lineno, statement.end_lineno or statement.lineno), ())
                for default in (*statement.args.defaults, *filter(None, statement.args.kw_defaults)):
                    self._expression(default, inside)
                self._block(statement.body, None)
            elif isinstance(statement, ast.ClassDef):
                inner = None if names is None else (*names, statement.name)
                for keyword in statement.keywords:
                    self._expression(keyword.value, _Scope(_header(statement), inner or ()))
                self._block(statement.body, inner)
            else:
                self._statement(
                    statement, _Scope(_header(statement), () if names is None else (*names, *_bound(statement)))
                )
                for inside_it in _bodies(statement):
                    self._block(inside_it, names)

    def _statement(self, statement: ast.stmt, scope: _Scope) -> None:
        self._dropped(statement, scope)
        if isinstance(statement, ast.Raise):
            return
        if isinstance(statement, ast.AugAssign) and type(statement.op) in ARITHMETIC:
            old, new = ARITHMETIC[type(statement.op)]
            self._between(
                statement, f"{old}=", re.escape(f"{old}="), f"{new}=", statement.target, statement.value, scope
            )
        for part in _expressions(statement):
            self._expression(part, scope)

    def _dropped(self, statement: ast.stmt, scope: _Scope) -> None:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        if (
            any(isinstance(target, ast.Attribute | ast.Subscript) for target in targets)
            or isinstance(statement, ast.AugAssign | ast.Raise)
            or (isinstance(statement, ast.Expr) and isinstance(_awaited(statement.value), ast.Call))
        ):
            self._replaced(statement, "statement dropped", statement, "pass", scope)
        if isinstance(statement, ast.Continue):
            self._replaced(statement, "continue: break", statement, "break", scope)
        if isinstance(statement, ast.Break):
            self._replaced(statement, "break: continue", statement, "continue", scope)

    # which expressions

    def _expression(self, node: ast.AST, scope: _Scope, negative: bool = False) -> None:
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Call) and _message(node)):
            return
        if isinstance(node, ast.Constant):
            self._constant(node, scope, negative)
        elif isinstance(node, ast.Compare):
            self._compare(node, scope)
        elif isinstance(node, ast.BoolOp):
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in zip(node.values, node.values[1:], strict=False):
                self._between(node, f"{old}: {new}", rf"\b{old}\b", new, left, right, scope)
        elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not _joins(node):
            old, new = ARITHMETIC[type(node.op)]
            self._between(node, f"{old}: {new}", re.escape(old), new, node.left, node.right, scope)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            begin, token = self._span(node)[0], "not" if isinstance(node.op, ast.Not) else "-"
            self._add(node, f"{token} dropped", ((begin, self._after(begin, token), b""),), scope)
        elif isinstance(node, ast.IfExp):
            self._swapped(node, "branches swapped", node.body, node.orelse, scope)
        elif isinstance(node, ast.Call):
            self._call(node, scope)
        elif isinstance(node, ast.Subscript):
            self._index(node, scope)
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr_context | ast.operator | ast.cmpop | ast.unaryop | ast.boolop):
                minus = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
                self._expression(child, scope, minus)

    def _constant(self, node: ast.Constant, scope: _Scope, negative: bool) -> None:
        value = node.value
        if isinstance(value, bool):
            self._replaced(node, f"{value}: {not value}", node, str(not value), scope)
        elif isinstance(value, int | float):
            others = {"n + 1": value + 1} if abs(value) < LARGE else {}
            if value not in (0, 1):
                others["2 n"] = value * 2
            if value != 0 and not negative:
                others["-n"] = -value
            is_hex = self._text[self._span(node)[0] :][:2].lower() == b"0x"
            for kind, other in others.items():
                self._replaced(node, kind, node, hex(int(other)) if is_hex else repr(other), scope)

    def _compare(self, node: ast.Compare, scope: _Scope) -> None:
        terms = [node.left, *node.comparators]
        for left, right, operator in zip(terms, terms[1:], node.ops, strict=False):
            kind = type(operator)
            old = COMPARED[kind]
            word = old if not old[0].isalpha() else rf"\b{old}\b"
            for new in (BOUNDARY.get(kind), NEGATED[kind]):
                if new is not None:
                    self._between(node, f"{old}: {new}".replace(r"\s+", " "), word, new, left, right, scope)

    def _call(self, node: ast.Call, scope: _Scope) -> None:
        name = _last_name(node.func)
        if name in EXTREMES:
            end = self._span(node.func)[1]
            edit = (end - len(name), end, EXTREMES[name].encode())
            self._add(node.func, f"{name}: {EXTREMES[name]}", (edit,), scope)
        if name in ABSOLUTE and len(node.args) == 1 and not node.keywords:
            begin, end = self._span(node.func)
            self._add(node, "absolute value dropped", ((begin, end, b""),), scope)
        if name not in SYMMETRIC and len(node.args) > 1:
            first, second = node.args[:2]
            if _may_change_places(first) and _may_change_places(second):
                self._swapped(node, "arguments swapped", first, second, scope)

    def _index(self, node: ast.Subscript, scope: _Scope) -> None:
        at = node.slice
        if isinstance(at, ast.Constant) and at.value == 0 and type(at.value) is int:
            self._replaced(at, "first: last", at, "-1", scope)
        if isinstance(at, ast.UnaryOp) and isinstance(at.op, ast.USub) and _is(at.operand, 1):
            self._replaced(at, "last: first", at, "0", scope)
        bounds = [one for one in (at.elts if isinstance(at, ast.Tuple) else [at]) if isinstance(one, ast.Slice)]
        for bound in [part for one in bounds for part in (one.lower, one.upper) if part is not None]:
            if not isinstance(bound, ast.Constant):
                for more in ("+ 1", "- 1"):
                    begin, end = self._span(bound)
                    plain = isinstance(bound, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
                    new = self._text[begin:end] if plain else b"(" + self._text[begin:end] + b")"
                    self._add(bound, f"bound {more}", ((begin, end, new + f" {more}".encode()),), scope)

    # how the text changes

    def _offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def _span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.expr | ast.stmt)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def _after(self, begin: int, token: str) -> int:
        """The place after a token and the blanks that follow it."""
        end = begin + len(token)
        while self._text[end : end + 1] == b" ":
            end += 1
        return end

    def _replaced(self, node: ast.AST, kind: str, what: ast.AST, new: str, scope: _Scope) -> None:
        begin, end = self._span(what)
        self._add(node, kind, ((begin, end, new.encode()),), scope)

    def _between(
        self, node: ast.AST, kind: str, old: str, new: str, left: ast.AST, right: ast.AST, scope: _Scope
    ) -> None:
        """An operator, which has no place of its own in the tree."""
        begin, end = self._span(left)[1], self._span(right)[0]
        found = re.search(old.encode(), self._text[begin:end])
        if found:
            self._add(node, kind, ((begin + found.start(), begin + found.end(), new.encode()),), scope)

    def _swapped(self, node: ast.AST, kind: str, first: ast.AST, second: ast.AST, scope: _Scope) -> None:
        one, other = self._span(first), self._span(second)
        texts = self._text[slice(*one)], self._text[slice(*other)]
        if texts[0] != texts[1]:
            wrapped = [b"(" + text + b")" if isinstance(part, ast.IfExp | ast.Lambda) else text
                       for text, part in zip(texts, (first, second), strict=True)]  # fmt: skip
            self._add(node, kind, ((*one, wrapped[1]), (*other, wrapped[0])), scope)

    def _add(self, node: ast.AST, kind: str, edits: tuple[Edit, ...], scope: _Scope) -> None:
        begin, end = min(one[0] for one in edits), max(one[1] for one in edits)
        line = self._text.count(b"\n", 0, begin) + 1
        bare = Mutant(self._file, line, begin - self._starts[line - 1], kind, "", "", edits, *scope)
        changed = bare.applied(self._text)
        top, bottom = self._starts[line - 1], self._text.find(b"\n", end)
        bottom = len(self._text) if bottom < 0 else bottom
        longer = len(changed) - len(self._text)
        before, after = (squeezed(part) for part in (self._text[top:bottom], changed[top : bottom + longer]))
        self._found.setdefault(edits, bare._replace(before=before, after=after))


def _ignored(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.Assert | ast.Global | ast.Nonlocal | ast.Pass):
        return True
    if isinstance(statement, ast.If):
        words = {node.id for node in ast.walk(statement.test) if isinstance(node, ast.Name)}
        words |= {node.attr for node in ast.walk(statement.test) if isinstance(node, ast.Attribute)}
        return bool(words & {"TYPE_CHECKING", "__name__"})
    if isinstance(statement, ast.Expr):
        value = _awaited(statement.value)
        return isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and _message(value))
    return "__all__" in _bound(statement) or _numbers_names(statement)


def _bound(statement: ast.stmt) -> tuple[str, ...]:
    """The names that an assignment gives a meaning."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    return tuple(node.id for one in targets for node in ast.walk(one) if isinstance(node, ast.Name))


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        if isinstance(body := getattr(statement, name, None), list):
            yield body
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def _header(statement: ast.stmt) -> tuple[int, int]:
    """The lines of a statement without those that it encloses."""
    inside = [body[0].lineno for body in _bodies(statement) if body]
    last = statement.end_lineno or statement.lineno
    return statement.lineno, max(statement.lineno, min([last, *(line - 1 for line in inside)]))


def _expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """A statement's own expressions, annotations left out."""
    for name, value in ast.iter_fields(statement):
        if name in ("annotation", "decorator_list", "returns", "msg"):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.expr):
                yield part
            elif isinstance(part, ast.withitem):
                yield part.context_expr
            elif isinstance(part, ast.match_case):
                yield part.pattern
                if part.guard is not None:
                    yield part.guard


def _awaited(value: ast.expr) -> ast.expr:
    return value.value if isinstance(value, ast.Await) else value


def _message(call: ast.Call) -> bool:
    root: ast.expr = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id in MESSAGES


def _joins(node: ast.BinOp) -> bool:
    """Whether it is a text or a list that is made longer: anything else would fail at once."""
    return any(
        isinstance(part, SEQUENCES)
        or (isinstance(part, ast.Constant) and isinstance(part.value, str | bytes))
        or (isinstance(part, ast.Call) and _last_name(part.func) in MAKES_ONE)
        for part in (node.left, node.right)
    )


def _numbers_names(statement: ast.stmt) -> bool:
    """`A, B = range(2)`: another number would fail at once."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return False
    return isinstance(statement.targets[0], ast.Tuple) and _last_name(statement.value.func) == "range"


def _may_change_places(argument: ast.expr) -> bool:
    """A variable; a type or a constant of NumPy would fail at once."""
    if isinstance(argument, ast.Attribute):
        return not (isinstance(argument.value, ast.Name) and argument.value.id == "np")
    return isinstance(argument, ast.Name)


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""


def _is(node: ast.expr, value: int) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == value
