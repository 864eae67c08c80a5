package io.fairgate.gateway.start;

import io.fairgate.gateway.Fairgate;

import picocli.CommandLine.IVersionProvider;

/** The version in the jar's manifest. */
public final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {text()};
    }

    static String text() {
        String version = Fairgate.class.getPackage().getImplementationVersion();
        return "fairgate " + (version == null ? "(built from source)" : version);
    }
}
