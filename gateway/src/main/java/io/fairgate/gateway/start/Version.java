package io.fairgate.gateway.start;

import picocli.CommandLine.IVersionProvider;

/** The version in the jar's manifest. */
public final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {text()};
    }

    public static String text() {
        String version = Version.class.getPackage().getImplementationVersion();
        return "fairgate " + (version == null ? "(built from source)" : version);
    }
}
