"""Signals that come twice, together or to other handlers; and programs that handle none."""

import signal
import sys
import time

import pytest

from tests.runtime.program import interrupted, running

BEGIN = """
import asyncio, hashlib, os, signal, sys, threading, time, warnings
from spotproof_runtime import Interrupted, Interruption

def me(signum):
    os.kill(os.getpid(), signum)

"""


def run(text: str, **environment: str) -> list[str]:
    """What a program prints; it must end well."""
    with running(BEGIN + text, **environment) as program:
        ended = program.end()
    assert ended.code == 0, ended.errors
    return ended.output


def test_sigterm_twice_is_once() -> None:
    text = """
calls = []
try:
    with Interruption() as stop:
        stop.on_notice(lambda: calls.append("notice"))
        me(signal.SIGTERM)
        stop.wait(60)
        first = stop.noticed_at
        me(signal.SIGTERM)
        time.sleep(0.2)
        print(stop.noticed_at == first)
except Interrupted as error:
    print(error.code, calls)
"""
    assert run(text) == ["True", "143 ['notice']"]


def test_the_first_ctrl_c_is_graceful_and_the_second_a_keyboard_interrupt() -> None:
    text = """
with Interruption() as stop:
    print("ready")
    stop.wait(60)
    try:
        print("graceful", stop.reason)
        time.sleep(60)
    except KeyboardInterrupt:
        print("second")
        raise
"""
    with running(BEGIN + text) as program:
        program.read_until("ready")
        program.send(signal.SIGINT)
        assert program.read_until("graceful") == "SIGINT"
        program.send(signal.SIGINT)
        ended = program.end()
    assert ended.output[-1] == "second"
    assert ended.code == -signal.SIGINT, "a shell has to see that it was Ctrl-C"


def test_two_ctrl_c_during_one_long_call_are_two() -> None:
    text = """
with Interruption() as stop:
    print("ready")
    hashlib.pbkdf2_hmac("sha256", b"", b"", 6_000_000)
    print("not reached")
"""
    with running(BEGIN + text) as program:
        program.read_until("ready")
        time.sleep(0.1)  # it prints that just before the call
        program.send(signal.SIGINT)
        program.read_until_error("notice")
        program.send(signal.SIGINT)
        ended = program.end()
    assert (ended.code, ended.output) == (-signal.SIGINT, ["ready"])


def test_a_handler_that_was_there_is_called_too_and_put_back() -> None:
    text = """
calls = []
def handler(signum, frame):
    calls.append(signum)
signal.signal(signal.SIGTERM, handler)
old = signal.getsignal(signal.SIGINT)
try:
    with Interruption() as stop:
        me(signal.SIGTERM)
        stop.wait(60)
except Interrupted:
    print(calls == [signal.SIGTERM], signal.getsignal(signal.SIGTERM) is handler)
    print(signal.getsignal(signal.SIGINT) is old, signal.set_wakeup_fd(-1))
"""
    assert run(text) == ["True True", "True -1"]


@pytest.mark.skipif(sys.platform != "linux", reason="uses the C library's own calls")
@pytest.mark.parametrize("earlier", ["", "signal.signal(signal.SIGTERM, print)"])
def test_a_handler_of_native_code_is_called_too_and_put_back(earlier: str) -> None:
    text = f"""
import ctypes
calls = []
native = ctypes.CFUNCTYPE(None, ctypes.c_int)(calls.append)
library = ctypes.CDLL(None)
library.signal.restype = ctypes.c_void_p
{earlier}
library.signal(signal.SIGTERM, native)
address = ctypes.cast(native, ctypes.c_void_p).value
try:
    with Interruption() as stop:
        me(signal.SIGTERM)
        stop.wait(60)
except Interrupted:
    print(calls == [signal.SIGTERM])
    print(library.signal(signal.SIGTERM, None) == address)
"""
    assert run(text) == ["True", "True"]


def test_a_handler_that_is_installed_inside_the_block_stays() -> None:
    text = """
with Interruption() as stop:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(signal.getsignal(signal.SIGTERM) == signal.SIG_IGN)
"""
    assert run(text) == ["True"]


def test_ctrl_c_that_is_ignored_stays_ignored() -> None:
    text = """
signal.signal(signal.SIGINT, signal.SIG_IGN)
with Interruption() as stop:
    me(signal.SIGINT)
    me(signal.SIGINT)
    print(stop.wait(0.2))
"""
    assert run(text) == ["False"]


def test_other_signals_of_the_program_are_no_notice() -> None:
    text = """
calls = []
signal.signal(signal.SIGUSR1, lambda *_: calls.append("usr1"))
with Interruption() as stop:
    me(signal.SIGUSR1)
    print(stop.wait(0.2), calls)
"""
    assert run(text) == ["False ['usr1']"]


def test_an_event_loop_keeps_its_signals_and_hears_of_the_notice() -> None:
    text = """
async def main():
    loop = asyncio.get_running_loop()
    usr1, told = asyncio.Event(), asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, usr1.set)
    owner = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(owner)
    with Interruption() as stop:
        stop.on_notice(lambda: loop.call_soon_threadsafe(told.set))
        me(signal.SIGUSR1)
        await asyncio.wait_for(usr1.wait(), 10)
        print("ready")
        await asyncio.wait_for(told.wait(), 30)
        stop.done()
    print(signal.set_wakeup_fd(-1) == owner)

asyncio.run(main())
"""
    ended = interrupted(BEGIN + text)
    assert (ended.code, ended.output) == (0, ["ready", "True"])


def test_an_event_loop_that_starts_inside_the_block_takes_over_without_loss() -> None:
    text = """
async def main(stop):
    loop = asyncio.get_running_loop()
    told = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, print, "usr1")
    stop.on_notice(lambda: loop.call_soon_threadsafe(told.set))
    me(signal.SIGUSR1)
    await asyncio.sleep(0)
    print("ready")
    await asyncio.wait_for(told.wait(), 30)

with Interruption() as stop:
    asyncio.run(main(stop))
"""
    ended = interrupted(BEGIN + text)
    assert (ended.code, sorted(ended.output)) == (143, ["ready", "usr1"])


def test_in_another_thread_there_is_one_warning_and_requests_still_work() -> None:
    text = """
def work():
    for _ in range(2):
        try:
            with Interruption() as stop:
                threading.Timer(0.1, stop.request, ["a notice"]).start()
                print(stop.wait(60), stop.reason)
        except Interrupted as error:
            print(error.code)

with warnings.catch_warnings(record=True) as caught:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
print(len(caught), "main thread" in str(caught[0].message))
"""
    assert run(text) == ["True a notice", "143", "True a notice", "143", "1 True"]


def test_a_callback_that_fails_or_blocks_holds_up_nothing() -> None:
    text = """
with Interruption() as stop:
    def fail():
        raise ValueError("a bucket")
    stop.on_notice(fail)
    stop.on_notice(lambda: time.sleep(3600))
    stop.on_notice(lambda: os.write(1, b"called\\n"))
    print("ready")
    stop.wait(60)
    stop.on_notice(lambda: os.write(1, b"at once\\n"))
    time.sleep(0.2)
"""
    ended = interrupted(BEGIN + text)
    assert ended.code == 143
    assert sorted(ended.output) == ["at once", "called", "ready"]
    assert "ValueError: a bucket" in ended.errors
    assert ended.seconds < 10


@pytest.mark.parametrize("inner", ["Interruption()", "stop"])
def test_an_interruption_inside_another_says_to_pass_it_on(inner: str) -> None:
    text = f"""
with Interruption() as stop:
    try:
        with {inner}:
            pass
    except RuntimeError as error:
        print("pass it on" in str(error))
    me(signal.SIGTERM)
    print(stop.wait(60))
    stop.done()
"""
    assert run(text) == ["True", "True"]


def test_one_that_was_left_is_not_entered_again_and_a_new_one_starts_afresh() -> None:
    text = """
stop = Interruption()
try:
    with stop:
        me(signal.SIGTERM)
        stop.wait(60)
except Interrupted:
    pass
try:
    with stop:
        pass
except RuntimeError as error:
    print("make a new one" in str(error))
with Interruption() as another:
    print(another.requested)
"""
    assert run(text) == ["True", "False"]
