package io.fairgate.gateway.start;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Names our options. Boot's own message says that "this application" must be configured. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class PortInUseAnalyzer extends AbstractFailureAnalyzer<PortInUseException> {
    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, PortInUseException cause) {
        String description =
                "Port %d is in use already: end what listens there, or choose other ports with --server.port=PORT (traffic), --management.server.port=PORT (management) and --fairgate.leases.port=PORT (leases)."
                        .formatted(cause.getPort());
        return new FailureAnalysis(description, null, cause);
    }
}
