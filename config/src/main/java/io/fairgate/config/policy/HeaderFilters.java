package io.fairgate.config.policy;

import io.fairgate.config.yaml.Value;
import io.fairgate.policy.TrustedProxies;
import java.util.Map;
import java.util.Set;

/** Warns of Spring Cloud Gateway's filters that set, or remove, a header of the request that the gateway sets after them. */
final class HeaderFilters {

    private static final Set<String> FILTERS =
            Set.of("AddRequestHeader", "AddRequestHeadersIfNotPresent", "RemoveRequestHeader", "SetRequestHeader");

    private HeaderFilters() {}

    /** @param arguments those of the short form: the name of the header first */
    static void check(Value filter, String name, String arguments) {
        String header = arguments.split("[,:]", 2)[0].strip();
        if (FILTERS.contains(name) && TrustedProxies.isSetByGateway(header)) {
            filter.warn("the gateway sets %s after all filters, so this filter has no effect".formatted(header));
        }
    }

    /** @param arguments those of the long form */
    static void check(Value filter, String name, Map<String, Value> arguments) {
        Value header = arguments.get("name");
        String text = header == null ? null : header.scalar();
        if (text != null) {
            check(filter, name, text);
        }
    }
}
