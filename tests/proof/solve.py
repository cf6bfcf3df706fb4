# SPDX-License-Identifier: MIT
"""Asks solvers whether assertions can hold together: bitwuzla by its library, z3 and cvc5 from the text in SMT-LIB.

    answer = ask([less(x, 3), less(5, x)])          # Answer('unsat', None, 0.01, 'bitwuzla')
    answer = ask(assertions, 'z3', limit=600)       # 'unknown' after so many seconds

Each question is asked in a process of its own, whose processor seconds are the answer's time. A model is a number for each
variable; functions of which nothing is known have none in it."""
import importlib.util
import multiprocessing
import os
import resource
import time
from collections import namedtuple

import terms as t

Answer = namedtuple('Answer', 'says model seconds solver')
SOLVERS = ('bitwuzla', 'z3', 'cvc5')


def there(solver):
    """Whether a solver's library is installed."""
    return importlib.util.find_spec(solver) is not None


def version(solver):
    module = importlib.import_module(solver)
    if solver == 'z3':
        return module.get_version_string()
    if solver == 'cvc5':
        return module.__version__
    v = module.version
    return v() if callable(v) else v


# ---- bitwuzla ----

def _kinds(bitwuzla):
    kind, plain = bitwuzla.Kind, {}
    for op in ('add', 'sub', 'mul', 'and', 'or', 'xor', 'shl', 'ashr', 'udiv', 'urem', 'sdiv', 'srem', 'ult', 'ule', 'slt', 'sle'):
        plain[f'bv{op}'] = getattr(kind, f'BV_{op.upper()}')
    plain['bvlshr'] = kind.BV_SHR
    plain.update({'=': kind.EQUAL, 'not': kind.NOT, 'and': kind.AND, 'or': kind.OR, 'ite': kind.ITE, 'concat': kind.BV_CONCAT,
                  'extract': kind.BV_EXTRACT, 'sign_extend': kind.BV_SIGN_EXTEND, 'float_of_bits': kind.FP_TO_FP_FROM_BV,
                  'float_of_signed': kind.FP_TO_FP_FROM_SBV, 'float_of_unsigned': kind.FP_TO_FP_FROM_UBV,
                  'to_signed': kind.FP_TO_SBV, 'to_unsigned': kind.FP_TO_UBV, 'fp.add': kind.FP_ADD, 'fp.sub': kind.FP_SUB,
                  'fp.mul': kind.FP_MUL, 'fp.div': kind.FP_DIV, 'fp.fma': kind.FP_FMA, 'fp.sqrt': kind.FP_SQRT,
                  'fp.lt': kind.FP_LT, 'fp.leq': kind.FP_LEQ, 'fp.eq': kind.FP_EQUAL, 'fp.isNaN': kind.FP_IS_NAN,
                  'fp.isInfinite': kind.FP_IS_INF, 'fp.isZero': kind.FP_IS_ZERO, 'fp.neg': kind.FP_NEG, 'fp.abs': kind.FP_ABS,
                  'fp.roundToIntegral': kind.FP_RTI})
    return plain


class _Bitwuzla:
    """Terms as bitwuzla's, each once."""
    NUMBERS = {'extract': list, 'sign_extend': lambda n: [n], 'to_signed': lambda n: [n], 'to_unsigned': lambda n: [n]}
    TO_FLOAT = ('float_of_bits', 'float_of_signed', 'float_of_unsigned')

    def __init__(self):
        import bitwuzla
        self.b = bitwuzla
        self.tm = bitwuzla.TermManager()
        self.kinds = _kinds(bitwuzla)
        self.variables, self.functions, self.side = {}, {}, []

    def sort(self, sort):
        if sort == t.BOOL:
            return self.tm.mk_bool_sort()
        if sort == t.MODE:
            return self.tm.mk_rm_sort()
        return self.tm.mk_bv_sort(sort) if isinstance(sort, int) else self.tm.mk_fp_sort(sort[1], sort[2])

    def constant(self, x):
        if x.sort == t.BOOL:
            return self.tm.mk_true() if x.data else self.tm.mk_false()
        if x.sort == t.MODE:
            return self.tm.mk_rm_value(getattr(self.b.RoundingMode, x.data))
        if isinstance(x.sort, tuple):
            return self.tm.mk_term(self.b.Kind.FP_TO_FP_FROM_BV, [self.tm.mk_bv_value(self.sort(sum(x.sort[1:])), x.data)],
                                   list(x.sort[1:]))
        return self.tm.mk_bv_value(self.sort(x.sort), x.data)

    def function(self, x, args):
        if x.data not in self.functions:
            sort = self.tm.mk_fun_sort([self.sort(a.sort) for a in x.args], self.sort(x.sort))
            self.functions[x.data] = self.tm.mk_const(sort, x.data)
        return self.tm.mk_term(self.b.Kind.APPLY, [self.functions[x.data]] + args)

    def one(self, x, args):
        if x.op == 'constant':
            return self.constant(x)
        if x.op == 'variable':
            self.variables[x.data] = (self.tm.mk_const(self.sort(x.sort), x.data), x.sort)
            return self.variables[x.data][0]
        if x.op == 'applied':
            return self.function(x, args)
        if x.op == 'float_bits':
            bits = self.tm.mk_const(self.sort(x.sort))
            back = self.tm.mk_term(self.b.Kind.FP_TO_FP_FROM_BV, [bits], list(x.args[0].sort[1:]))
            self.side.append(self.tm.mk_term(self.b.Kind.EQUAL, [back, args[0]]))
            return bits
        numbers = list(x.sort[1:]) if x.op in self.TO_FLOAT else self.NUMBERS[x.op](x.data) if x.op in self.NUMBERS else []
        return self.tm.mk_term(self.kinds[x.op], args, numbers)

    def all(self, roots):
        got = {}
        for x in t.in_order(roots):
            got[id(x)] = self.one(x, [got[id(a)] for a in x.args])
        return [got[id(r)] for r in roots]


def _by_bitwuzla(assertions):
    made = _Bitwuzla()
    options = made.b.Options()
    options.set(made.b.Option.PRODUCE_MODELS, True)
    solver = made.b.Bitwuzla(made.tm, options)
    for a in made.all(assertions):
        solver.assert_formula(a)
    for a in made.side:
        solver.assert_formula(a)
    says = {made.b.Result.SAT: 'sat', made.b.Result.UNSAT: 'unsat'}.get(solver.check_sat(), 'unknown')
    if says != 'sat':
        return says, None
    model = {}
    for name, (x, sort) in made.variables.items():
        value = solver.get_value(x)
        text = value.value(2) if isinstance(sort, int) else str(value)
        model[name] = int(text, 2) if isinstance(sort, int) else int(text == 'true') if sort == t.BOOL else text
    return says, model


# ---- by text ----

def _by_z3(assertions):
    import z3
    solver = z3.SolverFor('QF_UFBV') if 'QF_UFBV)' in t.smtlib(assertions)[:30] else z3.Solver()
    solver.from_string(t.smtlib(assertions).replace('(check-sat)\n', ''))
    says = str(solver.check())
    if says != 'sat':
        return says, None
    found = solver.model()
    model = {}
    for d in found.decls():
        if d.arity() == 0:
            value = found[d]
            model[d.name()] = value.as_long() if z3.is_bv_value(value) else int(z3.is_true(value)) if z3.is_bool(value) else str(value)
    return says, model


def _by_cvc5(assertions):
    import cvc5
    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, t.smtlib(assertions), 'query')
    says = 'unknown'
    while True:
        command = parser.nextCommand()
        if command.isNull():
            break
        out = str(command.invoke(solver, parser.getSymbolManager())).strip()
        if out in ('sat', 'unsat', 'unknown'):
            says = out
        elif out.startswith('(error'):
            raise RuntimeError(out)
    return says, None


WAYS = {'bitwuzla': _by_bitwuzla, 'z3': _by_z3, 'cvc5': _by_cvc5}


def _child(pipe, solver, assertions):
    before = time.process_time()
    try:
        out = WAYS[solver](assertions)
    except Exception as e:  # said by the process that waits
        out = (f'{type(e).__name__}: {e}', None)
    pipe.send(out + (time.process_time() - before,))
    pipe.close()


def ask(assertions, solver='bitwuzla', limit=None):
    """sat (with a model), unsat or unknown."""
    context = multiprocessing.get_context('fork')
    mine, other = context.Pipe(False)
    child = context.Process(target=_child, args=(other, solver, list(assertions)))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    child.start()
    other.close()
    try:
        if not mine.poll(limit):
            child.terminate()
            child.join()
            now = resource.getrusage(resource.RUSAGE_CHILDREN)
            return Answer('unknown', None, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime, solver)
        says, model, seconds = mine.recv()
    except EOFError:
        child.join()
        raise RuntimeError(f'{solver} ended with {child.exitcode}') from None
    finally:
        mine.close()
    child.join()
    if says not in ('sat', 'unsat', 'unknown'):
        raise RuntimeError(f'{solver}: {says}')
    return Answer(says, model, seconds, solver)


def processors():
    """How many questions may be asked side by side by default."""
    return len(os.sched_getaffinity(0))
