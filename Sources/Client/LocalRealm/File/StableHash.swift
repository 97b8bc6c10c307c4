/// A hash that is the same in every process (FNV-1a of 64 bits). It protects from accidents, not from intent.
package enum StableHash {
    package static func value(of bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(14_695_981_039_346_656_037) { hash, byte in
            (hash ^ UInt64(byte)) &* 1_099_511_628_211
        }
    }
}
