"""The loader of batches, in this process or with the help of others."""

from __future__ import annotations

import itertools
import random
import re
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from ...aten.random_numbers import drawn_seed
from ...core.function_table import FUNCTIONS
from ...core.tensor import Tensor
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

_FORMAT = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
_TEXT = re.compile("[SaUO]")


def default_collate(batch: Any) -> Any:
    """A list of samples as one batch: tensors are stacked, numbers become tensors, containers keep their form.

    TypeError for what no tensor can be made of.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return FUNCTIONS["stack"](batch, 0)
    if isinstance(first, np.ndarray):
        if _TEXT.search(first.dtype.str):
            raise TypeError(_FORMAT.format(first.dtype))
        return FUNCTIONS["stack"]([FUNCTIONS["as_tensor"](sample) for sample in batch], 0)
    if isinstance(first, np.generic) and not isinstance(first, np.str_ | np.bytes_):
        return FUNCTIONS["as_tensor"](np.array(batch))
    if isinstance(first, float):
        return FUNCTIONS["tensor"](batch, dtype=_double())
    if isinstance(first, int):
        return FUNCTIONS["tensor"](batch)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        made = {key: default_collate([sample[key] for sample in batch]) for key in first}
        return _like(first, made)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(samples) for samples in zip(*batch, strict=True)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        found = [default_collate(samples) for samples in zip(*batch, strict=True)]
        return found if isinstance(first, tuple) else _like(first, found)
    raise TypeError(_FORMAT.format(type(first)))


def default_convert(data: object) -> Any:
    """One sample with its arrays as tensors: what a loader without batches gives."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, np.ndarray | np.generic) and not isinstance(data, np.str_ | np.bytes_):
        return data if _TEXT.search(data.dtype.str) else FUNCTIONS["as_tensor"](data)
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _like(data, [default_convert(value) for value in data])
    return data


def _like(container: Any, made: Any) -> Any:
    """`made` in the container's own type, if that can be built of it."""
    try:
        return type(container)(made)
    except TypeError:
        return made


def _double() -> object:
    from ...core import dtypes

    return dtypes.float64


T_co = TypeVar("T_co", covariant=True)


@dataclass
class WorkerInfo:
    """What a data set can know of the worker process that it is in."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """The worker that this process is; None outside of workers."""
    return _worker_info


class _Forever(Sampler[None]):
    """The sampler of an iterable data set: it alone knows when it ends."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[T_co]):
    """Batches of a data set, in the order of a sampler. With `num_workers`, forked processes make them."""

    dataset: Any

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing."
                "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
            )
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.dataset, self.num_workers, self.pin_memory, self.timeout = dataset, num_workers, pin_memory, timeout
        self.pin_memory_device, self.worker_init_fn, self.generator = pin_memory_device, worker_init_fn, generator
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.persistent_workers, self.in_order = persistent_workers, in_order
        self.multiprocessing_context = multiprocessing_context
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            if shuffle:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}"
                )
            for name, given in (("sampler", sampler), ("batch_sampler", batch_sampler)):
                if given is not None:
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={given}"
                    )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if self._iterable:
                sampler = _Forever()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler, self.batch_sampler = (
            batch_size,
            drop_last,
            sampler,
            batch_sampler,
        )
        self._batches = batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if self._batches else default_convert)

    def __len__(self) -> int:
        if not self._iterable:
            return len(self.batch_sampler if self._batches else self.sampler)
        length = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        seed = drawn_seed(self.generator)
        indices = iter(self.batch_sampler if self._batches else self.sampler)
        if self.num_workers == 0:
            return _in_this_process(_Fetcher(self), indices)
        return _with_workers(self, indices, seed)


class _Fetcher:
    """Makes batches of the data set's samples."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self.loader = loader
        self.samples = iter(loader.dataset) if loader._iterable else None
        self.ended = False

    def fetch(self, index: Tensor) -> Any:
        """The batch for these indices; StopIteration if an iterable data set has no more."""
        loader = self.loader
        if self.samples is not None:
            if not loader._batches:
                return loader.collate_fn(next(self.samples))
            if self.ended:
                raise StopIteration
            batch = list(itertools.islice(self.samples, len(index)))
            self.ended = len(batch) < len(index)
            if not batch or (loader.drop_last and self.ended):
                raise StopIteration
            return loader.collate_fn(batch)
        if not loader._batches:
            return loader.collate_fn(loader.dataset[index])
        together = getattr(loader.dataset, "__getitems__", None)
        return loader.collate_fn(together(index) if together else [loader.dataset[i] for i in index])


def _in_this_process(fetcher: _Fetcher, indices: Iterable[Any]) -> Iterator[Any]:
    for index in indices:
        try:
            batch = fetcher.fetch(index)
        except StopIteration:
            return
        yield batch


# -- workers

_BATCH, _END, _ERROR = "batch", "end", "error"


def _work(loader: DataLoader[Any], number: int, seed: int, pipe: Any, others: list[Any]) -> None:
    """The life of a worker: it answers each index with a batch, the end of its samples, or an error.

    It ends when the loader's ends of the pipes are closed, so it closes its own copies of them, the `others`.
    """
    global _worker_info
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in others:
        other.close()
    FUNCTIONS["manual_seed"](seed + number)
    random.seed(seed + number)
    _worker_info = WorkerInfo(number, loader.num_workers, seed + number, loader.dataset)
    failure: tuple[str, Any] | None = None
    fetcher: _Fetcher | None = None
    try:
        if loader.worker_init_fn is not None:
            loader.worker_init_fn(number)
        fetcher = _Fetcher(loader)
    except Exception as error:
        failure = _described(error, number)
    while True:
        try:
            index = pipe.recv()
        except (EOFError, OSError):
            return
        answer: tuple[str, Any]
        try:
            answer = failure or (_BATCH, fetcher.fetch(index))  # type: ignore[union-attr]
        except StopIteration:
            answer = (_END, None)
        except Exception as error:
            answer = _described(error, number)
        try:
            pipe.send(answer)
        except OSError:
            return


def _described(error: Exception, number: int) -> tuple[str, object]:
    text = "".join(traceback.format_exception(error))
    message = f"Caught {type(error).__name__} in DataLoader worker process {number}.\nOriginal {text}"
    return (_ERROR, (type(error), message))


def _with_workers(loader: DataLoader[Any], indices: Iterator[Any], seed: int) -> Iterator[Any]:
    """Hands indices to the workers in turn and gives their answers in the same order."""
    import multiprocessing

    context = multiprocessing.get_context("fork")  # the data set need not be one that can be pickled
    pipes: list[Any] = []
    processes: list[Any] = []
    for number in range(loader.num_workers):
        here, there = context.Pipe()
        process = context.Process(target=_work, args=(loader, number, seed, there, [*pipes, here]), daemon=True)
        process.start()
        there.close()
        pipes.append(here)
        processes.append(process)
    running = set(range(loader.num_workers))
    turns = itertools.cycle(range(loader.num_workers))
    asked: list[int] = []

    def ask() -> None:
        if not running:
            return
        number = next(turn for turn in turns if turn in running)
        for index in itertools.islice(indices, 1):
            pipes[number].send(index)
            asked.append(number)

    try:
        for _ in range((loader.prefetch_factor or 2) * loader.num_workers):
            ask()
        while asked:
            number = asked.pop(0)
            if loader.timeout and not pipes[number].poll(loader.timeout):
                raise RuntimeError(f"DataLoader timed out after {loader.timeout} seconds")
            try:
                kind, value = pipes[number].recv()
            except EOFError:
                ids = ", ".join(str(process.pid) for process in processes if not process.is_alive())
                raise RuntimeError(f"DataLoader worker (pid(s) {ids}) exited unexpectedly") from None
            if kind == _ERROR:
                cls, message = value
                raise _rebuilt(cls, message)
            if kind == _END:
                running.discard(number)
                ask()
                continue
            ask()
            yield value
    finally:
        for pipe in pipes:
            pipe.close()
        for process in processes:
            process.join(5)
            if process.is_alive():
                process.terminate()


def _rebuilt(cls: type[Exception], message: str) -> Exception:
    """The worker's error again, or a RuntimeError where its class takes more than a message."""
    if cls is KeyError:
        return _KeyErrorOfWorker(message)
    try:
        return cls(message)
    except TypeError:
        return RuntimeError(message)


class _KeyErrorOfWorker(KeyError):
    """A KeyError that shows its message as it is."""

    def __str__(self) -> str:
        return str(self.args[0])
