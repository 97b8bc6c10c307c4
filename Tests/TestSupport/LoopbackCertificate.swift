/// A certificate of `localhost` and 127.0.0.1 that signs itself, and its key, as PEM.
package enum LoopbackCertificate {
    package static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBmjCCAUGgAwIBAgIUaefEnww+K++6LBpeEk1+hgBt7eMwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMDIwMzEzMVoYDzIxMjYxMDI3
        MjAzMTMxWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAT4sLD3/NmaGaCo4vuWJdBp953o8PIkGvTajdA1mffwEkP4YAviGR/4
        e6dbPBYayVlkS76w844BC/TM9Z3T9VsSo28wbTAdBgNVHQ4EFgQUOMJBcljus0md
        A8a7nRiX11CSQRwwHwYDVR0jBBgwFoAUOMJBcljus0mdA8a7nRiX11CSQRwwDwYD
        VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
        zj0EAwIDRwAwRAIgT7BhNxqxsXkxlDhH0RPdRz6/jfC5hLZjOyHJ9hF+JVECIFiJ
        7XBN/fU7qYdujo2vtz+jr4SZUteW1+RmY5fDFZam
        -----END CERTIFICATE-----
        """

    package static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgMoqxA9FJTCL++uVx
        z8pvpLBZh+UZ/wAff4klSPRSCrihRANCAAT4sLD3/NmaGaCo4vuWJdBp953o8PIk
        GvTajdA1mffwEkP4YAviGR/4e6dbPBYayVlkS76w844BC/TM9Z3T9VsS
        -----END PRIVATE KEY-----
        """
}
