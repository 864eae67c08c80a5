package io.fairgate.spring.refusal;

import io.fairgate.spring.refusal.DecisionLog.Decision;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpMethod;

/**
 * Writes an audit record for every request that was refused for its identity, or would have been outside of a dry run.
 */
record IdentityAudit(RecordLog log) {

    /** @param key the id of the digest of the API key in the request; null when there is none */
    void refused(Decision decision, HttpMethod method, @Nullable String key) {
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("event", "identity-refused");
        record.put("at", decision.at().toString());
        record.put("decision", decision.id());
        record.put("status", decision.status());
        record.put("reason", decision.reason());
        record.put("enforced", decision.enforced());
        put(record, "peer", decision.peer());
        put(record, "claimed", decision.claimed());
        put(record, "key", key);
        put(record, "route", decision.route());
        record.put("method", method.name());
        record.put("path", decision.path());
        log.add(record);
    }

    private static void put(Map<String, Object> record, String name, @Nullable String value) {
        if (value != null) {
            record.put(name, value);
        }
    }
}
