package io.fairgate.spring.refusal;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.policy.QuotaTerms.HeaderStyle;
import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.http.HttpHeaders;

class RateLimitFieldsTest {

    private static final QuotaOwner ACME = QuotaOwner.tenant(TenantId.of("acme"));
    private static final Quota.Rate BURST = new Quota.Rate("burst", 20, Duration.ofSeconds(1), 20);
    private static final Quota DAILY = new Quota.Calendar("daily", 10_000, CalendarUnit.DAY, ZoneOffset.UTC);

    private static HttpHeaders fields(Balance... balances) {
        return add(new HttpHeaders(), HeaderStyle.DRAFT, balances);
    }

    private static HttpHeaders add(HttpHeaders headers, HeaderStyle style, Balance... balances) {
        RateLimitFields.add(headers, List.of(balances), style);
        return headers;
    }

    private static Balance balance(Quota quota, long remaining, Duration untilFull) {
        return new Balance(new OwnedQuota(ACME, quota, true), remaining, untilFull, Duration.ZERO);
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
    void windows_are_rounded_up_to_whole_seconds() {
        Quota fast = new Quota.Rate("fast", 5, Duration.ofMillis(100), 5);
        Quota odd = new Quota.Rate("odd", 5, Duration.ofMillis(1500), 5);
        assertThat(fields(balance(fast, 5, Duration.ZERO), balance(odd, 5, Duration.ZERO))
                        .getFirst("RateLimit-Policy"))
                .isEqualTo("\"fast\";q=5;w=1, \"odd\";q=5;w=2");
    }

    @ParameterizedTest
    @CsvSource({
        "20, PT1S, 20, 20, 1",
        "20, PT1S, 40, 40, 2",
        "20, PT1S, 41, 41, 3",
        "20, PT0.1S, 21, 21, 1",
        "3, PT1.5S, 4, 4, 2",
        "1000000000000, P366D, 1000000000000, 1000000000000, 31622400",
        "1, P366D, 1000000, 1000000, 31622400000000",
        // With a burst below the limit of the window, the limit is stated, and the remaining units are always fewer.
        "20, PT1S, 5, 20, 1",
    })
    void a_rate_with_a_larger_burst_states_the_time_that_refills_it(
            long limit, Duration per, long burst, long most, long window) {
        HttpHeaders headers = fields(balance(new Quota.Rate("rate", limit, per, burst), burst, Duration.ZERO));
        assertThat(headers.getFirst("RateLimit-Policy")).isEqualTo("\"rate\";q=" + most + ";w=" + window);
        assertThat(headers.getFirst("RateLimit")).isEqualTo("\"rate\";r=" + burst + ";t=0");
    }

    @Test
    void a_window_of_more_than_fifteen_digits_is_omitted() {
        Quota endless = new Quota.Rate("rate", 1, Duration.ofDays(366), Quota.MAX_LIMIT);
        assertThat(fields(balance(endless, 1, Duration.ZERO)).getFirst("RateLimit-Policy"))
                .isEqualTo("\"rate\";q=1000000000000");
    }

    @Test
    void the_legacy_remaining_is_never_above_the_legacy_limit() {
        Quota rate = new Quota.Rate("rate", 20, Duration.ofSeconds(1), 40);
        HttpHeaders headers = add(new HttpHeaders(), HeaderStyle.LEGACY, balance(rate, 40, Duration.ZERO));
        assertThat(headers.getFirst("X-RateLimit-Limit")).isEqualTo("40");
        assertThat(headers.getFirst("X-RateLimit-Remaining")).isEqualTo("40");
    }

    @Test
    void a_month_is_stated_as_the_longest_month() {
        Quota monthly = new Quota.Calendar("monthly", 7, CalendarUnit.MONTH, ZoneId.of("Europe/Berlin"));
        assertThat(fields(balance(monthly, 7, Duration.ZERO)).getFirst("RateLimit-Policy"))
                .isEqualTo("\"monthly\";q=7;w=2678400");
    }

    @Test
    void existing_fields_stay() {
        HttpHeaders headers = new HttpHeaders();
        headers.add("RateLimit", "\"theirs\";r=1");
        add(headers, HeaderStyle.DRAFT, balance(BURST, 1, Duration.ZERO));
        assertThat(headers.get("RateLimit")).containsExactly("\"theirs\";r=1", "\"burst\";r=1;t=0");
    }

    @Test
    void an_item_of_the_upstream_keeps_its_name_and_ours_gets_another() {
        HttpHeaders headers = new HttpHeaders();
        headers.add("RateLimit-Policy", "\"daily\";q=5;w=60, \"burst\";q=1");
        Balance ofTheGroup = new Balance(
                new OwnedQuota(QuotaOwner.group("corp"), BURST, true), 3, Duration.ofSeconds(9), Duration.ZERO);
        add(headers, HeaderStyle.DRAFT, balance(BURST, 1, Duration.ZERO), ofTheGroup);
        assertThat(headers.get("RateLimit-Policy"))
                .containsExactly(
                        "\"daily\";q=5;w=60, \"burst\";q=1", "\"fairgate/burst\";q=20;w=1, \"corp/burst\";q=20;w=1");
        assertThat(headers.get("RateLimit")).containsExactly("\"fairgate/burst\";r=1;t=0, \"corp/burst\";r=3;t=9");
    }

    @Test
    void every_window_is_stated_in_seconds_and_a_total_has_none() {
        Quota hourly = new Quota.Calendar("h", 1, CalendarUnit.HOUR, ZoneOffset.UTC);
        Quota weekly = new Quota.Calendar("w", 2, CalendarUnit.WEEK, ZoneOffset.UTC);
        Quota sliding = new Quota.Sliding("s", 3, Duration.ofMillis(2500));
        Quota total = new Quota.Total("t", 4);
        HttpHeaders headers = fields(
                balance(hourly, 1, Duration.ZERO),
                balance(weekly, 1, Duration.ZERO),
                balance(sliding, 1, Duration.ZERO),
                balance(total, 1, Balance.NEVER));
        assertThat(headers.getFirst("RateLimit-Policy"))
                .isEqualTo("\"h\";q=1;w=3600, \"w\";q=2;w=604800, \"s\";q=3;w=3, \"t\";q=4");
        assertThat(headers.getFirst("RateLimit")).endsWith("\"t\";r=1");
    }

    @Test
    void the_legacy_fields_describe_the_quota_with_the_least_left() {
        HttpHeaders headers = add(
                new HttpHeaders(),
                HeaderStyle.LEGACY,
                balance(BURST, 12, Duration.ofMillis(400)),
                balance(DAILY, 7, Duration.ofHours(1)));
        assertThat(headers.getFirst("X-RateLimit-Limit")).isEqualTo("10000");
        assertThat(headers.getFirst("X-RateLimit-Remaining")).isEqualTo("7");
        assertThat(headers.getFirst("X-RateLimit-Reset")).isEqualTo("3600");
        assertThat(headers.headerNames()).hasSize(3);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "6 | 6 | 99 | 50",
                "7 | 7 | 99 | 50",
                "8 | 7 | 10000 | 3600",
                "many | many | 99 | 50",
                "6;w=60 | 6;w=60 | 99 | 50",
                "8;w=60 | 7 | 10000 | 3600",
                "9, 6 | 9, 6 | 99 | 50",
                "9, 8 | 7 | 10000 | 3600",
                "-1 | -1 | 99 | 50"
            })
    void the_stricter_of_the_upstreams_and_our_legacy_fields_is_sent(
            String theirs, String remaining, String limit, String reset) {
        HttpHeaders headers = new HttpHeaders();
        headers.set("X-RateLimit-Limit", "99");
        headers.set("X-RateLimit-Remaining", theirs);
        headers.set("X-RateLimit-Reset", "50");
        add(headers, HeaderStyle.LEGACY, balance(DAILY, 7, Duration.ofHours(1)));
        assertThat(headers.get("X-RateLimit-Limit")).containsExactly(limit);
        assertThat(headers.get("X-RateLimit-Remaining")).containsExactly(remaining);
        assertThat(headers.get("X-RateLimit-Reset")).containsExactly(reset);
    }

    @Test
    void no_fields_are_sent_if_switched_off_or_without_an_enforced_quota() {
        assertThat(add(new HttpHeaders(), HeaderStyle.NONE, balance(DAILY, 7, Duration.ZERO))
                        .headerNames())
                .isEmpty();
        assertThat(fields().headerNames()).isEmpty();
    }

    @Test
    void digits_are_ascii_in_every_locale() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG"));
        try {
            HttpHeaders headers = fields(balance(BURST, 12, Duration.ofSeconds(1)));
            assertThat(headers.getFirst("RateLimit-Policy")).isEqualTo("\"burst\";q=20;w=1");
            assertThat(headers.getFirst("RateLimit")).isEqualTo("\"burst\";r=12;t=1");
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void an_overlong_field_of_the_upstream_is_left_unchanged() {
        HttpHeaders headers = new HttpHeaders();
        headers.add("RateLimit-Policy", "\"" + "a".repeat(7000) + "\";q=1");
        add(headers, HeaderStyle.DRAFT, balance(BURST, 12, Duration.ofSeconds(1)));
        assertThat(headers.get("RateLimit-Policy")).hasSize(2);
    }
}
