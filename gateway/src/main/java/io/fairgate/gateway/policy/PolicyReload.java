package io.fairgate.gateway.policy;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.Warning;
import io.fairgate.spring.policy.LivePolicy;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts the policy in force that its file says now. A file with any mistake changes nothing; one without changes
 * everything at once.
 */
public final class PolicyReload {

    private static final Logger log = LoggerFactory.getLogger(PolicyReload.class);

    /** How it went. */
    public enum Result {
        /** What the file says is in force now. */
        CHANGED,
        /** The file says what was in force already. */
        UNCHANGED,
        /** The file has mistakes, and what was in force before still is. */
        REFUSED
    }

    /**
     * What there is to tell of a reload.
     *
     * @param at when the policy file was read
     * @param contents what the policy that is in force now has
     * @param mistakes as {@code check} tells them; empty unless refused
     * @param warnings as {@code check} tells them, of the file that was read; of one with mistakes as far as it can be read
     */
    public record Report(
            Result result, Instant at, String file, String contents, List<String> mistakes, List<String> warnings) {
        public Report {
            mistakes = List.copyOf(mistakes);
            warnings = List.copyOf(warnings);
        }
    }

    private final PolicySource source;
    private final LivePolicy policy;
    private final LiveRoutes routes;
    private final PolicyCheck check;
    private PolicyFile inForce;

    /** What was read last, if it was refused. */
    private @Nullable Read refused;

    private volatile Report latest;

    PolicyReload(PolicySource source, LivePolicy policy, LiveRoutes routes, PolicyCheck check) {
        this.source = source;
        this.policy = policy;
        this.routes = routes;
        this.check = check;
        this.inForce = source.first();
        this.latest = report(Result.CHANGED, List.of(), inForce);
    }

    /** How the latest one went; before the first, how the gateway started. */
    public Report latest() {
        return latest;
    }

    /** Reads the file, and puts it in force if it says something else and has no mistake. Blocks; from any thread. */
    public synchronized Report reload() {
        return apply(read());
    }

    /**
     * The same for whoever noticed that the file may be another one, and cannot know whether it was read since: the reload
     * before may have come so late that it read this one already. If it was refused then, it is neither told nor counted
     * again.
     */
    public synchronized Report reloadUnlessRefused() {
        Read read = read();
        return read.equals(refused) ? latest : apply(read);
    }

    /**
     * What a file says.
     *
     * @param mistakes that it has by itself; it may have others, with this gateway
     */
    private record Read(PolicyFile file, List<Mistake> mistakes) {}

    private Read read() {
        try {
            return new Read(source.read(), List.of());
        } catch (InvalidPolicyException invalid) {
            return new Read(invalid.readable(), check.mistakes(source.name(), invalid));
        } catch (RuntimeException e) {
            return new Read(PolicyFile.NOTHING, unforeseen(e));
        }
    }

    private Report apply(Read read) {
        PolicyFile next = read.file();
        refused = null;
        if (!read.mistakes().isEmpty()) {
            policy.refuse();
            return refuse(read, read.mistakes());
        } else if (next.equals(inForce)) {
            return noted(report(Result.UNCHANGED, List.of(), next));
        }
        try {
            PolicyRoutes nextRoutes = PolicyRoutes.of(source.name(), next.routes());
            policy.replace(next.policy(), () -> {
                check.require(nextRoutes);
                routes.replace(nextRoutes);
            });
        } catch (InvalidRouteException invalid) {
            return refuse(read, invalid.mistakes());
        } catch (RuntimeException e) {
            return refuse(read, unforeseen(e));
        }
        inForce = next;
        Report report = noted(report(Result.CHANGED, List.of(), next));
        log.info("Policy {} is in force now: {}", report.file(), report.contents());
        report.warnings().forEach(log::warn);
        return report;
    }

    /** A bug, or a route that cannot be built for a reason that nobody foresaw: still only this file is refused. */
    private List<Mistake> unforeseen(RuntimeException e) {
        log.error("Policy {} could not be put in force", source.name(), e);
        return List.of(new Mistake(
                source.name(), 1, "file", String.valueOf(e.getMessage()), "a policy that can be put in force"));
    }

    private Report refuse(Read read, List<Mistake> mistakes) {
        log.error(
                "Policy {} is refused and the one before stays in force: {}{}",
                source.name(),
                mistakes.get(0),
                mistakes.size() == 1 ? "" : " (and %d more)".formatted(mistakes.size() - 1));
        refused = read;
        return noted(
                report(Result.REFUSED, mistakes.stream().map(Mistake::toString).toList(), read.file()));
    }

    private Report noted(Report report) {
        latest = report;
        return report;
    }

    private Report report(Result result, List<String> mistakes, PolicyFile read) {
        return new Report(
                result,
                Instant.now(),
                source.name(),
                contents(inForce),
                mistakes,
                check.warnings(source.name(), read).stream()
                        .map(Warning::toString)
                        .toList());
    }

    /** How much a policy holds, in words. */
    public static String contents(PolicyFile policy) {
        return String.join(
                ", ",
                count(policy.policy().members().size(), "member"),
                count(policy.policy().pools().size(), "pool"),
                count(policy.routes().size(), "route"));
    }

    private static String count(int count, String what) {
        return count + " " + what + (count == 1 ? "" : "s");
    }
}
