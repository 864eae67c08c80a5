package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.http.MembersPolicy;
import io.fairgate.benchmarks.load.Load;
import java.util.List;

/** What becomes of the requests of a load, all of which are alike. */
enum RequestKind {
    FORWARDED("forwarded", 200, "/open/x", true),
    NO_IDENTITY("401: no identity", 401, "/open/x", false),
    QUOTA_USED_UP("429: a quota is used up", 429, "/spent/x", true),
    QUEUE_FULL("503: the queue of the pool is full", 503, "/full/x", true);

    final String description;
    final int status;
    private final String path;
    private final boolean isIdentified;

    RequestKind(String description, int status, String path, boolean isIdentified) {
        this.description = description;
        this.status = status;
        this.path = path;
        this.isIdentified = isIdentified;
    }

    /** A load of such requests for a time, which fails at an answer of another kind. */
    Load during(Schedule schedule, int port) {
        return Load.during(schedule.time(), port, path, tenants(), GatewayCost.CONNECTIONS)
                .answeredWith(status);
    }

    /** The same for a number of requests. */
    Load times(long requests, int port) {
        return Load.times(requests, port, path, tenants(), GatewayCost.CONNECTIONS)
                .answeredWith(status);
    }

    private List<String> tenants() {
        return isIdentified ? MembersPolicy.active() : List.of();
    }
}
