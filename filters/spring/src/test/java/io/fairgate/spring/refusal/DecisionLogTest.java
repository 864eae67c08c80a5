package io.fairgate.spring.refusal;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.refusal.DecisionLog.Decision;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which of the latest refusals are kept, and which are dropped first. */
class DecisionLogTest {

    private final DecisionLog log = new DecisionLog();
    private int count;

    private String add(@Nullable String tenant, String path) {
        String id = "d" + count++;
        log.add(new Decision(
                id,
                Instant.ofEpochSecond(count),
                429,
                "quota",
                tenant,
                null,
                null,
                "unknown",
                null,
                null,
                null,
                null,
                0,
                0,
                "GET",
                path,
                null,
                null,
                null,
                null,
                List.of(),
                true));
        return id;
    }

    @Test
    void the_newest_refusals_come_first_and_each_is_found_by_its_id() {
        String first = add("a", "/first");
        String second = add(null, "/second");
        assertThat(log.latest(10)).extracting(Decision::id).containsExactly(second, first);
        assertThat(log.latest(1)).extracting(Decision::id).containsExactly(second);
        assertThat(Objects.requireNonNull(log.get(first)).path()).isEqualTo("/first");
        assertThat(log.get("nothing")).isNull();
    }

    @Test
    void a_tenant_that_is_refused_all_the_time_does_not_push_out_the_others() {
        String quiet = add("quiet", "/");
        String unidentified = add(null, "/");
        String firstOfNoisy = add("noisy", "/");
        for (int i = 0; i < 10_000; i++) {
            add("noisy", "/");
        }
        assertThat(log.get(quiet)).isNotNull();
        assertThat(log.get(unidentified)).isNotNull();
        assertThat(log.get(firstOfNoisy)).isNull();
        assertThat(log.latest(100_000)).hasSize(4096);
    }

    @Test
    void a_new_refusal_replaces_the_oldest_of_the_tenant_with_the_most() {
        String oldest = add("noisy", "/");
        for (int i = 1; i < 4096; i++) {
            add("noisy", "/");
        }
        String newcomer = add("quiet", "/");
        assertThat(log.get(oldest)).isNull();
        assertThat(log.get(newcomer)).isNotNull();
        assertThat(log.latest(100_000)).hasSize(4096);
    }

    @Test
    void a_new_refusal_is_kept_also_while_more_tenants_are_refused_than_the_log_has_room_for() {
        String oldest = add("t0", "/");
        for (int i = 1; i < 20_000; i++) {
            String newest = add("t" + i, "/");
            assertThat(log.get(newest)).as("the decision about t%d", i).isNotNull();
        }
        assertThat(log.get(oldest)).isNull();
        assertThat(log.latest(100_000)).hasSize(4096);
        assertThat(log.latest(4096)).last().extracting(Decision::tenant).isEqualTo("t" + (20_000 - 4096));
    }

    @Test
    void the_tenant_with_the_most_refusals_changes_as_refusals_are_dropped() {
        addMany("a", 2000);
        addMany("b", 1500);
        addMany("c", 596);
        addMany("d", 1000);
        assertThat(countOf("a")).isEqualTo(1250);
        assertThat(countOf("b")).isEqualTo(1250);
        assertThat(countOf("c")).isEqualTo(596);
        assertThat(countOf("d")).isEqualTo(1000);
        log.drop(Predicate.isEqual("a"), Instant.MAX);
        addMany("d", 2000);
        assertThat(countOf("a")).isZero();
        assertThat(countOf("b")).isEqualTo(1250);
        assertThat(countOf("c")).isEqualTo(596);
        assertThat(countOf("d")).isEqualTo(4096 - 1250 - 596);
    }

    private void addMany(String tenant, int times) {
        for (int i = 0; i < times; i++) {
            add(tenant, "/");
        }
    }

    private long countOf(String tenant) {
        return log.latest(4096).stream()
                .filter(decision -> tenant.equals(decision.tenant()))
                .count();
    }

    @Test
    void only_the_decisions_about_the_dropped_tenants_from_before_the_time_are_dropped() {
        String old = add("gone", "/");
        String unidentified = add(null, "/");
        String other = add("stays", "/");
        Instant before = Instant.ofEpochSecond(count + 1);
        String late = add("gone", "/");
        log.drop("gone"::equals, before);
        assertThat(log.get(old)).isNull();
        assertThat(log.latest(10)).extracting(Decision::id).containsExactly(late, other, unidentified);
    }

    @Test
    void an_id_has_sixteen_lower_case_hexadecimal_digits() {
        assertThat(DecisionLog.newId()).matches("[0-9a-f]{16}").isNotEqualTo(DecisionLog.newId());
    }

    @Test
    void a_path_of_any_length_is_kept_short() {
        String id = add("a", "/" + "x".repeat(100_000));
        assertThat(Objects.requireNonNull(log.get(id)).path()).hasSizeLessThan(250);
    }
}
