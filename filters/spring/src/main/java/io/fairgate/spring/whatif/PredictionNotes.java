package io.fairgate.spring.whatif;

import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaRule;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.replay.ClientKind;
import io.fairgate.replay.Recording.Recorded;
import io.fairgate.replay.Visit;
import io.fairgate.replay.WhatIf.Comparison;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Why a prediction may be wrong, or does not say everything. */
final class PredictionNotes {

    /** Names of tenants in one note. */
    private static final int NAMES = 5;
    /** A recording that is not this many times as long as holds and waits has only a part of them. */
    private static final int LONG_ENOUGH = 5;
    /** In parts of the permits: a smaller difference between a replay and what was recorded is no warning. */
    private static final double DIFFERENCE = 0.05;

    private PredictionNotes() {}

    /** What the candidate changes that is not replayed. */
    static List<String> of(Policy current, Policy candidate) {
        List<String> notes = new ArrayList<>();
        if (!current.quotaTerms().ofGroups().equals(candidate.quotaTerms().ofGroups())
                || !quotas(current).equals(quotas(candidate))) {
            notes.add("The candidate has other quotas; these are not replayed");
        }
        if (!current.identification().equals(candidate.identification())) {
            notes.add("The candidate identifies tenants in another way; this is not replayed");
        }
        return notes;
    }

    private static Map<String, List<QuotaRule>> quotas(Policy policy) {
        return policy.tenants().stream()
                .collect(Collectors.toMap(tenant -> tenant.id().value(), TenantPolicy::quotas));
    }

    /** What is to be known of the prediction for one pool. */
    static List<String> of(Recorded recorded, List<Comparison> all, Policy candidate) {
        List<String> notes = new ArrayList<>();
        addNames(
                notes,
                "%s: no member of the candidate, whose requests would be refused; they are replayed with weight 1",
                all.stream().filter(one -> candidate.tenant(one.tenant()) == null));
        addNames(
                notes,
                "%s: the recording does not tell whether clients wait for answers; what happens is between both rows",
                all.stream().filter(one -> one.clients() == ClientKind.UNCLEAR));
        double seconds = (recorded.to() - recorded.from()) / 1e9;
        double permits =
                all.stream().mapToDouble(one -> one.recorded().permitSeconds()).sum() / Math.max(1e-3, seconds);
        addNames(
                notes,
                "%s: the replay under the policy in force differs from what was recorded; do not trust the candidate",
                all.stream()
                        .filter(one -> Math.abs(one.inForce().permitSeconds()
                                        - one.recorded().permitSeconds())
                                > DIFFERENCE * permits * seconds));
        double longest = recorded.visits().stream()
                        .mapToLong(PredictionNotes::length)
                        .max()
                        .orElse(0)
                / 1e9;
        if (seconds < LONG_ENOUGH * longest) {
            notes.add(String.format(
                    Locale.ROOT,
                    "The recording has %.1f s, and a request waited and held permits for %.1f s: the prediction is rough",
                    seconds,
                    longest));
        }
        return notes;
    }

    private static long length(Visit visit) {
        return visit.waited() + visit.held();
    }

    private static void addNames(List<String> notes, String note, Stream<Comparison> which) {
        List<String> names = which.map(one -> one.tenant().value()).sorted().toList();
        if (!names.isEmpty()) {
            String shown = String.join(", ", names.subList(0, Math.min(NAMES, names.size())));
            int more = names.size() - NAMES;
            notes.add(note.formatted(more > 0 ? shown + " and %d more".formatted(more) : shown));
        }
    }
}
