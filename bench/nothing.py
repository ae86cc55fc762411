"""`python -m bench.nothing`: a provider that accepts everything, does nothing and keeps nothing.

What the engine, the SDK and a provider's start cost without an emulated cloud.
"""

import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from sandbox.cloud.serve import MESSAGE_BYTES
from sandbox.engine.children import when_orphaned


class Nothing(provider_pb2_grpc.ResourceProviderServicer):
    """Each resource is what its program says."""

    def Handshake(self, request, context):
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True)

    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version="10.0.0")

    def CheckConfig(self, request, context):
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request, context):
        return provider_pb2.DiffResponse()

    def Configure(self, request, context):
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Check(self, request, context):
        return provider_pb2.CheckResponse(inputs=request.news)

    def Diff(self, request, context):
        return provider_pb2.DiffResponse()

    def Create(self, request, context):
        identifier = "" if request.preview else request.urn.rpartition("::")[2]
        return provider_pb2.CreateResponse(id=identifier, properties=request.properties)

    def Delete(self, request, context):
        return empty_pb2.Empty()

    def Cancel(self, request, context):
        return empty_pb2.Empty()


def main() -> None:
    """Serves until the engine goes."""
    sizes = ("grpc.max_receive_message_length", "grpc.max_send_message_length")
    server = grpc.server(
        ThreadPoolExecutor(max_workers=16), options=[(size, MESSAGE_BYTES) for size in sizes]
    )
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Nothing(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    when_orphaned(stopped.set)
    server.start()
    print(port, flush=True)
    stopped.wait()
    server.stop(grace=5).wait()


if __name__ == "__main__":
    main()
