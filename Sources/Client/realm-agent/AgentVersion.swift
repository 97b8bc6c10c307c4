/// The version of the programs; the change log says what is in it.
let agentVersion = "0.1.0"
