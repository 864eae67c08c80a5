package io.fairgate.spring.admission;

import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.Decisions.Origin;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusalMeters;
import java.util.regex.Pattern;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ServerWebExchange;

/**
 * Refuses a path that servers read in different ways: with {@code .} or {@code ..}, two slashes in a row, or an encoded
 * slash. A route is chosen by the path as received. If the upstream read it in another way, the client could choose its
 * pool, cost and quotas. Other spellings do no harm: {@code %66ive} is decoded and {@code five;a=b} cut before that.
 */
record AmbiguousPaths(PolicyHolder policy, Decisions decisions, RefusalMeters refusals, boolean mayPass) {

    /** Also within parameters, and before a semicolon, plain or encoded: to some servers {@code ..;x} is {@code ..}. */
    private static final Pattern AMBIGUOUS =
            Pattern.compile("//|\\\\|%2f|%5c|(^|/)(\\.|%2e){1,2}(/|;|%3b|$)", Pattern.CASE_INSENSITIVE);

    private static final Refusal REFUSAL = Refusal.of(
            HttpStatus.BAD_REQUEST,
            "ambiguous-path",
            "The path has an empty segment, a segment of dots, or an encoded slash, which servers read in different ways.");

    /** Throws {@link NotAdmittedException} when the path is ambiguous; in a dry run it only notes that. */
    void requireUnambiguous(ServerWebExchange exchange) {
        if (mayPass
                || !AMBIGUOUS
                        .matcher(exchange.getRequest().getURI().getRawPath())
                        .find()) {
            return;
        }
        boolean enforced = policy.current().enforcement().isOn();
        refusals.refused(null, REFUSAL.reason(), enforced);
        if (enforced) {
            throw new NotAdmittedException(REFUSAL);
        }
        decisions.noteDryRun(Origin.of(exchange), new NotAdmittedException(REFUSAL));
    }
}
