import NIOSSL

/// A failed TLS handshake, in words that name the remedy.
package enum TLSFailure {
    /// Nil if the error is not a TLS error.
    package static func sentence(for error: any Error) -> String? {
        switch error {
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: sentence(for: "\(error)")
        default: nil
        }
    }

    private static func sentence(for text: String) -> String {
        words.first { text.contains($0.word) }?.sentence ?? text
    }

    /// Words from the library's error stack, and from the alerts of peers.
    private static let words: [(word: String, sentence: String)] = [
        (
            "CERTIFICATE_VERIFY_FAILED",
            "the server's certificate is not trusted; install the package ca-certificates, or name its "
                + "authority in tls.ca_file"
        ),
        (
            "NIOSSLExtraError.failedToValidateHostname",
            "the server's certificate is for another name; correct base_url, or the certificate"
        ),
        (
            "CERTIFICATE_REQUIRED",
            "the server requires a client certificate; name one in tls.client_certificate"
        ),
        ("ALERT_UNKNOWN_CA", refusal("its authority is unknown")),
        ("ALERT_CERTIFICATE_EXPIRED", refusal("it has expired")),
        ("ALERT_CERTIFICATE_REVOKED", refusal("it is revoked")),
        ("ALERT_BAD_CERTIFICATE", refusal("it is damaged or unsuitable")),
        ("ALERT_CERTIFICATE_UNKNOWN", refusal("it is not acceptable")),
        ("ALERT_ACCESS_DENIED", refusal("it does not grant access")),
        ("WRONG_VERSION_NUMBER", "the server does not use TLS on this port"),
    ]

    private static func refusal(_ reason: String) -> String {
        "the server refuses the certificate of tls.client_certificate: \(reason)"
    }
}
