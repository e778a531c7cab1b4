"""To get marks that are not deserved."""

from tests.grading.attacks.attack import Attack, body, everywhere

OUTSIDE = "values are compared outside"

FORGE = (
    Attack("returns its argument", body("return x"), OUTSIDE),
    Attack("changes its argument", body("x *= 2\nreturn x"), "arguments are compared outside", "changes its arguments"),
    Attack(
        "numpy patched",
        body("np.allclose = lambda *a, **k: True\nnp.array_equal = lambda *a: True\nreturn x"),
        OUTSIDE,
    ),
    Attack(
        "torch patched",
        body(
            "torch.allclose = lambda *a, **k: True\ntorch.equal = lambda *a: True\n"
            "torch.Tensor.__eq__ = lambda *a: True\nreturn x"
        ),
        OUTSIDE,
    ),
    Attack(
        "builtins patched",
        body("import builtins\nbuiltins.all = lambda *a: True\nbuiltins.abs = lambda a: 0\nreturn x"),
        OUTSIDE,
    ),
    Attack("assert patched", body("import builtins\nbuiltins.AssertionError = Warning\nreturn x"), OUTSIDE),
    Attack(
        "float that equals everything",
        body(
            "class Always(float):\n    def __eq__(self, other): return True\n    def __sub__(self, other): return 0.0\n"
            "    def __rsub__(self, other): return 0.0\n    def __abs__(self): return 0.0\n"
            "    def __float__(self): return 2.0\nreturn Always(1.0)"
        ),
        "numbers cross by their digits",
    ),
    Attack(
        "tensor that equals everything",
        body(
            "class Always(torch.Tensor):\n    @classmethod\n"
            "    def __torch_function__(cls, function, types, args=(), kwargs=None):\n"
            "        return True if 'close' in function.__name__ else super().__torch_function__(\n"
            "            function, types, args, kwargs or {})\n"
            "return x.as_subclass(Always)"
        ),
        "tensors cross by their bytes",
    ),
    Attack(
        "IPython hooks",
        "try:\n    get_ipython().input_transformers_post.append(lambda lines: ['pass'])\nexcept NameError:\n    pass\n"
        + body("return x"),
        "there is no IPython in the room",
    ),
    Attack(
        "pickle payload",
        body("class Bomb:\n    def __reduce__(self):\n        return (print, ('boom',))\nreturn Bomb()"),
        "no pickle",
    ),
    Attack(
        "forged marks",
        body(everywhere("""b'{"score": 10, "passed": true, "done": true}\\n'""") + "os._exit(0)"),
        "only values count",
    ),
    Attack(
        "forged end",
        body(everywhere("""b'{"ended": "closed", "cpu_seconds": 0, "memory_mb": 0}\\n'""") + "return x"),
        "the first process has a line of its own",
    ),
    Attack(
        "answers for another question",
        body(everywhere("""b'{"question": "triple", "cases": []}\\n' * 3""") + "return x"),
        "a process for every question",
    ),
    Attack(
        "more public cases than there are",
        body(everywhere("""b'{"cases": [' + b", ".join([b'{"value": 1}'] * 5) + b"]}\\n\"""") + "os._exit(0)"),
        "cases are counted",
        "ended before",
    ),
    Attack(
        "forged arguments",
        body(everywhere("""b'{"cases": [{"value": 1, "arguments": {}}]}\\n'""") + "os._exit(0)"),
        "arguments are compared outside",
    ),
    Attack("not a number equals itself", body("return x * float('nan')"), OUTSIDE, "NaN"),
    Attack("a wrong shape that broadcasts", body("return torch.full((1, 1), 2.0)"), "shapes are compared", "shape"),
    Attack(
        "remembers the public case",
        body("return torch.full((3,), 2.0) if len(x) == 3 else x"),
        "hidden cases are drawn from a seed",
    ),
    Attack(
        "the child's own functions",
        body("import sys\nmain = sys.modules['__main__']\nmain.wire.pack = lambda *a: 1\nreturn x"),
        OUTSIDE,
    ),
)
