package io.fairgate.spring.admission;

import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusalMeters;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ServerWebExchange;

/**
 * Refuses a path that servers read in different ways: with {@code .} or {@code ..}, two slashes in a row, or an encoded
 * slash. A route is chosen by the path as received. If the upstream read it in another way, the client could choose its
 * pool, cost and quotas. Other spellings do no harm: {@code %66ive} is decoded and {@code five;a=b} cut before that.
 */
record AmbiguousPaths(PolicyHolder policy, Decisions decisions, RefusalMeters refusals, boolean mayPass) {

    private static final Refusal REFUSAL = Refusal.of(
            HttpStatus.BAD_REQUEST,
            "ambiguous-path",
            "The path has an empty segment, a segment of dots, or an encoded slash, which servers read in different ways.");

    /** Throws {@link NotAdmittedException} when the path is ambiguous; in a dry run it only notes that. */
    void requireUnambiguous(ServerWebExchange exchange) {
        if (mayPass || !isAmbiguous(exchange.getRequest().getURI().getRawPath())) {
            return;
        }
        boolean enforced = policy.current().enforcement().isOn();
        refusals.refused(null, REFUSAL.reason(), enforced);
        if (enforced) {
            throw new NotAdmittedException(REFUSAL);
        }
        decisions.noteDryRun(decisions.origin(exchange), new NotAdmittedException(REFUSAL));
    }

    /**
     * Whether servers read the path in different ways. Character by character, without a regular expression, because this
     * runs for each request.
     */
    static boolean isAmbiguous(String path) {
        if (isDots(path, 0)) {
            return true;
        }
        for (int i = 0; i < path.length(); i++) {
            boolean ambiguous = switch (path.charAt(i)) {
                case '/' -> path.startsWith("/", i + 1) || isDots(path, i + 1);
                case '%' -> isCode(path, i, "%2f") || isCode(path, i, "%5c");
                case '\\' -> true;
                default -> false;
            };
            if (ambiguous) {
                return true;
            }
        }
        return false;
    }

    /** Whether a segment that begins here is {@code .} or {@code ..}, plain or encoded. */
    private static boolean isDots(String path, int from) {
        int afterOne = afterDot(path, from);
        return afterOne > from
                && (isEnd(path, afterOne)
                        || (afterDot(path, afterOne) > afterOne && isEnd(path, afterDot(path, afterOne))));
    }

    private static int afterDot(String path, int at) {
        if (path.startsWith(".", at)) {
            return at + 1;
        }
        return isCode(path, at, "%2e") ? at + 3 : at;
    }

    /** Also within parameters, and before a semicolon, plain or encoded: to some servers {@code ..;x} is {@code ..}. */
    private static boolean isEnd(String path, int at) {
        return at == path.length() || path.charAt(at) == '/' || path.charAt(at) == ';' || isCode(path, at, "%3b");
    }

    private static boolean isCode(String path, int at, String code) {
        return path.regionMatches(true, at, code, 0, code.length());
    }
}
