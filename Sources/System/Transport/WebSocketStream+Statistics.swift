import CLinux
import NIOCore

extension WebSocketStream {
    /// `TCP_INFO`: the C library's header and the kernel's each define it with their own
    /// structures.
    private static let tcpInfo = NIOBSDSocket.Option(rawValue: 11)

    package func statistics() async -> SocketStatistics? {
        guard let options = channel as? any SocketOptionProvider,
            let info: linux_tcp_info = try? await options.unsafeGetSocketOption(
                level: .tcp,
                name: Self.tcpInfo
            ).get()
        else { return nil }
        return SocketStatistics(
            roundTrip: .microseconds(info.rtt),
            sentSegments: UInt64(info.data_segs_out),
            resentSegments: UInt64(info.total_retrans),
            receivedSegments: UInt64(info.segs_in)
        )
    }
}
