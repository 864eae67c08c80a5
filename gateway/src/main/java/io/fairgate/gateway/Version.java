package io.fairgate.gateway;

import picocli.CommandLine.IVersionProvider;

/** The version in the jar's manifest. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {text()};
    }

    static String text() {
        String version = Fairgate.class.getPackage().getImplementationVersion();
        return "fairgate " + (version == null ? "(built from source)" : version);
    }
}
