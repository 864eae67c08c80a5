package io.fairgate.redis.slice;

import io.fairgate.tenant.TenantId;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a node tells the others of its requests.
 *
 * @param wanted the permits that the requests of each tenant hold and wait for at the node
 * @param owed permit-seconds that the node was entitled to and did not have; negative for more than it was entitled to
 * @param limit the size of the pool in the node's policy: while these differ, the smallest is in force
 */
record NodeDemand(Map<TenantId, Double> wanted, double owed, int limit) {

    static final NodeDemand NONE = new NodeDemand(Map.of(), 0, Integer.MAX_VALUE);

    /** The most tenants in a text, which then has 72 kB with the longest ids. */
    static final int MOST_TENANTS = 1_000;

    /** The first word of a text: a later version may tell more. */
    private static final String VERSION = "1";

    private static final double LEAST = 0.01;
    /** Far more than any pool has. */
    static final double MOST_PERMITS = 1e9;

    /** @throws IllegalArgumentException when a number is not finite, or a wanted one not more than 0 and at most a billion */
    NodeDemand {
        wanted = Map.copyOf(wanted);
        wanted.forEach((tenant, permits) -> {
            if (!(permits > 0 && permits <= MOST_PERMITS)) {
                throw new IllegalArgumentException(
                        "wanted by %s: %s (expected: > 0, <= 1e9)".formatted(tenant, permits));
            }
        });
        if (!Double.isFinite(owed)) {
            throw new IllegalArgumentException("owed: %s (expected: a finite number)".formatted(owed));
        }
        if (limit < 1) {
            throw new IllegalArgumentException("limit: %d (expected: >= 1)".formatted(limit));
        }
    }

    /**
     * The text for the ledger. Of more than {@value #MOST_TENANTS} tenants it names those that want most, and adds what the
     * others want to these, so that the sum is right.
     */
    String text() {
        List<Map.Entry<TenantId, Double>> most = wanted.entrySet().stream()
                .sorted(Map.Entry.<TenantId, Double>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(entry -> entry.getKey().value()))
                .limit(MOST_TENANTS)
                .toList();
        double scale = sum() / most.stream().mapToDouble(Map.Entry::getValue).sum();
        StringBuilder text = new StringBuilder(VERSION)
                .append(' ')
                .append(number(owed))
                .append(' ')
                .append(limit);
        most.forEach(entry -> text.append(' ')
                .append(entry.getKey())
                .append(':')
                .append(number(Math.max(LEAST, entry.getValue() * scale))));
        return text.toString();
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }

    /**
     * What a text says; {@link #NONE} for a malformed text, and for one of another version, as other nodes may write during an
     * upgrade.
     */
    static NodeDemand parse(String text) {
        String[] words = text.split(" ", -1);
        if (words.length < 3 || !words[0].equals(VERSION)) {
            return NONE;
        }
        try {
            Map<TenantId, Double> wanted = new HashMap<>();
            for (int i = 3; i < words.length; i++) {
                int colon = words[i].indexOf(':');
                wanted.put(
                        TenantId.of(words[i].substring(0, Math.max(0, colon))),
                        Double.parseDouble(words[i].substring(colon + 1)));
            }
            return new NodeDemand(wanted, Double.parseDouble(words[1]), Integer.parseInt(words[2]));
        } catch (IllegalArgumentException malformed) {
            return NONE;
        }
    }

    /** The same without the first permits, which are served beside the slice; of all tenants by the same fraction. */
    NodeDemand without(int permits) {
        double all = sum();
        if (permits == 0 || all == 0) {
            return this;
        }
        Map<TenantId, Double> rest = new HashMap<>();
        if (all > permits) {
            wanted.forEach((tenant, n) -> rest.put(tenant, n * (all - permits) / all));
        }
        return new NodeDemand(rest, owed, limit);
    }

    private double sum() {
        return wanted.values().stream().mapToDouble(Double::doubleValue).sum();
    }
}
