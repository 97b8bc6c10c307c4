/// Describes the machine in a log-in request; all fields are sent, unknown ones empty (app
/// services, 4.2).
package struct DeviceDescription: Sendable {
    package let platformVersion: String
    package let sdkVersion: String
    package let architecture: String
    package let name: String

    package init(platformVersion: String, sdkVersion: String, architecture: String, name: String) {
        self.platformVersion = platformVersion
        self.sdkVersion = sdkVersion
        self.architecture = architecture
        self.name = name
    }

    func fields(appID: String) -> [String: String] {
        [
            "appId": appID,
            "platform": "Linux",
            "platformVersion": platformVersion,
            "sdk": "realm-agent",
            "sdkVersion": sdkVersion,
            "cpuArch": architecture,
            "deviceName": name,
            "deviceVersion": "",
            "frameworkName": "",
            "frameworkVersion": "",
            "coreVersion": "14.14.0",
            "bundleId": "",
        ]
    }
}
