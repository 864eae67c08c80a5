package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.redis.lease.BookedLease.Grant;
import io.fairgate.redis.lease.BookedLease.Refusal;
import io.fairgate.redis.lease.BookedLease.Wait;
import io.fairgate.tenant.TenantId;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A record of the book as text: first the fields that the script knows, a line each, then the rest, which only gateways read. Names are
 * percent-encoded, so that they contain no spaces and no line breaks.
 */
final class RecordText {

    /** The lines before the rest. */
    private static final int FIELDS = 12;

    /** The lines of the rest before the grants. */
    private static final int BEFORE_GRANTS = 4;

    private RecordText() {}

    static String encoded(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8);
    }

    static String decoded(String name) {
        return URLDecoder.decode(name, StandardCharsets.UTF_8);
    }

    /** The rest of a record. */
    static String rest(BookedLease lease) {
        List<String> lines = new ArrayList<>();
        lines.add("%d %d %d".formatted(lease.maxHold(), lease.ends(), lease.extendedUntil()));
        lines.add(encoded(lease.holder().owner().value()) + " "
                + encoded(lease.holder().name()));
        Refusal refusal = lease.refusal();
        lines.add(
                refusal == null
                        ? ""
                        : "%s %s %d".formatted(encoded(refusal.pool()), refusal.reason(), refusal.since()));
        Wait waiting = lease.waiting();
        lines.add(waiting == null ? "" : wait(waiting));
        for (Grant grant : lease.grants()) {
            lines.add("%s %d %d %d %d %s %d"
                    .formatted(
                            encoded(grant.pool()),
                            grant.permits(),
                            grant.token(),
                            grant.waited(),
                            grant.at(),
                            grant.claim(),
                            grant.isRecorded() ? 1 : 0));
        }
        return String.join("\n", lines);
    }

    private static String wait(Wait waiting) {
        Long ttl = waiting.ttl();
        return (ttl == null ? "-" : ttl) + " "
                + waiting.permits().entrySet().stream()
                        .map(each -> encoded(each.getKey()) + " " + each.getValue())
                        .collect(Collectors.joining(" "));
    }

    /** The whole record, as the script keeps it. A lease that waits gets another place. */
    static String whole(BookedLease lease) {
        Wait waiting = lease.waiting();
        return String.join(
                "\n",
                Long.toString(lease.revision()),
                Long.toString(lease.serial()),
                Long.toString(
                        lease.grants().stream().mapToLong(Grant::token).max().orElse(0)),
                Long.toString(lease.expires()),
                lease.grants().isEmpty() ? "0" : "1",
                waiting == null ? "0" : "1",
                lease.host(),
                lease.tenant().value(),
                waiting == null ? "" : encoded(waiting.pool()),
                Integer.toString(waiting == null ? 0 : waiting.permitsOfPool()),
                Long.toString(waiting == null ? 0 : waiting.since()),
                Long.toString(lease.remembered()),
                rest(lease));
    }

    /** @param place in the queue; 0 when it is not known */
    static BookedLease read(LeaseId id, String text, int place) {
        String[] lines = text.split("\n", -1);
        String[] times = lines[FIELDS].split(" ", -1);
        String[] names = lines[FIELDS + 1].split(" ", -1);
        long lastToken = Long.parseLong(lines[2]);
        List<Grant> grants = new ArrayList<>();
        for (int i = FIELDS + BEFORE_GRANTS; i < lines.length; i++) {
            grants.add(grant(lines[i].split(" ", -1), lastToken));
        }
        return new BookedLease(
                id,
                Long.parseLong(lines[0]),
                Long.parseLong(lines[1]),
                new LeaseHolder(TenantId.of(lines[7]), TenantId.of(decoded(names[0])), decoded(names[1])),
                Long.parseLong(lines[11]),
                lines[6],
                Long.parseLong(lines[3]),
                Long.parseLong(times[0]),
                Long.parseLong(times[1]),
                Long.parseLong(times[2]),
                grants,
                waiting(lines, place),
                refusal(lines[FIELDS + 2]));
    }

    private static @Nullable Wait waiting(String[] lines, int place) {
        String waiting = lines[FIELDS + 3];
        if (waiting.isEmpty()) {
            return null;
        }
        String[] words = waiting.split(" ", -1);
        Map<String, Integer> permits = new TreeMap<>();
        for (int i = 1; i < words.length; i += 2) {
            permits.put(decoded(words[i]), Integer.parseInt(words[i + 1]));
        }
        Long ttl = words[0].equals("-") ? null : (Long) Long.parseLong(words[0]);
        return new Wait(permits, decoded(lines[8]), Long.parseLong(lines[10]), ttl, place);
    }

    private static @Nullable Refusal refusal(String line) {
        String[] words = line.split(" ", -1);
        return line.isEmpty() ? null : new Refusal(decoded(words[0]), words[1], Long.parseLong(words[2]));
    }

    /** The script gives a grant its token: until the next change, only the script's own field has it. */
    private static Grant grant(String[] words, long lastToken) {
        long token = Long.parseLong(words[2]);
        return new Grant(
                decoded(words[0]),
                Integer.parseInt(words[1]),
                token == 0 ? lastToken : token,
                Long.parseLong(words[3]),
                Long.parseLong(words[4]),
                words[5],
                words[6].equals("1"));
    }
}
