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

/// A certificate of `localhost` and 127.0.0.1 with the key of ``LoopbackCertificate`` that signs itself, as PEM. It
/// was valid in 2020.
package enum ExpiredCertificate {
    package static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBYTCCAQigAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
        c3QwHhcNMjAwMTAxMDAwMDAwWhcNMjEwMTAxMDAwMDAwWjAUMRIwEAYDVQQDDAls
        b2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAT4sLD3/NmaGaCo4vuW
        JdBp953o8PIkGvTajdA1mffwEkP4YAviGR/4e6dbPBYayVlkS76w844BC/TM9Z3T
        9VsSo0swSTAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwDAYDVR0TBAUwAwEB
        /zAdBgNVHQ4EFgQUOMJBcljus0mdA8a7nRiX11CSQRwwCgYIKoZIzj0EAwIDRwAw
        RAIgIQHsxgKJPdkEOdNx6L9IbqYCbuOZWkWbbqu0m6Lay94CIEC/6wuKnhzN7jCV
        NwM7WJ0ojri4/F3uoeczp5BlVvl9
        -----END CERTIFICATE-----
        """
}

/// A self-signed certificate of an unknown issuer and its key, as PEM.
package enum StrangerCertificate {
    package static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBfjCCASOgAwIBAgIUIU1dbRpiYP45jOM7HO1xBi2zyvkwCgYIKoZIzj0EAwIw
        EzERMA8GA1UEAwwIc3RyYW5nZXIwIBcNMjYxMTIyMDMzMzEwWhgPMjEyNjEwMjkw
        MzMzMTBaMBMxETAPBgNVBAMMCHN0cmFuZ2VyMFkwEwYHKoZIzj0CAQYIKoZIzj0D
        AQcDQgAE2S/jG2C+ECtFfM2DrzZs23SfJJLtnuUOLIsheTp3jikMWtvyMlcjKDrs
        Qi4VbZvu7p6//Yq+M28kFhZNsMNC5KNTMFEwHQYDVR0OBBYEFNajmaC+Y8NPGjur
        96g42u1IOBk2MB8GA1UdIwQYMBaAFNajmaC+Y8NPGjur96g42u1IOBk2MA8GA1Ud
        EwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAPFpMBl3Eum1tu1OIs9MK8FT
        5ALLmaY/SbyS316MMptHAiEAuilu+DJAby1t7JioxuCetw+RBQfOym6WTdjIgtIk
        Aqk=
        -----END CERTIFICATE-----
        """

    package static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgNhpeWO9oRw/q4LZw
        7icCKGsom0TeV/ZX1Vq8FvnjcQihRANCAATZL+MbYL4QK0V8zYOvNmzbdJ8kku2e
        5Q4siyF5OneOKQxa2/IyVyMoOuxCLhVtm+7unr/9ir4zbyQWFk2ww0Lk
        -----END PRIVATE KEY-----
        """
}
