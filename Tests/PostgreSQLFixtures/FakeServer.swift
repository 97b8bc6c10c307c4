internal import Glibc
internal import Synchronization

/// A server on loopback that ignores requests, sends the same bytes to each client, and closes.
package final class FakeServer: Sendable {
    package let port: UInt16
    private let listener: Int32
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        (listener, port) = try LoopbackSocket.listen()
        let context = Unmanaged.passRetained(Listener(descriptor: listener, bytes: bytes))
            .toOpaque()
        var thread = pthread_t()
        let status = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Listener>.fromOpaque(context).takeRetainedValue().serve()
                return nil
            },
            context
        )
        precondition(status == 0, "a thread of a test cannot be started")
        pthread_detach(thread)
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// A log-in without a password to a server of version 15.
    package static let login = login(version: "15.18")

    package static func login(version: String) -> [UInt8] {
        func message(_ kind: Character, _ body: [UInt8]) -> [UInt8] {
            Array(String(kind).utf8) + [0, 0, 0, UInt8(body.count + 4)] + body
        }
        func parameter(_ name: String, _ value: String) -> [UInt8] {
            message("S", Array(name.utf8) + [0] + Array(value.utf8) + [0])
        }
        return message("R", [0, 0, 0, 0]) + parameter("server_version", version)
            + parameter("default_transaction_read_only", "off") + parameter("in_hot_standby", "off")
            + message("K", [0, 0, 0, 1, 0, 0, 0, 1]) + message("Z", [UInt8(ascii: "I")])
    }
}

private final class Listener: Sendable {
    let descriptor: Int32
    let bytes: [UInt8]

    init(descriptor: Int32, bytes: [UInt8]) {
        self.descriptor = descriptor
        self.bytes = bytes
    }

    func serve() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let client = accept(descriptor, nil, nil)
            guard client >= 0 else { break }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            _ = recv(client, &buffer, buffer.count, 0)
            _ = send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            // A client that has more to send gets no reset, which could overtake the bytes.
            shutdown(client, Int32(SHUT_WR))
            while recv(client, &buffer, buffer.count, 0) > 0 {}
            close(client)
        }
        close(descriptor)
    }
}

/// A server on loopback that accepts no connection: the kernel takes them, and no byte is read.
package final class StalledServer: Sendable {
    package let port: UInt16
    private let listener: Int32

    package init() throws {
        (listener, port) = try LoopbackSocket.listen()
    }

    deinit {
        close(listener)
    }
}
