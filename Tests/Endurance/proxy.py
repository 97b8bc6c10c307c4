"""A TCP proxy between one agent and the server that can cut, stall and slow down what passes."""
import asyncio
import threading


class Network:
    """The proxies of all agents, on a thread of their own."""

    def __init__(self, server_port):
        self.server_port = server_port
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def link(self):
        return asyncio.run_coroutine_threadsafe(Link.make(self), self.loop).result(30)


class Link:
    """`state` is `up`, `cut` (connections end, and new ones are refused), `stalled` (they stay, and nothing passes), or
    `slow` (some KiB per second)."""

    def __init__(self, network):
        self.network = network
        self.state = "up"
        self.writers = set()

    @classmethod
    async def make(cls, network):
        link = cls(network)
        link.server = await asyncio.start_server(link.serve, "127.0.0.1", 0)
        link.port = link.server.sockets[0].getsockname()[1]
        return link

    def become(self, state):
        self.state = state
        if state == "cut":
            self.network.loop.call_soon_threadsafe(self.abort)

    def abort(self):
        for writer in list(self.writers):
            writer.transport.abort()

    async def serve(self, reader, writer):
        try:
            if self.state == "cut":
                raise OSError("the link is cut")
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.network.server_port)
        except OSError:
            return writer.transport.abort()
        self.writers.update((writer, far_writer))
        try:
            await asyncio.gather(self.pass_on(reader, far_writer), self.pass_on(far_reader, writer))
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            for end in (writer, far_writer):
                self.writers.discard(end)
                end.transport.abort()

    async def pass_on(self, reader, writer):
        while data := await reader.read(16 << 10):
            while self.state == "stalled":
                await asyncio.sleep(0.05)
            if self.state == "slow":
                await asyncio.sleep(len(data) / 8192)
            writer.write(data)
            await writer.drain()
        raise OSError("the end of the connection")
