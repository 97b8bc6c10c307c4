/// The version of this program.
let serverVersion = "0.1.0"
