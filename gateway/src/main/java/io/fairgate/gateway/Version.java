package io.fairgate.gateway;

import picocli.CommandLine.IVersionProvider;

/** The version in the jar's manifest. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        String version = Fairgate.class.getPackage().getImplementationVersion();
        return new String[] {"fairgate " + (version == null ? "(built from source)" : version)};
    }
}
