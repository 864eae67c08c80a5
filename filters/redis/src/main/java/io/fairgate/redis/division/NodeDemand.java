package io.fairgate.redis.division;

import io.fairgate.fairness.AskedPermits;
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
 * @param large of requests for many permits
 */
public record NodeDemand(Map<TenantId, Double> wanted, double owed, int limit, LargeDemand large) {

    public static final NodeDemand NONE = new NodeDemand(Map.of(), 0, Integer.MAX_VALUE, LargeDemand.NONE);

    /** The most tenants in a text, which then has 80 kB with the longest ids. */
    static final int MOST_TENANTS = 1_000;

    /** The first word of a text: a later version may tell more. */
    private static final String VERSION = "2";

    /** The words of a text before those of the tenants. */
    private static final int NUMBERS = 6;

    private static final double LEAST = 0.01;
    /** Far more than any pool has. */
    static final double MOST_PERMITS = 1e9;

    /** @throws IllegalArgumentException when a number is not finite, or a wanted one not more than 0 and at most a billion */
    public NodeDemand {
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

    /** What requests ask for, with numbers as large as the others read. */
    public static NodeDemand of(AskedPermits asked, double owed, int limit, double urgency, int leased) {
        int needed = asked.largest() == 0 ? 0 : asked.largest() + leased;
        LargeDemand large = new LargeDemand(needed, urgency, leased, bounded(asked.behindLarge()));
        return new NodeDemand(bounded(asked.permits()), owed, limit, large);
    }

    private static Map<TenantId, Double> bounded(Map<TenantId, Double> permits) {
        Map<TenantId, Double> bounded = new HashMap<>(permits);
        bounded.replaceAll((tenant, n) -> Math.min(n, MOST_PERMITS));
        return bounded;
    }

    /**
     * The text for the ledger. Of more than {@value #MOST_TENANTS} tenants it names those that want most, and adds what the
     * others want to these, so that the sum is right.
     */
    public String text() {
        List<Map.Entry<TenantId, Double>> most = wanted.entrySet().stream()
                .sorted(Map.Entry.<TenantId, Double>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(entry -> entry.getKey().value()))
                .limit(MOST_TENANTS)
                .toList();
        double scale =
                sum(wanted) / most.stream().mapToDouble(Map.Entry::getValue).sum();
        StringBuilder text = new StringBuilder(VERSION)
                .append(' ')
                .append(String.format(
                        Locale.ROOT, "%.4f", owed)) // nodes that are owed nearly the same must agree who is next
                .append(' ')
                .append(limit)
                .append(' ')
                .append(large.leased())
                .append(' ')
                .append(large.needed())
                .append(' ')
                .append(number(large.urgency()));
        most.forEach(entry -> {
            text.append(' ')
                    .append(entry.getKey())
                    .append(':')
                    .append(number(Math.max(LEAST, entry.getValue() * scale)));
            double behind = large.behind(entry.getKey()) * scale;
            if (behind >= LEAST) {
                text.append(':').append(number(behind));
            }
        });
        return text.toString();
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }

    /**
     * What a text says; {@link #NONE} for a malformed text, and for one of another version, as other nodes may write during an
     * upgrade.
     */
    public static NodeDemand parse(String text) {
        String[] words = text.split(" ", -1);
        if (words.length < NUMBERS || !words[0].equals(VERSION)) {
            return NONE;
        }
        try {
            Map<TenantId, Double> wanted = new HashMap<>();
            Map<TenantId, Double> behind = new HashMap<>();
            for (int i = NUMBERS; i < words.length; i++) {
                String[] parts = words[i].split(":", 3);
                TenantId tenant = TenantId.of(parts[0]);
                wanted.put(tenant, Double.parseDouble(parts[1]));
                if (parts.length > 2) {
                    behind.put(tenant, Double.parseDouble(parts[2]));
                }
            }
            LargeDemand large = new LargeDemand(
                    Integer.parseInt(words[4]), Double.parseDouble(words[5]), Integer.parseInt(words[3]), behind);
            return new NodeDemand(wanted, Double.parseDouble(words[1]), Integer.parseInt(words[2]), large);
        } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException malformed) {
            return NONE;
        }
    }

    /** The same without the first permits, which are served beside the slice; of all tenants by the same fraction. */
    public NodeDemand without(int permits) {
        double all = sum(wanted);
        if (permits == 0 || all == 0) {
            return this;
        }
        double part = Math.max(0, all - permits) / all;
        LargeDemand rest = new LargeDemand(
                Math.max(0, large.needed() - permits), large.urgency(), large.leased(), partOf(large.behind(), part));
        return new NodeDemand(partOf(wanted, part), owed, limit, rest);
    }

    /** What is wanted without the first permits, of all tenants by the same fraction. */
    static Map<TenantId, Double> without(int permits, Map<TenantId, Double> wanted) {
        double all = sum(wanted);
        return all == 0 ? wanted : partOf(wanted, Math.max(0, all - permits) / all);
    }

    private static Map<TenantId, Double> partOf(Map<TenantId, Double> permits, double part) {
        Map<TenantId, Double> parts = new HashMap<>();
        if (part > 0) {
            permits.forEach((tenant, n) -> parts.put(tenant, n * part));
        }
        return parts;
    }

    private static double sum(Map<TenantId, Double> wanted) {
        return wanted.values().stream().mapToDouble(Double::doubleValue).sum();
    }
}
