internal import Glibc
import Synchronization

/// Asks the system's resolver for the addresses of a host.
///
/// The resolver blocks and knows no deadline, so it runs on a thread of its own; a wait that ends
/// earlier leaves the thread to end when the resolver does.
final class NameLookup: Sendable {
    private let name: String
    private let done: EventDescriptor
    private let result = Mutex<Result<[String], PostgreSQLError>?>(nil)

    /// A name with more addresses than that has the others ignored.
    private static let limit = 16

    private init(_ name: String) throws(PostgreSQLError) {
        self.name = name
        done = try EventDescriptor()
    }

    /// The addresses as digits, in the resolver's order.
    static func addresses(
        of name: String,
        until deadline: Deadline,
        unless interruption: Interruption
    ) throws(PostgreSQLError) -> [String] {
        guard !isAddress(name) else { return [name] }
        let lookup = try NameLookup(name)
        try lookup.start()
        _ = try Waiting.wait(
            for: POLLIN,
            on: lookup.done.descriptor,
            until: deadline,
            unless: interruption
        )
        guard let result = lookup.result.withLock({ $0 }) else { throw .timedOut }
        return try result.get()
    }

    private static func isAddress(_ name: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1
    }

    private func start() throws(PostgreSQLError) {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        let status = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                Unmanaged<NameLookup>.fromOpaque(context).takeRetainedValue().run()
                return nil
            },
            context
        )
        guard status == 0 else {
            Unmanaged<NameLookup>.fromOpaque(context).release()
            throw PostgreSQLError(.unavailable, "a thread cannot be started (\(status))")
        }
        pthread_detach(thread)
    }

    private func run() {
        let found = Result { () throws(PostgreSQLError) in try resolve() }
        result.withLock { $0 = found }
        done.signal()
    }

    private func resolve() throws(PostgreSQLError) -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(name, nil, &hints, &list)
        guard status == 0 else {
            throw PostgreSQLError(.unreachable, "\(name): \(String(cString: gai_strerror(status)))")
        }
        defer { freeaddrinfo(list) }
        var addresses: [String] = []
        var next = list
        while let entry = next, addresses.count < Self.limit {
            if let address = Self.digits(entry.pointee), !addresses.contains(address) {
                addresses.append(address)
            }
            next = entry.pointee.ai_next
        }
        guard !addresses.isEmpty else {
            throw PostgreSQLError(.unreachable, "\(name): the name has no address")
        }
        return addresses
    }

    private static func digits(_ entry: addrinfo) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = getnameinfo(
            entry.ai_addr,
            entry.ai_addrlen,
            &buffer,
            socklen_t(buffer.count),
            nil,
            0,
            NI_NUMERICHOST
        )
        guard status == 0 else { return nil }
        return String(
            decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
    }
}
