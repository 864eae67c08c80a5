package io.fairgate.spring.policyfile;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.Warning;
import io.fairgate.spring.policy.PolicyHolder;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts the content of the policy file in force: all of it at once, or nothing when it has a mistake. */
public final class PolicyReload {

    private static final Logger log = LoggerFactory.getLogger(PolicyReload.class);

    /** The result of a reload. */
    public enum Result {
        /** The content of the file is in force now, and was not before. */
        CHANGED,
        /** The file says what was already in force. */
        UNCHANGED,
        /** The file has mistakes; the previous policy stays in force. */
        REFUSED
    }

    /**
     * The report on a reload.
     *
     * @param at when the policy file was read
     * @param contents what the policy in force contains
     * @param sha256 of the file that is in force; empty when its policy is in no file
     * @param since when the policy in force was read first
     * @param mistakes empty unless refused
     * @param warnings of the file that was read, as far as it was readable
     */
    public record Report(
            Result result,
            Instant at,
            String file,
            String contents,
            String sha256,
            Instant since,
            List<Mistake> mistakes,
            List<Warning> warnings) {
        public Report {
            mistakes = List.copyOf(mistakes);
            warnings = List.copyOf(warnings);
        }
    }

    private final PolicySource source;
    private final PolicyHolder policy;
    private final LiveRoutes routes;
    private final PolicyCheck check;
    private volatile PolicyFile inForce;
    private Instant since = Instant.now();

    /** The last content that was read, if it was refused. */
    private @Nullable Read refused;

    private volatile Report latest;

    PolicyReload(PolicySource source, PolicyHolder policy, LiveRoutes routes, PolicyCheck check) {
        this.source = source;
        this.policy = policy;
        this.routes = routes;
        this.check = check;
        this.inForce = source.first();
        this.latest = report(Result.CHANGED, List.of(), inForce);
    }

    /** The report on the latest reload; before the first one, on the start of the gateway. */
    public Report latest() {
        return latest;
    }

    /** The text of the file in force, before placeholders were replaced; empty when its policy is in no file. */
    String text() {
        return inForce.text();
    }

    /**
     * Checks another file by putting it in force as {@link #reload} does. Only for gateways that do not serve. Blocks; on any
     * thread, one call at a time.
     */
    public Report check(Path file) {
        PolicySource other = new PolicySource(file.toString(), PolicyFile.NOTHING, file);
        return new PolicyReload(other, policy, routes, check).reload();
    }

    /** Reads the file, and puts it in force if it differs and has no mistake. Blocks; on any thread. */
    public synchronized Report reload() {
        return apply(read());
    }

    /**
     * Reloads after a possible change of the file. The previous reload may have read this content already; if that was
     * refused then, it is neither reported nor counted again.
     */
    public synchronized Report reloadUnlessRefused() {
        Read read = read();
        return read.equals(refused) ? latest : apply(read);
    }

    /**
     * The content of a file.
     *
     * @param mistakes of the file alone; it may have others together with this gateway
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
            policy.confirm();
            inForce = next; // comments may differ
            return report(Result.UNCHANGED, List.of(), next);
        }
        try {
            PolicyRoutes nextRoutes = PolicyRoutes.of(source.name(), next.routes());
            List<Mistake> unknown = check.unknownNames(nextRoutes, next.policy());
            if (!unknown.isEmpty()) {
                policy.refuse();
                return refuse(read, unknown);
            }
            policy.replace(next.policy(), () -> {
                check.routes().require(nextRoutes);
                routes.replace(nextRoutes);
            });
        } catch (InvalidPolicyException invalid) {
            return refuse(read, invalid.mistakes());
        } catch (RuntimeException e) {
            return refuse(read, unforeseen(e));
        }
        inForce = next;
        since = Instant.now();
        Report report = report(Result.CHANGED, List.of(), next);
        log.info("Policy {} is in force now: {}", report.file(), report.contents());
        report.warnings().forEach(warning -> log.warn("{}", warning));
        return report;
    }

    /** A bug, or a route that cannot be built for an unexpected reason. Even then only this file is refused. */
    private List<Mistake> unforeseen(RuntimeException e) {
        log.error("Policy {} could not be put in force", source.name(), e);
        return List.of(new Mistake(
                source.name(), 1, "file", String.valueOf(e.getMessage()), "a policy that can be put in force"));
    }

    private Report refuse(Read read, List<Mistake> mistakes) {
        log.error(
                "Policy {} is refused, the previous one stays in force: {}{}",
                source.name(),
                mistakes.get(0),
                mistakes.size() == 1 ? "" : " (and %d more)".formatted(mistakes.size() - 1));
        refused = read;
        return report(Result.REFUSED, mistakes, read.file());
    }

    private Report report(Result result, List<Mistake> mistakes, PolicyFile read) {
        List<Warning> warnings = check.warnings(source.name(), read);
        latest = new Report(
                result, Instant.now(), source.name(), contents(inForce), inForce.sha256(), since, mistakes, warnings);
        return latest;
    }

    /** The size of a policy, in words. */
    public static String contents(PolicyFile policy) {
        return String.join(
                ", ",
                count(policy.policy().members().size(), "member"),
                count(policy.policy().pools().size(), "pool"),
                count(policy.routes().size(), "route"));
    }

    /** A number with its noun in the singular or the plural. */
    public static String count(int count, String what) {
        return count + " " + what + (count == 1 ? "" : "s");
    }
}
