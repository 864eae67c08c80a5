package io.fairgate.gateway.start;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.gateway.redis.NotWithRedisException;
import io.fairgate.gateway.redis.RedisServerSettings;
import io.fairgate.quota.journal.UnusableJournalException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalysisReporter;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Describes failures of our own without a stack trace, and a port in use with our options. Prints the description of any
 * failure, and nothing else, to standard error; Boot's own reporter adds headings, and is switched off in application.yml.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class StartFailures implements FailureAnalyzer, FailureAnalysisReporter {

    @Override
    public void report(FailureAnalysis analysis) {
        System.err.println(analysis.getDescription());
        if (analysis.getAction() != null) {
            System.err.println(analysis.getAction());
        }
    }

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String description = description(cause);
            if (description != null) {
                return new FailureAnalysis(description, null, cause);
            }
        }
        return null;
    }

    private static @Nullable String description(Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        if (cause instanceof PortInUseException inUse) {
            return "Cannot bind port %d (address in use). Stop the other process, or use --server.port=PORT (traffic), --management.server.port=PORT (management) or --fairgate.leases.port=PORT (leases)."
                    .formatted(inUse.getPort());
        } else if (cause instanceof InvalidPolicyException
                || cause instanceof KnownSettings.UnknownException
                || cause instanceof NotWithRedisException) {
            return message;
        } else if (cause instanceof UnusableJournalException) {
            return "fairgate.quotas.journal: " + message;
        } else if (cause instanceof UnboundConfigurationPropertiesException unknown) {
            // Boot would also print the values, and a misspelt password with them.
            return unknown.getUnboundProperties().stream()
                    .map(property -> property.getName() + ": unknown setting")
                    .collect(Collectors.joining("\n"));
        } else if (cause instanceof BindException
                && !(cause.getCause() instanceof UnboundConfigurationPropertiesException)) {
            // The message of a record that refused a setting. What Boot cannot convert is left to Boot.
            String root = NestedExceptionUtils.getMostSpecificCause(cause).getMessage();
            return root != null && (root.startsWith("fairgate.") || root.startsWith(RedisServerSettings.PREFIX + "."))
                    ? root
                    : null;
        }
        return null;
    }
}
