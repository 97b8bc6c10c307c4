/// The version of the programs; the change log describes it.
let agentVersion = "0.1.0"
