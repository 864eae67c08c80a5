package io.fairgate.redis.quota;

import java.util.List;

/**
 * The answers to the calls of one batch.
 *
 * @param micros the time of the ledger, since 1970
 * @param each in the order of the calls
 */
record QuotaAnswers(long micros, List<QuotaAnswer> each) {

    QuotaAnswers {
        each = List.copyOf(each);
    }
}
