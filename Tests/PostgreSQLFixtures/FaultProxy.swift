internal import Glibc
package import PostgreSQL
internal import Synchronization

/// A proxy on loopback that passes bytes on until it is told to cut, to fall silent or to lie.
package final class FaultProxy: Sendable {
    package enum Fault: Hashable, Sendable {
        case none
        /// Closes both ends after that many bytes in the direction.
        case cut(Direction, after: Int)
        /// The same for one connection; those made later have no fault.
        case cutOnce(Direction, after: Int)
        /// Passes nothing on in either direction after that many bytes, and keeps both ends open.
        case silence(Direction, after: Int)
        /// Changes one byte of the server's.
        case replace(at: Int, with: UInt8)
    }

    package enum Direction: Hashable, Sendable {
        case toServer
        case toClient
    }

    private struct State {
        var fault = Fault.none
        var isStopped = false
        var accepted = 0
        /// Bytes of the current connection, in each direction.
        var toServer = 0
        var toClient = 0
        var connections: [Int32] = []
        var threads = 0
    }

    private let state = Mutex(State())
    private let listener: Int32
    private let upstreams: [UInt16]
    package let port: UInt16

    /// - Parameter upstream: the port of the server on 127.0.0.1.
    package convenience init(to upstream: UInt16) throws {
        try self.init(toAnyOf: [upstream])
    }

    /// A balancer: each connection goes to the next of these ports that a program listens on.
    package init(toAnyOf upstreams: [UInt16]) throws {
        self.upstreams = upstreams
        (listener, port) = try LoopbackSocket.listen()
        startThread { $0.accept() }
    }

    package var host: Target.Host { .network(name: "127.0.0.1", port: port) }

    /// The fault of the connections from now on, and of those that are open; counts begin at 0.
    package func arm(_ fault: Fault) {
        state.withLock { state in
            state.fault = fault
            state.toServer = 0
            state.toClient = 0
        }
    }

    /// The bytes since `arm`.
    package var counts: (toServer: Int, toClient: Int) {
        state.withLock { ($0.toServer, $0.toClient) }
    }

    /// Closes everything; the proxy is not usable afterwards.
    package func stop() {
        state.withLock { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            shutdown(listener, Int32(SHUT_RDWR))
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    // MARK: Threads

    private func startThread(_ body: @escaping @Sendable (FaultProxy) -> Void) {
        state.withLock { $0.threads += 1 }
        let work = Unmanaged.passRetained(Work(proxy: self, body: body)).toOpaque()
        var thread = pthread_t()
        let status = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
                work.body(work.proxy)
                work.proxy.state.withLock { $0.threads -= 1 }
                return nil
            },
            work
        )
        precondition(status == 0, "a thread of a test cannot be started")
        pthread_detach(thread)
    }

    private final class Work: Sendable {
        let proxy: FaultProxy
        let body: @Sendable (FaultProxy) -> Void

        init(proxy: FaultProxy, body: @escaping @Sendable (FaultProxy) -> Void) {
            self.proxy = proxy
            self.body = body
        }
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else { break }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            let server = connectToNext()
            guard server >= 0 else {
                close(client)
                continue
            }
            state.withLock { state in
                state.connections += [client, server]
                state.toServer = 0
                state.toClient = 0
            }
            startThread { $0.pass(client, server) }
        }
        close(listener)
    }

    /// -1 if no program listens on any port.
    private func connectToNext() -> Int32 {
        let first = state.withLock { state in
            defer { state.accepted += 1 }
            return state.accepted
        }
        for offset in upstreams.indices {
            let server = LoopbackSocket.connect(to: upstreams[(first + offset) % upstreams.count])
            if server >= 0 { return server }
        }
        return -1
    }

    /// Passes bytes on between the two until one of them ends.
    private func pass(_ client: Int32, _ server: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var isOpen = true
        while isOpen {
            var sockets = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&sockets, 2, -1) > 0 else { break }
            if sockets[0].revents != 0 { isOpen = move(client, server, .toServer, &buffer) }
            if isOpen, sockets[1].revents != 0 { isOpen = move(server, client, .toClient, &buffer) }
        }
        state.withLock { $0.connections.removeAll { $0 == client || $0 == server } }
        close(client)
        close(server)
    }

    /// Passes on what has arrived; false at the end of the connection.
    private func move(
        _ source: Int32,
        _ sink: Int32,
        _ direction: Direction,
        _ buffer: inout [UInt8]
    ) -> Bool {
        let count = recv(source, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        let (passed, isCut) = state.withLock { state in
            Self.apply(&state, direction, count, &buffer)
        }
        var sent = 0
        while sent < passed {
            let start = sent
            let step = buffer.withUnsafeBytes {
                send(sink, $0.baseAddress.map { $0 + start }, passed - start, Int32(MSG_NOSIGNAL))
            }
            guard step > 0 else { return false }
            sent += step
        }
        return !isCut
    }

    /// The number of bytes that may pass, and whether the connection ends with them.
    private static func apply(
        _ state: inout State,
        _ direction: Direction,
        _ count: Int,
        _ buffer: inout [UInt8]
    ) -> (passed: Int, isCut: Bool) {
        let before = direction == .toServer ? state.toServer : state.toClient
        switch direction {
        case .toServer: state.toServer += count
        case .toClient: state.toClient += count
        }
        switch state.fault {
        case .none: return (count, false)
        case .cut(direction, let limit):
            return (max(0, min(count, limit - before)), before + count >= limit)
        case .cutOnce(direction, let limit):
            let isCut = before + count >= limit
            if isCut { state.fault = .none }
            return (max(0, min(count, limit - before)), isCut)
        case .silence(direction, let limit):
            return (max(0, min(count, limit - before)), false)
        case .silence(let other, let limit):
            let isSilent = (other == .toServer ? state.toServer : state.toClient) >= limit
            return (isSilent ? 0 : count, false)
        case .replace(let position, let byte) where direction == .toClient:
            if (before..<before + count).contains(position) { buffer[position - before] = byte }
            return (count, false)
        case .cut, .cutOnce, .replace: return (count, false)
        }
    }
}
