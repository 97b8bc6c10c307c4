/// An RSA key pair for tests; it opens nothing.
enum TestRSAKey {
    static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDC40B/KwDOzFJn
        Fr4LaIvKUbiJDfZ+lyylu8W7TIobgHgPV1t6CQgmSHprkVgs6duOUCYjgX9dMjCR
        VXGDr9d9b6x1YaORYMYQ2e4ewptDpH+wNQclDqcs+MOMw1WgHSI43ELKHmfItr8e
        ERiULfNt+C2liG4FMafvzYFjqzMuySi6YcSZhM052UOi8xbF/W9WthuGP+SBrdkG
        APGOd+K43aN05Hjb55fEe2FzQF0DQLinTB/0Jm4AXyMP01mf5dlng2UBAOU5UmOS
        dVNNl47CgS5rHz9uvTOgENfu0UrzloW1h6XZCtu4Ay8tHD/DKho80UdjFDZNs5WM
        YDoI+jWDAgMBAAECggEAEr7o2h0+T3tKz9IEXLTlLAROo5boEgbONhuI1PpzQbBK
        nBsoguVcgdDbPv6KLzkdXnkqJKR/pkITdt9I8xmWY4vlgvLt2Kgo1RUeo5nPdSMH
        tItykPzHACXmKrjdQxtE9ULb2nTbQcIGQcjzhslMDtSzkKZorW+Nz5ys/fPJPA4q
        r1AM27r86G3SN2I6IYz5pxFVmPoVnjjZD4CRbmwQTXXcqAhBoIUOyURaszapvMCy
        1tTn8rpsuN8M2k9ULiaC1qwjIybpS2VgKGbdiELVLxkg+bI/ggcWI1Tp9HwAXKfx
        ecz+2dc7fqYNpBsKLpHH4SzVvs8jLzvTEtYZ5sTRIQKBgQDohy60vHoYD5LBPazU
        gUXoqzVWe79N9lYWUiwLc99rzD/ef8c2XGd5HcJgwQ25lIOn65Op4e72m3Q6nwc8
        u96DEWxEKwmaPltYzSr8AExs7O/TX+tbV3U91mVLu/miKbf3nZMZj85glYoe4nKS
        0Oxsp/2SP3IuF1q9Aoq2Eb8powKBgQDWj2U44AhtifNXK9cim7aTtfllRroDiVPE
        73LvqUXhnq91Bv/3cG00CGsZooAxPzF/dK7u+4w8RiatVpAA3R+5YIxnnUre8ddS
        xKBLkvBPReqx8y+sOieYA+4cE/QPEpASCi7ME+zZ3px9tZv1PBlQTS6OS+OhoR4h
        neGyFzdCoQKBgQDFkba5kjsbHoBO+JxUotJHctEK/nH5SAi1RnRt9rIq4YyS/HbD
        VZgFbKevldiXifyjPKJmgbWMi2EiPeTkUawqKS+YbAjoqXrr5MdU/tvw4RCUxLcx
        EQpo1DWVN85PXqsVFSnbWji8D9MfksBOxn1bhREKpiXZy7YpSnOZZ1LJiQKBgGeA
        GLYM7EPa7fW5AjiBoNs0RzAhpA2cqzouv+T4ZOtnXwA29jboluUownFFQE2BTGFN
        ai2CTq2ssW+geCrSgEEuX8yDxeAyDUqx6xlJsn6rHYHl67NLAlqEWtJUlcDHlZP+
        MYDkg7a9egPyHV95NETWVoTx+sa3MA/LV1pPdKrBAoGAHa/ouT4JuNZaVRQbnTv1
        BtGm8LQKVEUpqrzC0r0O+qvQ3rczMNqgrPy5L9eQLIe7VURN7zbFEkjx4lzGv4uI
        kajw0iYBRHJDRkWJcrDoI2vgvPlkvvD6kIRDnMoE64NewT4Xm9E1atVKfPSTkSXH
        vZQr9EWLaQxJ4VfFXn+nY4w=
        -----END PRIVATE KEY-----
        """

    /// The modulus as key sets have it.
    static let modulus = """
        wuNAfysAzsxSZxa-C2iLylG4iQ32fpcspbvFu0yKG4B4D1dbegkIJkh6a5FYLOnbjlAmI4F_XTIwkVVx\
        g6_XfW-sdWGjkWDGENnuHsKbQ6R_sDUHJQ6nLPjDjMNVoB0iONxCyh5nyLa_HhEYlC3zbfgtpYhuBTGn\
        782BY6szLskoumHEmYTNOdlDovMWxf1vVrYbhj_kga3ZBgDxjnfiuN2jdOR42-eXxHthc0BdA0C4p0wf\
        9CZuAF8jD9NZn-XZZ4NlAQDlOVJjknVTTZeOwoEuax8_br0zoBDX7tFK85aFtYel2QrbuAMvLRw_wyoa\
        PNFHYxQ2TbOVjGA6CPo1gw
        """

    /// The public key of another pair, without its private key.
    static let strangeModulus = """
        tPhwxOpZy2Vgzt3DHtj5PM3cyWTXqvTTLq_A5NeivjLLP0DsOnV02MYzedHCjLBDC7jjhObYeL8jCpqi\
        OTIJeisOGfA9r1pi4k-fwn2EasOtWGsvtlULz6bpXfK_8AUaaViCXhMV1YMo-K1E4KCk0zjfWgQeFHlD\
        gOv3CKyWa9u6amebr9RtYpLIEVlIXVNaOxPcoglAzyDlokIWjln6i8whIC5la294sXk5iZZM5zWbl1T2\
        SizgaQI2TA0kVjSbDvpxTwjmI_r4qdmpzKmMcg62EEnm1YCI1mZu4qJP8bh8ryS2wYqo03mg6jbIS0XY\
        5d3BpVYCFVU0t-7kw6ehGw
        """

    static let exponent = "AQAB"
}
