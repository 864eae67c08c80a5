package io.fairgate.spring.refusal;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.http.HttpStatus;
import tools.jackson.databind.json.JsonMapper;

/**
 * The body of an answer of type {@code application/problem+json} (RFC 9457). Only the id of the decision differs between
 * two refusals of a kind, so the rest is written once: a gateway that refuses much must not spend much on each refusal.
 */
final class ProblemJson {

    /** More than a policy has kinds. The names of pools and quotas can change with each policy, so there is a bound. */
    private static final int MOST_KINDS = 1000;

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String END = "\"}";

    /** All but the id and {@link #END}. */
    private static final Map<Kind, byte[]> BEGINNINGS = new ConcurrentHashMap<>();

    private record Kind(HttpStatus status, String reason, String detail, List<String> violated) {}

    private ProblemJson() {}

    /** @param decision the id under which an operator finds the decision, which needs no escapes */
    static byte[] of(Refusal refusal, String decision) {
        byte[] beginning = beginningOf(refusal);
        byte[] body = Arrays.copyOf(beginning, beginning.length + decision.length() + END.length());
        write(decision, body, beginning.length);
        write(END, body, beginning.length + decision.length());
        return body;
    }

    @SuppressWarnings("deprecation") // The one way to write characters of one byte without another array.
    private static void write(String text, byte[] to, int at) {
        text.getBytes(0, text.length(), to, at);
    }

    private static byte[] beginningOf(Refusal refusal) {
        Kind kind = new Kind(refusal.status(), refusal.reason(), refusal.detail(), refusal.violated());
        byte[] beginning = BEGINNINGS.get(kind);
        if (beginning == null) {
            beginning = beginning(refusal);
            if (BEGINNINGS.size() >= MOST_KINDS) {
                BEGINNINGS.clear();
            }
            BEGINNINGS.put(kind, beginning);
        }
        return beginning;
    }

    private static byte[] beginning(Refusal refusal) {
        Map<String, Object> problem = new LinkedHashMap<>();
        problem.put("type", refusal.type());
        problem.put("title", refusal.status().getReasonPhrase());
        problem.put("status", refusal.status().value());
        problem.put("detail", refusal.detail());
        problem.put("reason", refusal.reason());
        if (!refusal.violated().isEmpty()) {
            problem.put("violated-policies", refusal.violated());
        }
        problem.put("decision", "");
        byte[] whole = JSON.writeValueAsBytes(problem);
        return Arrays.copyOf(whole, whole.length - END.length());
    }
}
