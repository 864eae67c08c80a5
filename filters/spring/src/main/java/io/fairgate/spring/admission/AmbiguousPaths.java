package io.fairgate.spring.admission;

import io.fairgate.spring.policy.LivePolicy;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.Decisions.Origin;
import io.fairgate.spring.refusal.RefusalMeters;
import java.util.regex.Pattern;
import org.springframework.web.server.ServerWebExchange;

/**
 * Refuses a path that servers read in different ways: with {@code .} or {@code ..}, with two slashes in a row, or with
 * an encoded slash. A route is chosen by the path as received. If the upstream read the path in another way, the client
 * could choose the pool, the cost and the quotas that apply to its request.
 *
 * <p>Other differences in spelling do no harm: {@code %66ive} is decoded and {@code five;a=b} loses its parameter
 * before a route is chosen.
 */
final class AmbiguousPaths {

    /**
     * Matches within parameters too, and dots before a plain or encoded semicolon, because to some servers {@code ..;x}
     * is {@code ..}.
     */
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

    /**
     * Throws {@link AmbiguousPathException} when the path of the request is ambiguous; in a dry run it only notes that.
     */
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
