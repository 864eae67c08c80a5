package io.fairgate.spring.whatif;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.policy.Policy;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.replay.ClientKind;
import io.fairgate.replay.Recording.Recorded;
import io.fairgate.replay.TenantUse;
import io.fairgate.replay.Visit;
import io.fairgate.replay.Visit.Outcome;
import io.fairgate.replay.WhatIf.Comparison;
import io.fairgate.shares.ShareSettings;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is said of a prediction that may be wrong, and which tenants are shown. */
class PredictionNotesTest {

    private static final Recorded TEN_SECONDS = recorded(1);

    private static Recorded recorded(int held) {
        long second = 1_000_000_000;
        Visit visit = new Visit(TenantId.of("t0"), null, 1, 0, 0, held * second, Outcome.SERVED, null);
        return new Recorded(0, 10 * second, List.of(visit));
    }

    private static TenantUse use(double permitSeconds, int waitSeconds) {
        Duration wait = Duration.ofSeconds(waitSeconds);
        return new TenantUse(1, 1, 0, 0, Map.of(), permitSeconds, wait, wait);
    }

    private static Comparison comparison(int number, ClientKind clients, double recorded, double again, int longer) {
        return new Comparison(
                TenantId.of("t" + number), clients, use(recorded, 1), use(again, 1), use(again, 1 + longer), null);
    }

    /** With the members t0, t1, and so on. */
    private static Policy policy(int members) {
        Map<TenantId, TenantPolicy> all = new HashMap<>();
        for (int i = 0; i < members; i++) {
            TenantId id = TenantId.of("t" + i);
            all.put(id, new TenantPolicy(id, "plan", ShareSettings.EQUAL, List.of()));
        }
        return new Policy(List.of(), all, null, Map.of());
    }

    private static List<String> notes(Recorded recorded, Comparison... all) {
        return PredictionNotes.of(recorded, List.of(all), policy(2));
    }

    @Test
    void nothing_is_said_of_a_replay_that_agrees_with_the_recording() {
        assertThat(notes(TEN_SECONDS, comparison(0, ClientKind.WAIT_FOR_ANSWERS, 10, 10.2, 0)))
                .isEmpty();
    }

    @Test
    void a_replay_that_differs_by_more_than_a_twentieth_of_all_is_not_to_be_trusted() {
        assertThat(notes(
                        TEN_SECONDS,
                        comparison(0, ClientKind.WAIT_FOR_ANSWERS, 10, 13, 0),
                        comparison(1, ClientKind.COME_ANYWAY, 10, 10, 0)))
                .singleElement()
                .asString()
                .startsWith("t0: the replay under the policy in force differs");
    }

    @Test
    void unclear_clients_and_tenants_that_the_candidate_does_not_know_are_named() {
        Comparison[] all = new Comparison[8];
        for (int i = 0; i < all.length; i++) {
            all[i] = comparison(i, i == 0 ? ClientKind.UNCLEAR : ClientKind.COME_ANYWAY, 1, 1, 0);
        }
        assertThat(notes(TEN_SECONDS, all))
                .hasSize(2)
                .anyMatch(note -> note.startsWith("t2, t3, t4, t5, t6 and 1 more: no member of the candidate"))
                .anyMatch(note -> note.startsWith("t0: the recording does not tell"));
    }

    @Test
    void a_recording_that_is_short_beside_its_holds_is_named() {
        assertThat(notes(recorded(3), comparison(0, ClientKind.COME_ANYWAY, 1, 1, 0)))
                .containsExactly(
                        "The recording has 10.0 s, and a request waited and held permits for 3.0 s: the prediction is rough");
    }

    @Test
    void of_many_tenants_those_that_use_most_are_shown_and_those_whose_waits_grow_most() {
        List<Comparison> all = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            all.add(comparison(i, ClientKind.COME_ANYWAY, i, i, i == 7 ? 60 : i == 8 ? 30 : 0));
        }
        List<String> shown = Predictions.mostRelevant(all).stream()
                .map(one -> one.tenant().value())
                .toList();
        assertThat(shown).hasSize(Predictions.TENANTS).contains("t299", "t250", "t7", "t8");
        assertThat(shown.get(0)).isEqualTo("t299");
    }
}
