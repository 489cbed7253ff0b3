# What this project uses of simpleeval, which comes without types.
import ast
from collections.abc import Callable, Mapping

DEFAULT_OPERATORS: Mapping[type[ast.AST], Callable[..., object]]

class InvalidExpression(Exception): ...

def simple_eval(
    expr: str,
    operators: Mapping[type[ast.AST], Callable[..., object]] | None = None,
    functions: Mapping[str, Callable[..., object]] | None = None,
    names: Mapping[str, object] | None = None,
) -> object: ...
