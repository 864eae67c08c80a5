package io.fairgate.spring.admission;

import io.fairgate.spring.policy.LivePolicy;
import io.fairgate.spring.refusal.RefusalMeters;
import io.fairgate.spring.refusal.Decisions;

import io.fairgate.spring.refusal.Decisions.Origin;
import java.util.regex.Pattern;
import org.springframework.web.server.ServerWebExchange;

/**
 * Refuses a path that servers read in different ways: with {@code .} or {@code ..}, with two slashes in a row, or with an
 * encoded slash. A route is chosen by the path as it came; with another reading than the upstream's, whoever writes the
 * path would choose which pool, cost and quotas it meets.
 *
 * <p>What else can be written in two ways does no harm: {@code %66ive} is decoded and {@code five;a=b} is stripped before a
 * route is chosen.
 */
final class AmbiguousPaths {

    /** Also within parameters and after an encoded semicolon, because to some servers {@code ..;x} is {@code ..}. */
    private static final Pattern AMBIGUOUS =
            Pattern.compile("//|\\\\|%2f|%5c|(^|/)(\\.|%2e){1,2}(/|;|%3b|$)", Pattern.CASE_INSENSITIVE);

    private final LivePolicy policy;
    private final Decisions decisions;
    private final RefusalMeters refusals;
    private final boolean mayPass;

    AmbiguousPaths(LivePolicy policy, Decisions decisions, RefusalMeters refusals, boolean mayPass) {
        this.policy = policy;
        this.decisions = decisions;
        this.refusals = refusals;
        this.mayPass = mayPass;
    }

    /** Throws {@link AmbiguousPathException} when the path of the request is ambiguous; in a dry run that is noted. */
    void requireUnambiguous(ServerWebExchange exchange) {
        if (mayPass || !isAmbiguous(exchange.getRequest().getURI().getRawPath())) {
            return;
        }
        boolean enforced = policy.current().enforcement().isOn();
        refusals.refused(null, AmbiguousPathException.REASON, enforced);
        if (enforced) {
            throw new AmbiguousPathException();
        }
        decisions.noteDryRun(Origin.of(exchange), new AmbiguousPathException());
    }

    static boolean isAmbiguous(String rawPath) {
        return AMBIGUOUS.matcher(rawPath).find();
    }
}
