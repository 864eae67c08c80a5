package io.fairgate.spring.refusal;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatus;

/** The body of a refusal, of which most is written once for each kind. */
class ProblemJsonTest {

    private static final String QUOTA = """
            {"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too Many Requests",\
            "status":429,"detail":"The tenant's quota is used up.","reason":"quota",%s"decision":"%s"}""";

    private static String body(String decision, String... violated) {
        Refusal refusal = new Refusal(
                HttpStatus.TOO_MANY_REQUESTS,
                "quota",
                "The tenant's quota is used up.",
                List.of(violated),
                null,
                Refusal.NO_FIELDS);
        return new String(ProblemJson.of(refusal, decision), StandardCharsets.UTF_8);
    }

    @Test
    void each_refusal_has_its_own_decision() {
        assertThat(body("0123456789abcdef")).isEqualTo(QUOTA.formatted("", "0123456789abcdef"));
        assertThat(body("fedcba9876543210")).isEqualTo(QUOTA.formatted("", "fedcba9876543210"));
    }

    @Test
    void a_refusal_names_its_own_violated_policies() {
        assertThat(body("1", "burst")).isEqualTo(QUOTA.formatted("\"violated-policies\":[\"burst\"],", "1"));
        assertThat(body("2", "burst", "größe \"x\""))
                .isEqualTo(QUOTA.formatted("\"violated-policies\":[\"burst\",\"größe \\\"x\\\"\"],", "2"));
        assertThat(body("3")).isEqualTo(QUOTA.formatted("", "3"));
    }

    @Test
    void refusals_of_any_number_of_kinds_are_right() {
        for (int i = 0; i < 5000; i++) {
            assertThat(body("d" + i, "p" + i))
                    .isEqualTo(QUOTA.formatted("\"violated-policies\":[\"p%d\"],".formatted(i), "d" + i));
        }
    }

    @Test
    void statuses_with_the_same_reason_have_bodies_of_their_own() {
        for (HttpStatus status :
                List.of(HttpStatus.UNAUTHORIZED, HttpStatus.FORBIDDEN, HttpStatus.SERVICE_UNAVAILABLE)) {
            assertThat(new String(ProblemJson.of(Refusal.of(status, "r", "d"), "1"), StandardCharsets.UTF_8))
                    .contains("\"status\":" + status.value() + ",", "\"title\":\"" + status.getReasonPhrase() + "\"");
        }
    }
}
