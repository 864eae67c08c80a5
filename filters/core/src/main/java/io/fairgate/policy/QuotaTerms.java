package io.fairgate.policy;

import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The quotas of groups, and how quotas are reported to clients.
 *
 * @param ofGroups the quotas that the tenants in a group share, by the group's name
 * @param headerStyle the header fields that report balances to clients
 */
public record QuotaTerms(Map<String, List<QuotaRule>> ofGroups, HeaderStyle headerStyle) {

    /** No quotas of groups. */
    public static final QuotaTerms NONE = new QuotaTerms(Map.of(), HeaderStyle.DRAFT);

    /** The header fields that report the balances of quotas to clients. */
    public enum HeaderStyle {
        /** {@code RateLimit} and {@code RateLimit-Policy} of draft-ietf-httpapi-ratelimit-headers. */
        DRAFT,
        /** {@code X-RateLimit-Limit}, {@code -Remaining} and {@code -Reset}, of the quota with the smallest balance. */
        LEGACY,
        /** No fields. */
        NONE
    }

    /** @throws IllegalArgumentException when a group has two quotas of the same name */
    public QuotaTerms {
        Map<String, List<QuotaRule>> copy = new LinkedHashMap<>();
        ofGroups.forEach((group, rules) -> copy.put(group, distinct(rules)));
        ofGroups = Collections.unmodifiableMap(copy);
    }

    /** A copy of the rules. Throws {@link IllegalArgumentException} when two of them have the same name. */
    static List<QuotaRule> distinct(List<QuotaRule> rules) {
        Set<String> names = new HashSet<>();
        for (QuotaRule rule : rules) {
            if (!names.add(rule.quota().name())) {
                throw new IllegalArgumentException("quotas: %s twice (expected: a name of its own for each)"
                        .formatted(rule.quota().name()));
            }
        }
        return List.copyOf(rules);
    }
}
