"""The language host for Python that goes with an engine built with Go.

An official CLI brings its own. This one serves `pulumirpc.LanguageRuntime`: it runs programs,
policy packs and component providers with the Python that the project file names. It fills a
virtualenv that is not there yet, changes none that is, and generates no code.
"""

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent import futures
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

import grpc
from google.protobuf import empty_pb2, json_format

from sandbox.engine.children import Children, when_orphaned
from sandbox.engine.interpreter import (
    Interpreter,
    MissingVirtualenvError,
    OptionsError,
    choose,
    commands_to_fill,
    virtualenv,
)
from sandbox.messages import without_the_sdk
from sandbox.paths import BRIEFLY

with without_the_sdk():
    from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

ERROR_WAS_SHOWN = 32
_UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class PythonHost(language_pb2_grpc.LanguageRuntimeServicer):
    """Runs Python for the engine.

    Args:
        runner: the SDK's script that runs a program.
        engine_address: where the engine listens, if the handshake does not say.
        children: keeps the processes that are started.
    """

    def __init__(self, runner: str, engine_address: str, children: Children) -> None:
        self._runner = runner
        self._engine_address = engine_address
        self._children = children

    def Handshake(self, request, context):
        self._engine_address = request.engine_address
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version=version("pulumi"))

    def About(self, request, context):
        python = _interpreter(request.info, context).python
        shown = subprocess.run([python, "--version"], capture_output=True, text=True).stdout
        return language_pb2.AboutResponse(
            executable=str(python), version=shown.removeprefix("Python").strip()
        )

    def GetRequiredPackages(self, request, context):
        interpreter = _interpreter_if_made(request.info, context)
        found = interpreter.plugins() if interpreter else ()
        return language_pb2.GetRequiredPackagesResponse(
            packages=[
                plugin_pb2.PackageDependency(name=name, kind="resource", version=f"v{number}")
                for name, number in found
            ]
        )

    def GetRequiredPlugins(self, request, context):
        return language_pb2.GetRequiredPluginsResponse()

    def GetProgramDependencies(self, request, context):
        found = _interpreter(request.info, context).distributions()
        return language_pb2.GetProgramDependenciesResponse(
            dependencies=[
                language_pb2.DependencyInfo(name=one.metadata["Name"], version=one.version)
                for one in found
            ]
        )

    def InstallDependencies(self, request, context):
        interpreter = _interpreter_if_made(request.info, context)
        if interpreter is None and request.is_plugin:
            yield from self._fill(request.info, context)
            return
        if interpreter:
            text = f"{interpreter.python} is used as it is (`make setup` fills it)"
        else:
            text = "the project has no virtualenv yet (`make setup` makes it)"
        text = f"Nothing is installed: {text}.\n"
        yield language_pb2.InstallDependenciesResponse(stdout=text.encode())

    def Run(self, request, context):
        try:
            interpreter = choose(_options(request.info), request.info.root_directory)
        except OptionsError as error:
            return language_pb2.RunResponse(error=str(error))
        environment = interpreter.environment(os.environ) | {
            "PULUMI_CONFIG": json.dumps(dict(request.config)),
            "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
        }
        command = [interpreter.python, "-u", BRIEFLY, self._runner, *self._runner_flags(request)]
        command += [_program(request.info), *request.args]
        try:
            child = self._start(context, command, request.pwd, environment)
        except (OSError, RuntimeError) as error:
            return language_pb2.RunResponse(error=f"the program could not be started: {error}")
        return _run_response(self._children.wait(child))

    def RunPlugin(self, request, context):
        interpreter = _interpreter(request.info, context)
        base = dict(one.split("=", 1) for one in request.env) if request.env else os.environ
        command = [interpreter.python, "-u", *_plugin_arguments(request, context)]
        try:
            child = self._start(
                context, command, request.pwd, interpreter.environment(base), subprocess.PIPE
            )
        except (OSError, RuntimeError) as error:
            _abort(context, f"the plugin {request.name!r} could not be started: {error}")
        yield from _output(child)
        yield language_pb2.RunPluginResponse(exitcode=self._children.wait(child))

    def _fill(
        self, info: language_pb2.ProgramInfo, context: grpc.ServicerContext
    ) -> Iterator[language_pb2.InstallDependenciesResponse]:
        """Makes the virtualenv of a plugin that was fetched as source, as an official CLI does."""
        root = info.root_directory
        folder = virtualenv(_options(info), root)
        assert folder is not None, "it was missed"
        is_new = not folder.exists()
        try:
            for command in commands_to_fill(folder, root):
                child = self._start(context, command, root, os.environ, subprocess.PIPE)
                for chunk in _output(child):
                    yield language_pb2.InstallDependenciesResponse(
                        stdout=chunk.stdout, stderr=chunk.stderr
                    )
                if code := self._children.wait(child):
                    if is_new:  # half a virtualenv would be taken for a whole one the next time
                        shutil.rmtree(folder, ignore_errors=True)
                    shown = " ".join(str(part) for part in command)
                    _abort(context, f"`{shown}` ended with {code}")
        except (OSError, RuntimeError, OptionsError) as error:
            _abort(context, f"the virtualenv {folder} could not be made: {error}")

    def GeneratePackage(self, request, context):
        _abort(
            context,
            "the engine built with Go writes no SDK for Python: install the Python package itself "
            "(components/README.md says how), or use the official Pulumi CLI",
        )

    def Cancel(self, request, context):
        self._children.end_all()
        return empty_pb2.Empty()

    def _start(
        self,
        context: grpc.ServicerContext,
        command: Sequence[str | Path],
        cwd: str,
        env: Mapping[str, str],
        output: int | None = None,
    ) -> "subprocess.Popen[bytes]":
        child = self._children.start(command, cwd, env, stdout=output, stderr=output)
        # The callback runs when the call ends in whatever way, and at once if it has ended.
        if not context.add_callback(lambda: self._children.end(child)):
            self._children.end(child)
        return child

    def _runner_flags(self, request: language_pb2.RunRequest) -> Iterator[str]:
        flags = {
            "monitor": request.monitor_address,
            "engine": self._engine_address,
            "project": request.project,
            "stack": request.stack,
            "pwd": request.pwd,
            "dry_run": "true" if request.dryRun else "false",
            "parallel": str(request.parallel),
            "organization": request.organization or "organization",
            "root_directory": request.info.root_directory,
        }
        for name, value in flags.items():
            yield f"--{name}"
            yield value


def _options(info: language_pb2.ProgramInfo) -> dict[str, Any]:
    return json_format.MessageToDict(info.options)


def _interpreter(info: language_pb2.ProgramInfo, context: grpc.ServicerContext) -> Interpreter:
    try:
        return choose(_options(info), info.root_directory)
    except OptionsError as error:
        _abort(context, str(error))


def _interpreter_if_made(
    info: language_pb2.ProgramInfo, context: grpc.ServicerContext
) -> Interpreter | None:
    """The interpreter, or None in a project that `pulumi new` has just made."""
    try:
        return choose(_options(info), info.root_directory)
    except MissingVirtualenvError:
        return None
    except OptionsError as error:
        _abort(context, str(error))


def _abort(context: grpc.ServicerContext, message: str) -> NoReturn:
    context.abort(grpc.StatusCode.FAILED_PRECONDITION, message)
    raise AssertionError("abort raises")


def _program(info: language_pb2.ProgramInfo) -> str:
    return os.path.normpath(os.path.join(info.program_directory, info.entry_point))


def _run_response(code: int) -> language_pb2.RunResponse:
    if code == 0:
        return language_pb2.RunResponse()
    if code == ERROR_WAS_SHOWN:
        return language_pb2.RunResponse(bail=True)
    if code < 0:
        return language_pb2.RunResponse(error=f"the program was killed by signal {-code}")
    return language_pb2.RunResponse(error=f"Program exited with non-zero exit code: {code}")


def _plugin_arguments(
    request: language_pb2.RunPluginRequest, context: grpc.ServicerContext
) -> Sequence[str]:
    program = _program(request.info)
    if request.kind == "analyzer":
        return [str(BRIEFLY), "-m", "pulumi.policy", *request.args, program]
    if os.path.isdir(program) and not os.path.isfile(os.path.join(program, "__main__.py")):
        _abort(context, f"the plugin folder {program} has no __main__.py to run")
    return [program, *request.args]


def _output(child: "subprocess.Popen[bytes]") -> Iterator[language_pb2.RunPluginResponse]:
    """What a child prints, as it comes, until it has closed both streams."""
    chunks: queue.Queue[language_pb2.RunPluginResponse | None] = queue.Queue()

    def pump(stream, field: str) -> None:
        while chunk := os.read(stream.fileno(), 65536):
            chunks.put(_chunk(field, chunk))
        chunks.put(None)

    streams = {"stdout": child.stdout, "stderr": child.stderr}
    for field, stream in streams.items():
        threading.Thread(target=pump, args=(stream, field), daemon=True).start()
    for _ in streams:
        yield from iter(chunks.get, None)


def _chunk(field: str, data: bytes) -> language_pb2.RunPluginResponse:
    if field == "stdout":
        return language_pb2.RunPluginResponse(stdout=data)
    return language_pb2.RunPluginResponse(stderr=data)


def main(runner: str, arguments: Sequence[str]) -> None:
    """Serves until the engine sends a signal or goes away; prints the port on standard output."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    when_orphaned(stop.set)
    engine_address = next((one for one in arguments if not one.startswith("-")), "")
    children = Children()
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=32), options=_UNLIMITED)
    host = PythonHost(runner, engine_address, children)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    stop.wait()
    children.end_all()
    server.stop(grace=None)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    # A thread that waits for the engine would hold up an ordinary exit.
    os._exit(0)
