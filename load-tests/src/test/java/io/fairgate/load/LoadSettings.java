package io.fairgate.load;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.regex.Pattern;

/** The parameters of a run; {@link NoisyNeighbourSimulation} says what each is for. */
record LoadSettings(
        URI gateway, Routes routes, Tenant noisy, Tenant quiet, Duration warmUp, Duration phase, Limits limits) {

    record Routes(String fair, String plain) {}

    record Tenant(String name, int users) {}

    record Limits(double maxRatio, double minGain) {}

    /** What the gateway accepts as the name of a tenant. */
    private static final Pattern TENANT = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    /** Gatling would read a number sign and a brace as the start of an expression. */
    private static final Pattern PATH = Pattern.compile("/[^#\\s]*");

    LoadSettings {
        if (noisy.name().equals(quiet.name())) {
            throw Parameters.unexpected("quietTenant", quiet.name(), "another name than the noisy tenant's");
        }
    }

    static LoadSettings from(Parameters given) {
        return new LoadSettings(
                gateway(given),
                new Routes(given.text("fairPath", "/fair/", PATH), given.text("plainPath", "/plain/", PATH)),
                new Tenant(given.text("noisyTenant", "noisy", TENANT), given.whole("noisyUsers", 64, 5_000)),
                new Tenant(given.text("quietTenant", "quiet", TENANT), given.whole("quietUsers", 2, 5_000)),
                Duration.ofSeconds(given.whole("warmUpSeconds", 3, 600)),
                Duration.ofSeconds(given.whole("seconds", 10, 3_600)),
                new Limits(given.factor("maxRatio", 1.5), given.factor("minGain", 1.5)));
    }

    /** Loading somebody else's machine is an attack, so it takes a deliberate word. */
    private static URI gateway(Parameters given) {
        URI gateway = given.origin("gateway", "http://localhost:8080");
        if (!given.flag("allowRemote") && !isThisMachine(gateway.getHost())) {
            throw Parameters.unexpected(
                    "gateway",
                    gateway.toString(),
                    "this machine's loopback, or -DallowRemote=true if you may put load on that host");
        }
        return gateway;
    }

    private static boolean isThisMachine(String host) {
        try {
            return Arrays.stream(InetAddress.getAllByName(host)).allMatch(InetAddress::isLoopbackAddress);
        } catch (UnknownHostException unknown) {
            return false;
        }
    }
}
