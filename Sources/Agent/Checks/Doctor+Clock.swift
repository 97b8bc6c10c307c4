import Config
import Platform
import Scheduling
import Transport
import Versions

/// Checks of the clock, on which tokens, certificates and conflict resolution depend.
extension Doctor {
    /// Timestamps of sync begin in 2015; a clock that was never set shows an earlier date.
    static func clock(_ time: WallTime) -> Finding {
        guard time.millisecondsSince1970 > 1_704_067_200_000 else {
            return .problem(
                "clock",
                "this machine",
                "reads \(time)",
                remedy: "set it, and let `timedatectl set-ntp true` keep it"
            )
        }
        return .good("clock", "this machine", "reads \(time)")
    }

    /// Either clock may be wrong; the difference is the problem (features, N6).
    ///
    /// - Parameter date: the `Date` header of the server's response; nil if it sent none.
    static func clock(of app: String, date: String?, now: WallTime) -> Finding? {
        guard let date else { return nil }
        guard let server = WallTime(httpDate: date) else {
            return .warning(
                "clock",
                app,
                "the server's time cannot be read",
                remedy: "compare the clocks of both machines by hand"
            )
        }
        // The header has whole seconds, and the answer took its time.
        let seconds = (now.millisecondsSince1970 - server.millisecondsSince1970) / 1_000
        guard abs(seconds) > 60 else {
            return .good("clock", app, "agrees with the server's, to the minute")
        }
        return .warning(
            "clock",
            app,
            "is \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") the server's",
            remedy:
                "set it, and let `timedatectl set-ntp true` keep it: tokens and certificates depend "
                + "on it, and the later of two conflicting writes wins"
        )
    }

    // MARK: Certificates

    private static let longestNotice: Int64 = 14 * 86_400

    static func certificate(
        of app: String,
        _ certificate: PeerCertificate,
        now: WallTime
    ) -> Finding {
        let seconds = now.millisecondsSince1970 / 1_000
        let start = WallTime(secondsSince1970: certificate.validFrom)
        let end = WallTime(secondsSince1970: certificate.validUntil)
        switch seconds {
        case ..<certificate.validFrom:
            return .problem(
                "certificate",
                app,
                "holds from \(start) only",
                remedy: "set this machine's clock; if it is right, correct the server's certificate"
            )
        case certificate.validUntil...:
            return .problem(
                "certificate",
                app,
                "ended at \(end)",
                remedy: "renew the server's certificate; if it is new, set this machine's clock"
            )
        case certificate.validUntil.subtracting(clamping: longestNotice)...:
            return .warning(
                "certificate",
                app,
                "ends at \(end)",
                remedy: "renew the server's certificate before that"
            )
        default:
            return .good("certificate", app, "holds until \(end)")
        }
    }

    /// Nil if the server does not use TLS, or cannot be reached: other checks report that.
    func certificate(of app: AppConfiguration) async -> [Finding] {
        guard app.baseURL.scheme == .https else { return [] }
        let name = app.baseURL.host
        do throws(TransportError) {
            let shown = try await PeerCertificate.read(
                host: name.hasPrefix("[") ? String(name.dropFirst().dropLast()) : name,
                port: app.baseURL.port ?? 443,
                timeout: .seconds(10)
            )
            return [Self.certificate(of: app.name, shown, now: now())]
        } catch {
            return []
        }
    }
}

extension WallTime {
    /// The time in the `Date` header of an HTTP answer, as every server of today writes it: "Sun, 06 Nov
    /// 1994 08:49:37 GMT" (RFC 9110, 5.6.7).
    init?(httpDate text: String) {
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let form = /[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT/
        guard let match = text.wholeMatch(of: form),
            let month = months.firstIndex(of: String(match.2)), let day = Int(match.1),
            (1...31).contains(day), let year = Int64(match.3), let hour = Int64(match.4),
            let minute = Int64(match.5), let second = Int64(match.6)
        else { return nil }
        let days = CalendarDay(year: year, month: month + 1, day: day).daysSince1970
        let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second
        self.init(millisecondsSince1970: seconds * 1_000)
    }
}
