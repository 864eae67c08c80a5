package io.fairgate.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaDecision.Balance;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.http.HttpHeaders;

class RateLimitFieldsTest {

    private static final Quota.Rate BURST = new Quota.Rate("burst", 20, Duration.ofSeconds(1), 40);
    private static final Quota DAILY = new Quota.Calendar("daily", 10_000, CalendarUnit.DAY, ZoneOffset.UTC);

    private static HttpHeaders fields(Balance... balances) {
        HttpHeaders headers = new HttpHeaders();
        RateLimitFields.add(headers, List.of(balances));
        return headers;
    }

    private static Balance balance(Quota quota, long remaining, Duration untilFull) {
        return new Balance(quota, remaining, untilFull, Duration.ZERO);
    }

    @Test
    void several_quotas_are_one_list_in_their_order() {
        HttpHeaders headers =
                fields(balance(BURST, 12, Duration.ofMillis(400)), balance(DAILY, 9_999, Duration.ofHours(1)));
        assertThat(headers.get("RateLimit-Policy")).containsExactly("\"burst\";q=20;w=1, \"daily\";q=10000;w=86400");
        assertThat(headers.get("RateLimit")).containsExactly("\"burst\";r=12;t=1, \"daily\";r=9999;t=3600");
    }

    @ParameterizedTest
    @CsvSource({
        "PT0S, 0",
        "PT0.000000001S, 1",
        "PT0.4S, 1",
        "PT1S, 1",
        "PT1.000000001S, 2",
        "PT59.999S, 60",
        "P366D, 31622400"
    })
    void time_is_rounded_up(Duration time, long seconds) {
        assertThat(RateLimitFields.secondsUp(time)).isEqualTo(seconds);
        assertThat(fields(balance(BURST, 0, time)).getFirst("RateLimit")).isEqualTo("\"burst\";r=0;t=" + seconds);
    }

    @Test
    void a_window_below_a_second_is_told_as_one_second_and_others_are_rounded_up() {
        Quota fast = new Quota.Rate("fast", 5, Duration.ofMillis(100), 5);
        Quota odd = new Quota.Rate("odd", 5, Duration.ofMillis(1500), 5);
        assertThat(fields(balance(fast, 5, Duration.ZERO), balance(odd, 5, Duration.ZERO))
                        .getFirst("RateLimit-Policy"))
                .isEqualTo("\"fast\";q=5;w=1, \"odd\";q=5;w=2");
    }

    @Test
    void a_month_is_told_as_the_longest_one() {
        Quota monthly = new Quota.Calendar("monthly", 7, CalendarUnit.MONTH, ZoneId.of("Europe/Berlin"));
        assertThat(fields(balance(monthly, 7, Duration.ZERO)).getFirst("RateLimit-Policy"))
                .isEqualTo("\"monthly\";q=7;w=2678400");
    }

    @Test
    void fields_that_are_there_already_stay() {
        HttpHeaders headers = new HttpHeaders();
        headers.add("RateLimit", "\"theirs\";r=1");
        RateLimitFields.add(headers, List.of(balance(BURST, 1, Duration.ZERO)));
        assertThat(headers.get("RateLimit")).containsExactly("\"theirs\";r=1", "\"burst\";r=1;t=0");
    }
}
