"""A project's own binding of the old guard, as the fixtures import it; on torch and on the shim alike."""

import torch


class Model:
    def forward(self, x):
        return x * 2


def load_model(path):
    return Model()


def register(operator, key):
    return lambda function: function


class AutoNonVariableTypeMode:
    """What a pybind11 binding gives: active from its construction, left by `with`, usable as a decorator."""

    def __init__(self, enabled=True):
        assert enabled
        self._guard = torch._C._AutoDispatchBelowAutograd()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._guard = None

    def __call__(self, function):
        self._guard = None

        def run(*arguments):
            with AutoNonVariableTypeMode():
                return function(*arguments)

        return run
