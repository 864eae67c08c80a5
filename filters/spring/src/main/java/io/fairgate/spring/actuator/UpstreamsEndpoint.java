package io.fairgate.spring.actuator;

import io.fairgate.spring.upstream.InstanceAddress;
import io.fairgate.spring.upstream.LiveUpstream;
import io.fairgate.spring.upstream.Upstreams;
import io.fairgate.upstream.InstanceStatus;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/** {@code /actuator/upstreams}: the state of each instance of every upstream. */
@Endpoint(id = "upstreams")
public record UpstreamsEndpoint(Upstreams byName) {

    /** An {@link InstanceStatus} for each instance, as the page shows it. */
    @ReadOperation
    public Map<String, List<Map<String, Object>>> upstreams() {
        Map<String, List<Map<String, Object>>> shown = new LinkedHashMap<>();
        for (LiveUpstream upstream : byName.all()) {
            shown.put(
                    upstream.name(),
                    upstream.status().stream().map(UpstreamsEndpoint::shown).toList());
        }
        return shown;
    }

    private static Map<String, Object> shown(InstanceStatus<InstanceAddress> status) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("instance", status.instance().toString());
        shown.put("weight", status.weight());
        shown.put("inFlight", status.inFlight());
        shown.put("inUse", status.isInUse());
        shown.put("failuresInARow", status.failures());
        shown.put("ready", status.isReady());
        if (status.asideNanos() >= 0) {
            shown.put("asideSeconds", status.asideNanos() / 1e9);
        }
        return shown;
    }
}
