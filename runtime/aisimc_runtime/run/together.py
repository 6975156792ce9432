"""A handful of tasks at once, without the start-up cost of an executor pool."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

LOOK_S = 0.1


def at_once(tasks: Sequence[Callable[[], Any]], stop: Callable[[], None]) -> list[Any]:
    """Run every task in a thread of its own; their results in order.

    The first failure, or an exception in this thread (an interrupt), calls `stop`, which makes the others end; then
    it is raised. Waits for all of them in any case.
    """
    results: list[Any] = [None] * len(tasks)
    failures: list[BaseException] = []

    def run(index: int) -> None:
        try:
            results[index] = tasks[index]()
        except BaseException as error:
            failures.append(error)
            stop()

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(tasks))]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(LOOK_S)  # in steps, so that a signal is seen to
    except BaseException:
        stop()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        raise
    if failures:
        raise failures[0]
    return results
