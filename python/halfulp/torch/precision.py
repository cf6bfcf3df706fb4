# SPDX-License-Identifier: MIT
"""Every product of a part of a program under a recipe; nothing of a model is replaced (docs/torch/products.md)."""
import contextlib
import copyreg
import functools
import threading
import warnings
from bisect import bisect_right
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import torch
import torch.utils.checkpoint
from torch import Tensor, nn

from .. import _abi as abi
from . import _globs, ops
from ._calls import STEP
from ._globs import named, patterns
from ._stateful import Key, is_torch, own_key
from ._mixed import mixed, plain_of
from ._streams import from_torch, stream
from .products import Asked, Low, Lowering, guard
from .products.places import Names, Places
from .recipe import Attention, Recipe, RecipeLike
from .report import Report, Rows

Choice = Union[RecipeLike, Callable[[str, nn.Module], Optional[RecipeLike]]]
LEFT, INTEGERS = 'the recipe leaves it', 'integers'  # reasons that strict= takes
_SPANS = 1 << 17
_newest, _graph = torch._C._autograd._get_sequence_nr, torch._C._current_graph_task_id  # of autograd's nodes; of a backward pass


def chooser(recipe: Any) -> Callable[[str, nn.Module], Optional[Recipe]]:
    """A function of name and module from what may stand for one. (Types are called, too, but are formats.)"""
    if callable(recipe) and not isinstance(recipe, (type, Recipe)):
        def chosen(name: str, module: nn.Module) -> Optional[Recipe]:
            one = recipe(name, module)
            return None if one is None else Recipe.of(one)
        return chosen
    whole = None if recipe is None else Recipe.of(recipe)
    return lambda name, module: whole


class _Span(NamedTuple):
    """Whose autograd nodes have numbers from `first` on: for the backward pass."""
    first: int
    last: int
    place: str
    kind: str
    why: Optional[str]


class _Running(NamedTuple):
    """A call of one of torch's functions that multiplies: where, its module's type, and why it is torch's (None: it is
    not)."""
    place: str
    kind: str
    why: Optional[str]


def _named(error: abi.HalfulpError, place: str, kind: str) -> abi.HalfulpError:
    """The error of a product, with the module that makes it."""
    made = type(error)('{!r} ({}): {}'.format(place, kind or 'no module', error))
    made.status = error.status
    return made


class _Entered(Lowering):
    """One entry of a context, in one thread."""

    def __init__(self, owner: 'precision') -> None:
        super().__init__()
        self.owner, self.places = owner, Places(owner.names)
        self.now: Optional[_Running] = None
        self.viewed = False  # `whole_view` is entered
        self.guard = guard.guard(self.before, self.see, owner.met_compiler if owner.strict else None)

    # ---- above autograd: what is computed how ----

    def low(self, function: Any) -> Optional[Low]:
        recipe = self.places.chosen
        return None if recipe is None else Asked(recipe, self.owner.take, self.owner.attention)

    def meet(self, operator: Any) -> None:
        self.guard.meet(operator)

    def unseen(self) -> bool:
        return not self.viewed and guard.hidden(self.guard)

    @contextlib.contextmanager
    def whole_view(self) -> Iterator[None]:
        self.viewed = True
        try:
            with guard.Guard(self.before, self.see):
                yield
        finally:
            self.viewed = False

    def run(self, function: Any, made: Any, low: Low, args: Any, kwargs: Dict[str, Any]) -> Any:
        if torch.compiler.is_compiling():
            return made(low, *args, **kwargs)
        before, first = self._begin(None)
        try:
            return made(low, *args, **kwargs)
        except abi.HalfulpError as error:
            raise _named(error, self.places.name, self.places.kind) from None
        finally:
            self._end(before, first)

    def stays(self, function: Any, reason: Optional[str], args: Any, kwargs: Dict[str, Any]) -> Any:
        if torch.compiler.is_compiling():
            if self.owner.strict and reason not in (None, INTEGERS):
                raise abi.HalfulpValueError('precision: a product would run in torch: {}'.format(reason))
            return function(*args, **kwargs)
        before, first = self._begin(reason or LEFT)
        try:
            return function(*args, **kwargs)
        finally:
            self._end(before, first)

    def _begin(self, why: Optional[str]) -> Tuple[Optional[_Running], int]:
        """A call begins; what `_end` needs."""
        before = self.now
        self.now = _Running(self.places.name, self.places.kind, why)
        return before, _newest()

    def _end(self, before: Optional[_Running], first: int) -> None:
        last = _newest()
        if last > first and self.now is not None:
            self.owner.span(_Span(first, last, *self.now))
        self.now = before

    # ---- below autograd: what runs ----

    def _where(self) -> _Running:
        """What has called the operator that runs now."""
        if self.now is not None:
            return self.now
        if _graph() != -1:
            return self.owner.of_node(torch._C._current_autograd_node())
        return _Running(self.places.name, self.places.kind, LEFT if self.places.chosen is None else 'no rule')

    def before(self, operator: Any, args: Sequence[Any]) -> Sequence[Any]:
        if self.owner.count and operator._schema.name.startswith('halfulp::'):
            return tuple(args[:-1]) + (True,)
        return args

    def see(self, operator: Any, products: List[guard.Product], args: Sequence[Any], result: Any) -> Any:
        if not products:
            return result
        where, own = self._where(), products[0].text is not None
        why = None if own else INTEGERS if guard.exact(args) else where.why or 'its rule'
        if self.owner.strict and why not in (None, LEFT, INTEGERS):
            shapes = ' and '.join(str(tuple(x.shape)) for x in args if isinstance(x, Tensor))
            raise abi.HalfulpValueError(
                'precision: {!r} ({}): {} of {} runs in torch ({}); skip= names modules that may'.format(
                    where.place, where.kind or 'no module', operator._schema.name, shapes, why))
        self.owner.rows.add(where.place, where.kind, why, products, operator, args, result)
        if self.now is None and _graph() == -1:  # its node, if it has one, is the newest
            last = _newest()
            self.owner.span(_Span(last - 1, last, *where))
        return result

    # ---- the entry itself ----

    @contextlib.contextmanager
    def whole(self, running: Sequence[int] = ()) -> Iterator[None]:
        """The mode, its guard and its hooks."""
        self.places.enter()
        self.places.running.extend(running)
        try:
            with self.guard, self:
                yield
        finally:
            self.places.leave()


class precision:
    """Every product inside is computed under a recipe: the three products of layers, those of attention, of convolutions,
    of recurrent networks, of a module's own parameters, whatever function of torch they are made by. docs/torch/torch.md,
    section 5, says which they are and what holds for gradients, autocast, torch.compile and threads.

        with ht.precision('mxfp8_e4m3') as p:
            loss = model(x).sum()
            loss.backward()
        print(p.report())

    A context that can be entered again and inside others, in any thread; then the innermost holds. Called with a function
    it returns the function inside the context; called with a module, the module itself, each call of which is inside
    from then on (`release` ends that).

    Parameters
    ----------
    recipe : Recipe, a rounding, None, or a function of a module's name and the module
        As `convert` takes it; None, or None from the function, leaves products to torch.
    attention : Attention, optional
        How torch.nn.functional.scaled_dot_product_attention computes its parts. Without it both of its products are
        under the recipe, and nothing rounds the softmax.
    skip, only : str or sequence of str
        Names of modules, or globs ("*.attn"), whose products are left to torch, or the only ones that are not; with all
        that is inside. One that no module of `model` has is an error; without `model` a warning, behind the first time.
    strict : bool
        A product of floating-point numbers that torch would compute is an error, unless the recipe, `skip` or `only`
        leave it: HalfulpValueError names the module, the operator and the shapes.
    model : torch.nn.Module, optional
        Whose names modules have; without it those of the outermost module that is called.
    key : int or "torch"
        Of the random words: "torch", the default, lets each product draw a stream from torch's generator; with an integer
        product n of the context draws at counter n 2^36 of the stream (key, 0).
    count : bool
        Count events, for the report.
    measure : bool
        Measure signal-to-noise ratios, for the report. Each product is then computed a second time, without roundings.
    """

    def __init__(self, recipe: Choice, *, attention: Optional[Attention] = None, skip: Union[str, Sequence[str]] = (),
                 only: Union[str, Sequence[str], None] = None, strict: bool = False, model: Optional[nn.Module] = None,
                 key: Key = 'torch', count: bool = False, measure: bool = False) -> None:
        if attention is not None:
            abi.instance('attention', attention, Attention)
        if model is not None:
            abi.instance('model', model, nn.Module)
        self.recipe, self.attention, self.model = recipe, attention, model
        self.skip = patterns('skip', skip)
        self.only = None if only is None else patterns('only', only)
        self.strict, self.count = abi.flag('strict', strict), abi.flag('count', count)
        self.measure = abi.flag('measure', measure)
        self.stream = None if key is None or is_torch(key) else stream(own_key(key, True))
        self._begin()

    def _begin(self) -> None:
        self._choose = chooser(self.recipe)
        self.names, self.rows = Names(self.choose, self.model), Rows(self.count, self.measure)
        self._spans: List[_Span] = []
        self._firsts: List[int] = []  # their numbers
        self._entered = threading.local()
        self._traced = _Entered(self)
        self._told = False
        self._asked = self.skip + (self.only or []) + list(getattr(self.recipe, 'asked', ()))
        if self.model is not None:
            missing = _globs.missing(self._asked, self.names.of.values())
            if missing:
                raise abi.HalfulpValueError('precision: ' + _globs.no_module(missing, self.names.of.values()))

    def choose(self, name: str, module: Optional[nn.Module]) -> Optional[Recipe]:
        """The recipe of products that a module makes, or None."""
        if named(name, self.skip) or self.only is not None and not named(name, self.only):
            return None
        return self._choose(name, module)

    def take(self) -> Tensor:
        return from_torch() if self.stream is None else ops.advance_(self.stream, STEP)

    # ---- contexts ----

    def _stack(self) -> List[Tuple[_Entered, contextlib.ExitStack]]:
        if not hasattr(self._entered, 'stack'):
            self._entered.stack = []
        return self._entered.stack

    def _free(self) -> List[_Entered]:
        if not hasattr(self._entered, 'free'):
            self._entered.free = []
        return self._entered.free

    def __enter__(self) -> 'precision':
        free = self._free()  # torch.compile makes another graph for another mode
        entered, stack = free.pop() if free else _Entered(self), contextlib.ExitStack()
        stack.enter_context(entered.whole())
        self._stack().append((entered, stack))
        _ALL.entered.append(entered)
        return self

    def __exit__(self, *error: Any) -> None:
        entered, stack = self._stack().pop()
        _ALL.entered.remove(entered)
        stack.__exit__(*error)
        self._free().append(entered)
        if self._asked and self.names.of and error[:1] in ((), (None,)):
            self._tell_missing()

    def _tell_missing(self) -> None:
        """Of names that nothing has, once."""
        names = list(self.names.of.values())
        missing, self._asked = _globs.missing(self._asked, names), []
        if missing:
            warnings.warn('halfulp.torch.precision: ' + _globs.no_module(missing, names), stacklevel=3)

    def __call__(self, thing: Any) -> Any:
        if isinstance(thing, nn.Module):
            release(thing)
            thing.__dict__['_precision'] = self
            thing.__class__ = mixed(type(thing), Under)
            return thing
        if not callable(thing):
            raise abi.HalfulpTypeError('precision: {!r} is neither a function nor a module'.format(thing))

        @functools.wraps(thing)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return thing(*args, **kwargs)
        return inside

    def traced(self) -> Lowering:
        """What holds the place of the context inside of a graph that torch.compile makes."""
        if self.strict or self.skip or self.only is not None or callable(self.recipe) and not isinstance(
                self.recipe, (type, Recipe)):
            raise abi.HalfulpValueError('precision: torch.compile of a module that knows its precision takes one recipe for '
                                        'all of it; call the compiled model inside of `with ht.precision(...)`')
        return self._traced

    def met_compiler(self, whole: bool) -> None:
        """A function that torch.compile was to make a graph of has a product, and strict= holds."""
        if whole:
            raise abi.HalfulpValueError('precision: strict=True looks at every operator, so that compiled functions run in eager '
                                        'mode, which fullgraph=True forbids; leave one of the two away')
        if not self._told:
            self._told = True
            warnings.warn('halfulp.torch.precision: strict=True looks at every operator, so that functions of torch.compile run '
                          'in eager mode inside', stacklevel=3)

    # ---- what has run ----

    def report(self) -> Report:
        """What has run inside since the beginning, or since `reset`."""
        return self.rows.report()

    def reset(self) -> None:
        """Nothing has run."""
        self.rows = Rows(self.count, self.measure)

    def span(self, one: _Span) -> None:
        if len(self._spans) >= _SPANS:
            del self._spans[:_SPANS // 2], self._firsts[:_SPANS // 2]
        self._spans.append(one)
        self._firsts.append(one.first)

    def of_node(self, node: Any) -> _Running:
        """Whose products an autograd node makes."""
        number = node._sequence_nr() if node is not None else -1
        at = bisect_right(self._firsts, number) - 1
        while at >= 0 and at > len(self._spans) - _SPANS:
            one = self._spans[at]
            if one.first <= number < one.last:
                return _Running(one.place, one.kind, one.why)
            if one.last <= number:
                break
            at -= 1
        return _Running('', '', 'no rule')

    # ---- copies ----

    def __getstate__(self) -> Dict[str, Any]:
        kept = ('recipe', 'attention', 'model', 'skip', 'only', 'strict', 'count', 'measure', 'stream')
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def __repr__(self) -> str:
        return 'precision({})'.format('a function' if callable(self.recipe) and not isinstance(self.recipe, (type, Recipe))
                                      else self.recipe if self.recipe is None else Recipe.of(self.recipe))


class _All(threading.local):
    """What is entered in this thread, the innermost last."""

    def __init__(self) -> None:
        self.entered: List[_Entered] = []


_ALL = _All()


# ---- modules that are inside whenever they are called ----

class Under:
    """What a module's class is mixed with."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self._precision.traced() if torch.compiler.is_compiling() else self._precision:
            return super().__call__(*args, **kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _made_again, (plain_of(type(self)),), self.__getstate__() if hasattr(self, '__getstate__') else self.__dict__


def _made_again(plain: type) -> Any:
    return copyreg.__newobj__(mixed(plain, Under))


def release(model: nn.Module) -> nn.Module:
    """A module that a `precision` was called with, as it was before; others as they are."""
    if isinstance(model, Under):
        model.__class__ = plain_of(type(model))
        del model.__dict__['_precision']
    return model


# ---- activation checkpointing ----

def _repeated(function: Any) -> Any:
    """A function that torch.utils.checkpoint calls a second time, in the backward pass: inside the same contexts."""
    entered = list(_ALL.entered)
    if not entered:
        return function
    running = [list(one.places.running) for one in entered]

    @functools.wraps(function)
    def again(*args: Any, **kwargs: Any) -> Any:
        with contextlib.ExitStack() as stack:
            if not any(one in _ALL.entered for one in entered):
                for one, modules in zip(entered, running):
                    fresh = _Entered(one.owner)
                    stack.enter_context(fresh.whole(modules))
                    _ALL.entered.append(fresh)
                    stack.callback(_ALL.entered.remove, fresh)
            elif torch._C._current_graph_task_id() != -1:
                for one, modules in zip(entered, running):
                    before = one.places.running
                    one.places.running = list(modules)
                    stack.callback(setattr, one.places, 'running', before)
            return function(*args, **kwargs)
    return again


def _through(call: Any) -> Any:
    @functools.wraps(call)
    def passed(function: Any, *args: Any, **kwargs: Any) -> Any:
        return call(_repeated(function), *args, **kwargs)
    return passed


# torch.utils.checkpoint has no public place for that: the two functions that call another one twice are given another function.
_ways = torch.utils.checkpoint
_NAME = next(name for name in ('_checkpoint_without_reentrant_generator_impl', '_checkpoint_without_reentrant_generator')
             if hasattr(_ways, name))
setattr(_ways, _NAME, _through(getattr(_ways, _NAME)))
_ways.CheckpointFunction.apply = staticmethod(_through(_ways.CheckpointFunction.apply))
