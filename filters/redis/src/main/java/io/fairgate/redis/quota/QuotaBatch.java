package io.fairgate.redis.quota;

import io.fairgate.redis.quota.QuotaAnswer.Outcome;
import io.fairgate.redis.quota.QuotaAnswer.QuotaLeft;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Calls of one gateway, in the form in which the script takes them.
 *
 * @param gateway a name that no other gateway has
 * @param sequence counts the batches of the gateway from 1
 * @param isRepeated whether all calls but settlements have failed by now: if the batch was not executed before, they are not made
 */
record QuotaBatch(String gateway, long sequence, List<QuotaCall> calls, boolean isRepeated) {

    private static final List<String> NOTHING = List.of("nothing", "0", "0", "0");

    QuotaBatch {
        calls = List.copyOf(calls);
    }

    /**
     * What the script is called with.
     *
     * @param arguments from the second on
     */
    record Encoded(List<String> keys, List<String> arguments) {}

    QuotaBatch repeated() {
        return new QuotaBatch(gateway, sequence, calls, true);
    }

    /** @param now the time of the ledger as far as the gateway knows, for the calendar windows */
    Encoded encoded(Instant now) {
        Map<String, Integer> places = new LinkedHashMap<>();
        places.put(KeyedQuota.PREFIX + "last:" + gateway, 1);
        List<String> arguments = new ArrayList<>();
        arguments.add(Long.toString(sequence));
        for (QuotaCall call : calls) {
            if (isRepeated && !call.what.isSettlement()) {
                arguments.addAll(NOTHING);
            } else {
                encode(call, now, places, arguments);
            }
        }
        return new Encoded(List.copyOf(places.keySet()), arguments);
    }

    private static void encode(QuotaCall call, Instant now, Map<String, Integer> places, List<String> arguments) {
        List<KeyedQuota> quotas = call.keyed.inOrder;
        List<String> each = new ArrayList<>();
        int count = 0;
        for (int i = 0; i < quotas.size(); i++) {
            String mark = call.mark(i);
            if (!call.what.isSettlement() || !mark.isEmpty()) {
                String key = quotas.get(i).key;
                Integer known = places.putIfAbsent(key, places.size() + 1);
                each.add(Integer.toString(known == null ? places.size() : known));
                each.addAll(List.of(quotas.get(i).numbers(now)));
                each.add(mark);
                count++;
            }
        }
        arguments.add(call.what.name().toLowerCase(Locale.ROOT));
        arguments.add(Long.toString(call.amount));
        boolean isPrepayment = call.what == QuotaCall.What.PREPAY;
        arguments.add(Long.toString(isPrepayment ? call.least() : call.keyed.enforced));
        arguments.add(Integer.toString(count));
        arguments.addAll(each);
    }

    /** @param answer of the script, with integers as {@code Long}, and text as {@code String} */
    static QuotaAnswers answers(List<Object> answer) {
        List<QuotaAnswer> each = new ArrayList<>();
        int at = 1;
        while (at < answer.size()) {
            Outcome outcome = Outcome.valueOf((String) answer.get(at));
            long charged = (Long) answer.get(at + 1);
            long count = (Long) answer.get(at + 2);
            at += 3;
            List<QuotaLeft> left = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                left.add(new QuotaLeft(
                        (Long) answer.get(at), (Long) answer.get(at + 1), (Long) answer.get(at + 2), (String)
                                answer.get(at + 3)));
                at += 4;
            }
            each.add(new QuotaAnswer(outcome, charged, left));
        }
        return new QuotaAnswers((Long) answer.get(0), each);
    }
}
